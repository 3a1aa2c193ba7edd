"""Spanish."""

from studio.locales.locale import Locale

TEXT: dict[str, str] = {
    # start
    "start.ready": "Sonic Studio está listo: {address}  (se detiene con Ctrl-C)",
    "start.finishing": "Primero se termina el vídeo en curso, durante {seconds} s como máximo; una segunda señal detiene todo al instante.",
    "start.stopped": "Sonic Studio se ha detenido.",
    "start.no_share": "Un enlace público necesita cuentas de usuario, que esta versión aún no tiene; inícielo sin --share.",
    "start.no_public_host": "Escuchar en {host} dejaría entrar a desconocidos y esta versión aún no tiene cuentas de usuario; use --host 127.0.0.1.",
    "start.opening_variable": "La variable de entorno {name} abriría la página a otras personas; quítela y vuelva a iniciar.",
    "start.bad_setting": "El ajuste {name} no se puede usar: {reason}.",
    "start.port_busy": "Otro programa usa el puerto {port}; elija otro con --port.",
    "start.no_port": "Ninguno de los {count} puertos desde el {first} está libre; elija uno con --port.",
    "option.share": "un enlace público; necesita cuentas de usuario",
    "option.host": "dirección en la que escuchar, 127.0.0.1 si no se dice otra",
    "option.port": "puerto en el que escuchar; si no se dice, el primero libre desde el 7860",
    "option.data_dir": "dónde se guardan los vídeos y todo lo demás",
    # page
    "page.title": "Sonic Studio",
    "page.tagline": "Una foto y una voz se convierten en un retrato que habla.",
    "page.privacy": "Todo se queda en este equipo.",
    "page.language": "Idioma de la página",
    "tab.create": "Crear",
    "tab.library": "Biblioteca",
    "tab.system": "Sistema",
    # step 1
    "photo.step": "1",
    "photo.title": "Foto",
    "photo.upload": "Foto de una cara",
    "photo.placeholder": "Suelte aquí una foto\no haga clic para elegirla",
    "photo.another": "Elegir otra foto",
    "photo.alt": "Su foto, {faces}",
    "photo.alt_none": "no se encontró ninguna cara",
    "photo.alt_one": "se encontró una cara",
    "photo.alt_many": "se encontraron {count} caras",
    "photo.face": "Cara {number}",
    "photo.face_chosen": "Cara {number}, habla",
    "photo.face_pick": "Que hable la cara {number}",
    "photo.pick_hint": "Haga clic en la cara que debe hablar.",
    "photo.unreadable": "Este archivo no se puede mostrar.",
    "photo.samples": "¿No tiene una foto a mano? Use una de estas:",
    "photo.sample": "Usar el retrato de ejemplo: {name}",
    "photo.framing": "Mostrar",
    "photo.framing_full": "Foto entera",
    "photo.framing_bust": "Busto",
    "photo.framing_face": "Cara",
    "photo.aspect": "Formato",
    "photo.aspect_source": "El de la foto",
    "photo.aspect_square": "Cuadrado",
    "photo.aspect_tall": "Alto 9:16",
    "photo.aspect_wide": "Ancho 16:9",
    "sample.astronaut_collins": "La astronauta Eileen Collins",
    "sample.vangogh_self": "Vincent van Gogh, autorretrato",
    "sample.american_gothic": "American Gothic, dos caras",
    # step 2
    "voice.step": "2",
    "voice.title": "Voz",
    "voice.source": "De dónde viene la voz",
    "voice.source_upload": "Subir",
    "voice.source_record": "Grabar",
    "voice.source_text": "Escribir",
    "voice.recording": "Grabación de voz",
    "voice.recording_hint": "WAV, MP3, M4A, FLAC, OGG, Opus, WebM y más; también sirve un vídeo con sonido.",
    "voice.listen": "Escuchar su grabación",
    "voice.microphone": "Su voz",
    "voice.microphone_hint": "Pulse grabar, hable y pulse detener. Después podrá recortar los extremos.",
    "voice.microphone_insecure": "El navegador solo permite el micrófono en este equipo o por HTTPS.",
    "voice.text": "¿Qué se debe decir?",
    "voice.text_placeholder": "Buenos días y bienvenidos a la primera clase…",
    "voice.language": "Idioma",
    "voice.voice": "Voz",
    "voice.best": "La mejor",
    "voice.natural": "{name}",
    "voice.robotic": "{name} (robótica)",
    "voice.speed": "Velocidad",
    "voice.speed_hint": "1 es el ritmo propio de la voz.",
    "voice.preview": "Oír la voz",
    "voice.preview_label": "La prueba de la voz",
    # step 3
    "make.step": "3",
    "make.title": "Hacer",
    "quality.label": "Calidad",
    "quality.quick": "Rápida\n512 píxeles. Para un primer vistazo; es la que menos tarda.",
    "quality.standard": "Normal\n768 píxeles. Nítida para presentaciones y mensajes.",
    "quality.hd": "HD\n1024 píxeles. Para la versión final; es la que más tarda.",
    "more.title": "Más opciones",
    "more.size": "Tamaño",
    "more.size_hint": "Lado corto en píxeles. Cuanto mayor, más nítido y más lento.",
    "more.size_preset": "Según la calidad",
    "more.mouth": "Fuerza de la boca",
    "more.mouth_hint": "1 es natural. Menos para un habla tranquila, más para una viva.",
    "more.head": "Movimiento de la cabeza",
    "more.head_hint": "1 es natural. Con 0 la cabeza queda quieta, como en un cuadro.",
    "more.smoothing": "Suavizado",
    "more.smoothing_hint": "1 va bien con casi todas las voces. Más si los labios tiemblan, 0 para ninguno.",
    "more.fps": "Imágenes por segundo",
    "more.fps_hint": "25 basta casi siempre. 50 se mueve con más suavidad y tarda el doble.",
    "more.seed": "Semilla",
    "more.seed_hint": "El mismo número repite un vídeo exactamente. Vacío: uno nuevo cada vez.",
    "more.background": "Fondo",
    "more.background_hint": "Solo se ve detrás de fotos recortadas y en los bordes añadidos.",
    "more.background_white": "Blanco",
    "more.background_grey": "Gris claro",
    "more.background_black": "Negro",
    "more.background_green": "Verde, para sustituirlo después",
    "more.force": "Intentarlo aunque la comprobación diga que no",
    "more.force_hint": "Para una cara pequeña o girada. El resultado puede verse raro.",
    "consent.label": "Soy esta persona, o puedo usar esta cara y esta voz, o la cara no es de una persona real.",
    "make.generate": "Hacer el vídeo",
    # the line beside the button
    "check.checking": "Comprobando…",
    "check.no_photo": "Empiece con una foto.",
    "check.no_voice": "Cara encontrada. Ahora añada una voz.",
    "check.no_consent": "Marque la casilla de arriba para seguir.",
    "check.face_found": "Cara encontrada",
    "check.speech": "{duration} de voz",
    "check.estimate": "unos {time} de trabajo",
    # one job
    "job.section": "Su vídeo",
    "job.untitled": "Sin título",
    "job.waiting": "En espera",
    "job.queued_next": "Es el siguiente.",
    "job.queued": "Hay {ahead} antes.",
    "job.starting": "Empezando",
    "job.time_left": "faltan unos {time}",
    "job.time_unknown": "calculando el tiempo que falta",
    "job.ready": "Su vídeo está listo.",
    "job.result": "Dura {duration}, hecho en {elapsed}.",
    "job.progress": "Progreso de {title}",
    "job.percent": "{percent} %",
    "job.cancel": "Cancelar",
    "job.retry": "Intentar de nuevo",
    "job.another": "Hacer otro",
    "job.download": "Descargar",
    "job.captions": "Subtítulos",
    "job.captions_track": "Subtítulos",
    "job.close_note": "Puede cerrar esta página; el trabajo sigue y el vídeo estará aquí.",
    "job.video_label": "El vídeo terminado: {title}",
    "job.canceled_toast": "El vídeo se canceló.",
    "stage.prepare": "Mirando la foto",
    "stage.speak": "Diciendo el texto",
    "stage.listen": "Escuchando la voz",
    "stage.animate": "Haciendo su vídeo: moviendo los labios",
    "stage.finish": "Dando los últimos retoques",
    "stage.assemble": "Guardando el vídeo",
    # recent videos
    "recent.title": "Mis vídeos recientes",
    "recent.empty": "Aún no hay nada. Sus vídeos se guardarán aquí, también después de recargar.",
    "recent.open": "Abrir",
    "recent.open_label": "Abrir {title}",
    "recent.download_label": "Descargar {title}",
    "recent.delete": "Borrar",
    "recent.delete_label": "Borrar {title}",
    "recent.confirm": "¿Borrar para siempre?",
    "recent.confirm_yes": "Sí, borrar",
    "recent.confirm_no": "Conservar",
    "recent.poster": "Primera imagen de {title}",
    # library
    "library.title": "Mis vídeos",
    "library.empty": "Aún no hay vídeos. El primero está a tres pasos.",
    "library.create": "Hacer un vídeo",
    "library.play_label": "El vídeo {title}",
    "library.settings": "Ajustes usados",
    "library.again": "Cambiar y hacer de nuevo",
    "library.again_label": "Cambiar {title} y hacerlo de nuevo",
    "library.more": "Mostrar más",
    "library.said": "Texto",
    "library.gone": "Faltan algunos archivos de este vídeo; elíjalos de nuevo.",
    "status.queued": "En espera",
    "status.running": "En marcha",
    "status.succeeded": "Listo",
    "status.failed": "Falló",
    "status.canceled": "Cancelado",
    # gauge
    "gauge.vram": "Memoria gráfica",
    "gauge.ram": "Memoria",
    "gauge.ours": "Studio {gb} GB",
    "gauge.others": "otros {gb} GB",
    "gauge.free": "{gb} GB libres",
    "gauge.unknown": "{kind}: desconocida",
    "gauge.label": "{kind} de {device}: {parts}",
    # system
    "system.memory": "Memoria en la última hora",
    "system.history": "{kind}: {now} GB en uso, como máximo {peak} GB en la última hora, de {total} GB.",
    "system.history_ours": "El estudio ocupa {now} GB, como máximo {peak} GB.",
    "system.history_begins": "La curva crece mientras el estudio funciona.",
    "system.now": "ahora",
    "system.hour_ago": "hace 1 h",
    "system.queue": "Cola",
    "system.queue_empty": "No se está haciendo ningún vídeo ni hay ninguno en espera.",
    "system.queue_counts": "En marcha: {running}. En espera: {waiting}.",
    "system.worker": "Proceso de trabajo",
    "system.worker_dead": "Dormido. Arranca con el próximo vídeo.",
    "system.worker_starting": "Arrancando",
    "system.worker_ready": "Listo para el próximo vídeo",
    "system.worker_busy": "Haciendo un vídeo",
    "system.elsewhere": "Otro programa hace los vídeos de esta carpeta de datos.",
    "system.speed": "Velocidad medida",
    "system.speed_row": "{animator}, {size} píxeles: {time} de trabajo por cada segundo de vídeo.",
    "system.speed_none": "Se sabrá después del primer vídeo.",
    "system.check": "Comprobación de este equipo",
    "system.check_run": "Comprobar ahora",
    "system.check_note": "Tarda unos segundos. Los detalles están en inglés.",
    "system.check_ok": "Bien",
    "system.check_bad": "Necesita atención",
    "system.check_absent": "Falta y no es necesario ({count})",
    "system.check_optional": "No es necesario",
    "check_row.machine": "Equipo",
    "check_row.memory": "Memoria de trabajo",
    "check_row.disk": "Disco",
    "check_row.video_encoder": "Codificador de vídeo",
    "check_row.model_file": "Archivo de modelo",
    "check_row.voices": "Voces",
    "check_row.graphics_card": "Tarjeta gráfica",
    "check_row.pytorch": "PyTorch",
    # numbers and times
    "number.mark": ",",
    "time.seconds": "{count} s",
    "time.minutes": "{count} min",
    "time.minutes_seconds": "{minutes} min {seconds} s",
    "time.hours_minutes": "{hours} h {minutes} min",
    "age.now": "ahora mismo",
    "age.minutes": "hace {count} min",
    "age.hours": "hace {count} h",
    "age.days": "hace {count} d",
    # errors
    "error.title": "No funcionó",
}

ERRORS: dict[str, tuple[str, str]] = {
    # portrait
    "no_face": (
        "No se encontró ninguna cara humana en esta imagen.",
        "Use una foto que muestre una cara de frente, bien iluminada y sin cubrir.",
    ),
    "face_too_small": (
        "La cara es demasiado pequeña: {face_px} píxeles de alto; hacen falta al menos {need_px}.",
        "Recorte la foto más cerca de la cara o use una versión más grande.",
    ),
    "several_faces": (
        "Hay {count} caras; se eligió la más grande.",
        "Elija otra cara si no es esta la que debe hablar.",
    ),
    "face_turned": (
        "La cabeza está girada {yaw_deg} grados hacia un lado.",
        "Use una foto que mire más a la cámara; hasta 25 grados va bien.",
    ),
    "face_cut_off": (
        "Parte de la cara queda fuera de la imagen.",
        "Use una foto que muestre la cara entera con algo de espacio alrededor.",
    ),
    "face_number_wrong": (
        "No hay ninguna cara con el número {face}; esta imagen tiene {count}, numeradas desde 0.",
        "Elija una de las caras encontradas.",
    ),
    "low_resolution": (
        "La cara solo tiene {face_px} píxeles de alto, así que el vídeo se verá poco nítido.",
        "Use una versión más grande de la foto si la tiene.",
    ),
    "photo_blurred": (
        "La cara está borrosa, así que el vídeo también lo estará.",
        "Use una foto más nítida si la tiene.",
    ),
    "photo_too_dark": ("La cara está muy oscura.", "Use una foto más clara o aclare primero esta."),
    "photo_overexposed": (
        "Gran parte de la cara está quemada en blanco.",
        "Use una foto con luz más suave si la tiene.",
    ),
    "mouth_covered": (
        "La boca parece estar cubierta; lo que la cubre se moverá con los labios.",
        "Use una foto en la que se vea la boca.",
    ),
    "not_an_image": (
        "Este archivo no es una imagen.",
        "Use una imagen JPEG, PNG, WebP, HEIC, AVIF, TIFF, BMP o GIF.",
    ),
    "damaged_image": (
        "El archivo de la imagen está dañado y no se puede abrir.",
        "Copie o descargue la foto otra vez, o guárdela de nuevo desde un visor de imágenes.",
    ),
    "image_too_large": (
        "La imagen es demasiado grande: {megapixels} megapíxeles; el límite es {limit_megapixels}.",
        "Guarde una versión más pequeña; con 2000 píxeles en el lado largo sobra.",
    ),
    "image_too_small": (
        "La imagen es demasiado pequeña: {width_px} x {height_px} píxeles.",
        "Use una foto con al menos {need_px} píxeles en cada lado.",
    ),
    "image_too_heavy": (
        "Abrir esta imagen necesita más memoria de la que se permite aquí ({limit_mb} MB).",
        "Guarde una versión más pequeña; con 2000 píxeles en el lado largo sobra.",
    ),
    "image_format_unsupported": (
        "Las imágenes de este tipo ({format}) no se pueden leer.",
        "Guárdela como PNG o JPEG e inténtelo de nuevo.",
    ),
    "first_frame_used": (
        "Esta imagen tiene varios fotogramas; solo se usa el primero.",
        "Si quiere otro, guarde ese fotograma como imagen PNG.",
    ),
    # speech
    "not_audio": (
        "Este archivo no es una grabación de sonido.",
        "Use un archivo WAV, MP3, M4A, FLAC, OGG, Opus, WebM, AIFF, AMR o WMA, o un vídeo con sonido.",
    ),
    "damaged_audio": (
        "El archivo de sonido está dañado y no se puede leer.",
        "Exporte o descargue la grabación otra vez.",
    ),
    "audio_too_short": (
        "La grabación es demasiado corta: {duration_s} segundos; hacen falta al menos {need_s}.",
        "Grabe un poco más.",
    ),
    "audio_too_long": (
        "La grabación es demasiado larga: {duration_min} minutos; el límite es {limit_min}.",
        "Córtela en partes y haga un vídeo de cada una.",
    ),
    "silent": ("En esta grabación no se oye nada.", "Revise el micrófono o elija otro archivo."),
    "no_audio_track": (
        "Este archivo no tiene sonido.",
        "Elija una grabación o un vídeo que tenga sonido.",
    ),
    "no_speech": (
        "No se reconoció ninguna voz en esta grabación; la boca quizá apenas se mueva.",
        "Compruebe que eligió el archivo correcto.",
    ),
    "audio_partly_damaged": (
        "Partes de la grabación están dañadas; se usa lo que se pudo leer.",
        "Escuche el resultado; si falta algo, exporte la grabación otra vez.",
    ),
    # any file
    "empty_file": ("El archivo está vacío.", "Elija otro archivo o cópielo de nuevo."),
    "file_too_large": (
        "El archivo es demasiado grande: {size_mb} MB; el límite es {limit_mb} MB.",
        "Use un archivo más pequeño.",
    ),
    "file_not_found": (
        "El archivo no existe o no se puede leer: {name}.",
        "Compruebe el nombre e inténtelo de nuevo.",
    ),
    "probe_timeout": (
        "El archivo no se pudo comprobar a tiempo.",
        "Inténtelo de nuevo; si vuelve a ocurrir, guarde el archivo en otro formato.",
    ),
    "not_a_video": (
        "Este archivo no es un vídeo que se pueda leer aquí.",
        "Elija un vídeo MP4 hecho con Sonic Studio.",
    ),
    # text and voices
    "text_empty": ("Todavía no hay nada que decir.", "Escriba al menos una palabra."),
    "text_too_long": (
        "El texto es demasiado largo: {count} caracteres; el límite es {limit}.",
        "Acórtelo o haga varios vídeos.",
    ),
    "text_unreadable": (
        "La voz {voice} no puede leer estos caracteres: {characters}",
        "Elija otra voz o escriba las palabras como suenan (en japonés: en kana).",
    ),
    "sentence_failed": (
        'Esta frase no se pudo decir: "{sentence}"',
        "Cambie sus palabras o elija otra voz.",
    ),
    "emoji_dropped": (
        "Los emojis no se dicen; se omitieron.",
        "Escriba las palabras si deben oírse.",
    ),
    "markup_removed": (
        "Se omitieron las etiquetas y las marcas de formato.",
        "Escriba texto sin formato si falta algo.",
    ),
    "other_voice_used": (
        "Las palabras en otra escritura las dijo otra voz.",
        "Elija una voz de ese idioma o escriba esas palabras con las letras de la voz.",
    ),
    "partly_unspoken": (
        "Ninguna voz de aquí pudo decir algunos caracteres; se omitieron.",
        "Escriba esas palabras de otra manera.",
    ),
    "style_ignored": (
        "Esta voz solo tiene una manera de hablar; no se usó el estilo.",
        "Elija una voz que ofrezca estilos.",
    ),
    "voice_unknown": ("No hay ninguna voz llamada {voice}.", "Elija una voz de la lista."),
    "voice_unavailable": ("La voz {voice} no se puede usar en este equipo.", "Elija otra voz."),
    "language_unsupported": (
        "Ninguna voz instalada habla el idioma {language}.",
        "Elija otro idioma o suba una grabación.",
    ),
    "script_mismatch": (
        "El texto dado no parece ser lo que se dice en la grabación, así que no se usó: "
        "la boca sigue solo el sonido y no hay subtítulos.",
        "Compruebe que el texto y la grabación coinciden, palabra por palabra.",
    ),
    "script_unreadable": (
        "El texto dado no se puede leer aquí, así que no se usó: "
        "la boca sigue solo el sonido y no hay subtítulos.",
        "Escriba las palabras como suenan (japonés: en kana), o no dé ningún texto.",
    ),
    "captions_need_text": (
        "Los subtítulos necesitan un texto escrito; no se sabe qué se dice en una grabación.",
        "Escriba el texto y elija una voz, o haga el vídeo sin subtítulos.",
    ),
    "captions_undrawable": (
        "Estas letras no se pueden dibujar en la imagen: {characters}",
        "Elija subtítulos en un archivo aparte; los reproductores muestran todas las escrituras.",
    ),
    # options and machine
    "table_unreadable": (
        "No se puede leer la tabla: {reason}.",
        "Guárdela como CSV en UTF-8 o como JSON, con las columnas name, language, voice, text y audio.",
    ),
    "table_empty": (
        "La tabla no tiene filas.",
        "Dé a cada vídeo una fila con un texto o una grabación.",
    ),
    "table_too_long": (
        "La tabla tiene {count} filas; se pueden hacer {limit} a la vez como máximo.",
        "Haga ahora las primeras {limit} y las demás después.",
    ),
    "row_empty": (
        "Esta fila no tiene texto ni grabación.",
        "Añada uno de los dos o quítela.",
    ),
    "bad_option": (
        "El valor de {option} no se puede usar: {reason}.",
        "Cámbielo e inténtelo de nuevo.",
    ),
    "animator_unavailable": (
        "El animador {animator} no está listo en este equipo: {reason}.",
        "Use el animador lite, que no necesita tarjeta gráfica ni descargas.",
    ),
    "consent_missing": (
        "Confirme que puede usar esta cara y esta voz.",
        "Marque la casilla de consentimiento y vuelva a pulsar el botón.",
    ),
    "output_not_writable": (
        "El vídeo no se puede guardar ahí.",
        "Elija una carpeta que exista y en la que pueda escribir.",
    ),
    "disk_full": (
        "El disco está lleno, así que el vídeo no se pudo terminar.",
        "Libere espacio e inténtelo de nuevo; su foto y su grabación se conservan.",
    ),
    "disk_low": (
        "Solo quedan {free_gb} GB libres en el disco; este vídeo necesita {need_gb} GB para ir sobre seguro.",
        "Libere espacio e inténtelo de nuevo.",
    ),
    "storage_full": (
        "Los vídeos guardados aquí ocupan {used_gb} GB; el límite es de {limit_gb} GB.",
        "Borre los vídeos que nadie necesite e inténtelo de nuevo.",
    ),
    "out_of_memory": (
        "Este equipo se quedó sin memoria.",
        "Cierre otros programas o elija un tamaño menor, e inténtelo de nuevo.",
    ),
    "gpu_memory": (
        "La tarjeta gráfica se quedó sin memoria.",
        "Elija un tamaño menor o el animador lite, e inténtelo de nuevo.",
    ),
    "card_busy": (
        "Otros programas ocupan la memoria de la tarjeta gráfica: el vídeo necesita {need_gb} GB y hay {free_gb} GB libres.",
        "Ciérrelos, o elija el animador lite o un tamaño menor; no se ha perdido nada.",
    ),
    "memory_rising": (
        "La memoria que queda ocupada entre vídeos ha crecido {rise_mb} MB en diez minutos.",
        "El proceso de trabajo se reemplaza solo; si sigue así, reinicie Sonic Studio y avise del problema.",
    ),
    "encoding_failed": (
        "No se pudo escribir el archivo de vídeo.",
        "Inténtelo de nuevo; su foto y su grabación se conservan.",
    ),
    # labels
    "visible_label_missing": (
        "No se ven en la imagen las palabras «Generado por IA».",
        "El vídeo no se hizo aquí con su etiqueta, o fue recortado o cubierto.",
    ),
    "picture_unreadable": (
        "No se puede descodificar la imagen de este vídeo, así que no se pudo buscar su etiqueta visible.",
        "Solo se descodifican imágenes H.264; las demás etiquetas sí se comprobaron.",
    ),
    "aigc_missing": (
        "El archivo no tiene la etiqueta AIGC.",
        "Los programas que hacen una copia nueva suelen quitarla.",
    ),
    "xmp_missing": (
        "Los datos XMP del archivo no dicen que lo hizo una IA.",
        "Los programas que hacen una copia nueva suelen quitarlos.",
    ),
    "manifest_missing": (
        "El archivo no tiene manifiesto C2PA.",
        "Editarlo, recodificarlo y muchas plataformas lo eliminan; solo el archivo original lo lleva.",
    ),
    "manifest_broken": (
        "El manifiesto C2PA no corresponde al archivo: uno de los dos se cambió después de la firma.",
        "No confíe en lo que el manifiesto dice de este vídeo.",
    ),
    "certificate_unusable": (
        "No se puede usar el certificado que firma los vídeos.",
        "Revise STUDIO_PROVENANCE_CERTIFICATE y STUDIO_PROVENANCE_KEY, o quite ambos para usar uno propio.",
    ),
    # weights
    "weights_missing": (
        "Falta el archivo de pesos {file} ({size}) en {place}; consígalo con `{command}`.",
        "El animador lite no necesita descargas.",
    ),
    "weights_misplaced": (
        "El archivo de pesos {file} ({size}) debe estar en {place}, pero está en {found}; muévalo o consígalo con `{command}`.",
        "El animador lite no necesita descargas.",
    ),
    "weights_damaged": (
        "El archivo de pesos {file} ({size}) en {place} no se puede usar: {reason}; consígalo de nuevo con `{command}`.",
        "El animador lite no necesita descargas.",
    ),
    "weights_wrong": (
        "El archivo {file} ({size}) en {place} contiene otra cosa: {reason}; consiga el correcto con `{command}`.",
        "El animador lite no necesita descargas.",
    ),
    "weights_unknown": ("No hay pesos llamados {name}.", "Nombres conocidos: {known}."),
    "weights_refused": (
        "El editor no entrega {file} sin una licencia aceptada.",
        "Acéptela en {page}, cree allí una clave de acceso y póngala en STUDIO_HUB_TOKEN.",
    ),
    "weights_unreachable": (
        "No se pudo descargar {file}: {reason}.",
        "Revise la conexión y repita la misma orden; lo que ya está aquí se conserva.",
    ),
    "weights_disk": (
        "No hay sitio para los pesos: hacen falta {need_gb} GB y quedan {free_gb} GB libres.",
        "Libere espacio o elija otra carpeta con STUDIO_SONIC_WEIGHTS_DIR.",
    ),
    "weights_not_writable": (
        "Los pesos no se pueden guardar en {place}.",
        "Elija con STUDIO_SONIC_WEIGHTS_DIR una carpeta en la que pueda escribir.",
    ),
    # jobs
    "job_not_found": (
        "Este vídeo ya no existe.",
        "Puede que se haya borrado; hágalo de nuevo en la página Crear.",
    ),
    "queue_full": (
        "Ahora mismo hay demasiados vídeos en espera ({count}).",
        "Inténtelo de nuevo dentro de unos {minutes} min, cuando termine uno de ellos.",
    ),
    "too_many_waiting": (
        "Ya tiene {count} vídeos en espera; no caben más en la cola.",
        "Inténtelo de nuevo dentro de unos {minutes} min, o quite uno de los que esperan.",
    ),
    "submitted_too_fast": (
        "Ha ido muy deprisa: el límite es de {limit} vídeos por minuto.",
        "Inténtelo de nuevo dentro de {seconds} s.",
    ),
    "daily_limit": (
        "Ha hecho {limit} vídeos en 24 horas, que es el límite aquí.",
        "Vuelva dentro de unas {hours} h.",
    ),
    "broker_unreachable": (
        "El servidor que reparte los vídeos entre los procesos de trabajo no responde.",
        "No se ha perdido nada: los vídeos en espera se harán cuando vuelva.",
    ),
    "storage_unreachable": (
        "El almacenamiento que comparten los procesos de trabajo no responde.",
        "No se ha perdido nada: los vídeos en espera se harán cuando vuelva.",
    ),
    "queue_paused": (
        "El proceso de trabajo se detuvo {count} veces en diez minutos, así que la cola está en pausa.",
        "No se ha perdido nada. Seguirá sola dentro de unos {minutes} min, o cuando lo intente de nuevo.",
    ),
    "worker_stuck": (
        "El programa que hace los vídeos está bloqueado en el controlador de la tarjeta gráfica y no se puede detener.",
        "Reinicie el ordenador; los vídeos en espera se conservan y se harán después.",
    ),
    "canceled": ("El vídeo se canceló.", "Pulse «Intentar de nuevo» para hacerlo de todos modos."),
    "worker_lost": (
        "El programa que hace el vídeo se detuvo dos veces sin decir por qué.",
        "Su foto y su grabación se conservan; inténtelo de nuevo o elija un tamaño menor.",
    ),
    "timed_out": (
        "El vídeo tardó mucho más de lo previsto y se detuvo.",
        "Inténtelo de nuevo o elija un tamaño menor.",
    ),
    "data_dir_busy": (
        "Sonic Studio ya está en marcha con esta carpeta de datos.",
        "Use la ventana que está abierta o inicie este con otro --data-dir.",
    ),
    "data_dir_too_new": (
        "Esta carpeta de datos la escribió una versión más nueva de Sonic Studio.",
        "Actualice Sonic Studio o inícielo con otro --data-dir; no se cambió nada.",
    ),
    "internal": (
        "Algo falló por nuestra parte.",
        "No se perdió nada suyo; inténtelo de nuevo. Los detalles están en el registro.",
    ),
}

LOCALE = Locale(tag="es", name="Español", direction="ltr", text=TEXT, errors=ERRORS)
