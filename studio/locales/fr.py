"""French."""

from studio.locales.locale import Locale

TEXT: dict[str, str] = {
    # start
    "start.ready": "Sonic Studio est prêt : {address}  (arrêt avec Ctrl-C)",
    "start.finishing": "La vidéo en cours est terminée d'abord, pendant {seconds} s au plus ; un second signal arrête tout de suite.",
    "start.stopped": "Sonic Studio s'est arrêté.",
    "start.no_share": "Un lien public exige des comptes d'utilisateur, que cette version n'a pas encore ; démarrez sans --share.",
    "start.no_public_host": "Écouter sur {host} laisserait entrer des inconnus, et cette version n'a pas encore de comptes d'utilisateur ; utilisez --host 127.0.0.1.",
    "start.opening_variable": "La variable d'environnement {name} ouvrirait la page à d'autres ; supprimez-la et redémarrez.",
    "start.bad_setting": "Le réglage {name} ne peut pas être utilisé : {reason}.",
    "start.port_busy": "Le port {port} est occupé par un autre programme ; choisissez-en un autre avec --port.",
    "start.no_port": "Aucun des {count} ports à partir de {first} n'est libre ; choisissez-en un avec --port.",
    "option.share": "un lien public ; exige des comptes d'utilisateur",
    "option.host": "adresse d'écoute, 127.0.0.1 par défaut",
    "option.port": "port d'écoute, par défaut le premier libre à partir de 7860",
    "option.data_dir": "où sont gardés les vidéos et tout le reste",
    # page
    "page.title": "Sonic Studio",
    "page.tagline": "Une photo et une voix deviennent un portrait qui parle.",
    "page.privacy": "Tout reste sur cet ordinateur.",
    "page.language": "Langue de la page",
    "tab.create": "Créer",
    "tab.library": "Bibliothèque",
    "tab.system": "Système",
    # step 1
    "photo.step": "1",
    "photo.title": "Photo du visage",
    "photo.upload": "Photo d'un seul visage",
    "photo.placeholder": "Déposez une photo ici\nou cliquez pour en choisir une",
    "photo.another": "Choisir une autre photo",
    "photo.alt": "Votre photo, {faces}",
    "photo.alt_none": "aucun visage trouvé",
    "photo.alt_one": "un visage trouvé",
    "photo.alt_many": "{count} visages trouvés",
    "photo.face": "Visage {number}",
    "photo.face_chosen": "Visage {number}, parle",
    "photo.face_pick": "Faire parler le visage {number}",
    "photo.pick_hint": "Cliquez sur le visage qui doit parler.",
    "photo.unreadable": "Ce fichier ne peut pas être affiché.",
    "photo.samples": "Pas de photo sous la main ? Prenez l'une de celles-ci :",
    "photo.sample": "Utiliser le portrait d'exemple : {name}",
    "photo.framing": "Cadrage",
    "photo.framing_full": "Photo entière",
    "photo.framing_bust": "Buste",
    "photo.framing_face": "Visage",
    "photo.aspect": "Format",
    "photo.aspect_source": "Comme la photo",
    "photo.aspect_square": "Carré",
    "photo.aspect_tall": "Haut 9:16",
    "photo.aspect_wide": "Large 16:9",
    "sample.astronaut_collins": "L'astronaute Eileen Collins",
    "sample.vangogh_self": "Vincent van Gogh, autoportrait",
    "sample.american_gothic": "American Gothic, deux visages",
    # step 2
    "voice.step": "2",
    "voice.title": "Voix",
    "voice.source": "D'où vient la voix",
    "voice.source_upload": "Importer",
    "voice.source_record": "Enregistrer",
    "voice.source_text": "Écrire",
    "voice.recording": "Enregistrement de la voix",
    "voice.recording_hint": "WAV, MP3, M4A, FLAC, OGG, Opus, WebM et d'autres ; une vidéo avec du son convient aussi.",
    "voice.listen": "Écouter votre enregistrement",
    "voice.microphone": "Votre voix",
    "voice.microphone_hint": "Lancez l'enregistrement, parlez, puis arrêtez. Vous pourrez ensuite couper le début et la fin.",
    "voice.microphone_insecure": "Les navigateurs n'autorisent le micro que sur cet ordinateur ou en HTTPS.",
    "voice.text": "Que faut-il dire ?",
    "voice.text_placeholder": "Bonjour et bienvenue à ce premier cours…",
    "voice.language": "Langue",
    "voice.voice": "Voix",
    "voice.best": "La meilleure",
    "voice.natural": "{name}",
    "voice.robotic": "{name} (robotique)",
    "voice.speed": "Vitesse",
    "voice.speed_hint": "1 est le rythme propre de la voix.",
    "voice.preview": "Écouter la voix",
    "voice.preview_label": "L'essai de la voix",
    # step 3
    "make.step": "3",
    "make.title": "Vidéo",
    "quality.label": "Qualité",
    "quality.quick": "Rapide\n512 pixels. Pour un premier aperçu, le plus vite prêt.",
    "quality.standard": "Normale\n768 pixels. Assez nette pour des diapos et des messages.",
    "quality.hd": "HD\n1024 pixels. Pour le film final ; la plus lente.",
    "more.title": "Plus de choix",
    "more.size": "Taille",
    "more.size_hint": "Petit côté en pixels. Plus grand : plus net et plus lent.",
    "more.size_preset": "Selon la qualité",
    "more.mouth": "Force de la bouche",
    "more.mouth_hint": "1 est naturel. Moins pour une voix calme, plus pour une voix vive.",
    "more.head": "Mouvement de la tête",
    "more.head_hint": "1 est naturel. À 0, la tête reste immobile, comme sur un tableau.",
    "more.smoothing": "Lissage",
    "more.smoothing_hint": "1 convient à la plupart des voix. Plus si les lèvres tremblent, 0 pour aucun.",
    "more.fps": "Images par seconde",
    "more.fps_hint": "25 suffit presque toujours. 50 bouge plus doucement et prend deux fois plus de temps.",
    "more.seed": "Graine",
    "more.seed_hint": "Le même nombre refait exactement la même vidéo. Vide : un nouveau à chaque fois.",
    "more.background": "Fond",
    "more.background_hint": "Visible seulement derrière les photos détourées et sur les bords ajoutés.",
    "more.background_white": "Blanc",
    "more.background_grey": "Gris clair",
    "more.background_black": "Noir",
    "more.background_green": "Vert, à remplacer plus tard",
    "more.force": "Essayer même si la vérification dit non",
    "more.force_hint": "Pour un visage petit ou tourné. Le résultat peut être étrange.",
    "consent.label": "Je suis cette personne, ou j'ai le droit d'utiliser ce visage et cette voix, ou le visage n'est pas celui d'une personne réelle.",
    "make.generate": "Faire la vidéo",
    # the line beside the button
    "check.checking": "Vérification…",
    "check.no_photo": "Commencez par une photo.",
    "check.no_voice": "Visage trouvé. Ajoutez maintenant une voix.",
    "check.no_consent": "Cochez la case ci-dessus pour continuer.",
    "check.face_found": "Visage trouvé",
    "check.speech": "{duration} de parole",
    "check.estimate": "environ {time} de travail",
    # one job
    "job.section": "Votre vidéo",
    "job.untitled": "Sans titre",
    "job.waiting": "En attente",
    "job.queued_next": "C'est la prochaine.",
    "job.queued": "{ahead} avant elle.",
    "job.starting": "Démarrage",
    "job.time_left": "encore {time} environ",
    "job.time_unknown": "calcul du temps restant",
    "job.ready": "Votre vidéo est prête.",
    "job.result": "Dure {duration}, faite en {elapsed}.",
    "job.progress": "Progression de {title}",
    "job.percent": "{percent}\u202f%",
    "job.cancel": "Annuler",
    "job.retry": "Réessayer",
    "job.another": "En faire une autre",
    "job.download": "Télécharger",
    "job.captions": "Sous-titres",
    "job.captions_track": "Sous-titres",
    "job.close_note": "Vous pouvez fermer cette page ; le travail continue et la vidéo vous attendra ici.",
    "job.video_label": "La vidéo terminée : {title}",
    "job.canceled_toast": "La vidéo a été annulée.",
    "stage.prepare": "Examen de la photo",
    "stage.speak": "Lecture du texte à voix haute",
    "stage.listen": "Écoute de la voix",
    "stage.animate": "Votre vidéo se fait : mouvement des lèvres",
    "stage.finish": "Dernières retouches",
    "stage.assemble": "Enregistrement de la vidéo",
    # recent videos
    "recent.title": "Mes vidéos récentes",
    "recent.empty": "Rien pour l'instant. Vos vidéos seront gardées ici, même après un rechargement.",
    "recent.open": "Ouvrir",
    "recent.open_label": "Ouvrir {title}",
    "recent.download_label": "Télécharger {title}",
    "recent.delete": "Supprimer",
    "recent.delete_label": "Supprimer {title}",
    "recent.confirm": "Supprimer définitivement ?",
    "recent.confirm_yes": "Oui, supprimer",
    "recent.confirm_no": "Garder",
    "recent.poster": "Première image de {title}",
    # library
    "library.title": "Mes vidéos",
    "library.empty": "Pas encore de vidéo. La première est à trois étapes d'ici.",
    "library.create": "Faire une vidéo",
    "library.play_label": "La vidéo {title}",
    "library.settings": "Réglages utilisés",
    "library.again": "Modifier et refaire",
    "library.again_label": "Modifier {title} et la refaire",
    "library.more": "Afficher plus",
    "library.said": "Texte",
    "library.gone": "Certains fichiers de cette vidéo ont disparu ; choisissez-les à nouveau.",
    "status.queued": "En attente",
    "status.running": "En cours",
    "status.succeeded": "Prête",
    "status.failed": "Échec",
    "status.canceled": "Annulée",
    # gauge
    "gauge.vram": "Mémoire graphique",
    "gauge.ram": "Mémoire",
    "gauge.ours": "Studio {gb} Go",
    "gauge.others": "autres {gb} Go",
    "gauge.free": "{gb} Go libres",
    "gauge.unknown": "{kind} : inconnue",
    "gauge.label": "{kind} de {device} : {parts}",
    # system
    "system.memory": "Mémoire pendant la dernière heure",
    "system.history": "{kind} : {now} Go utilisés, au plus {peak} Go pendant la dernière heure, sur {total} Go.",
    "system.history_ours": "Le studio occupe {now} Go, au plus {peak} Go.",
    "system.history_begins": "La courbe s'allonge tant que le studio tourne.",
    "system.now": "maintenant",
    "system.hour_ago": "il y a 1 h",
    "system.queue": "File d'attente",
    "system.queue_empty": "Aucune vidéo en cours, aucune en attente.",
    "system.queue_counts": "En cours : {running}. En attente : {waiting}.",
    "system.worker": "Processus de travail",
    "system.worker_dead": "En veille. Il démarre avec la prochaine vidéo.",
    "system.worker_starting": "Démarrage",
    "system.worker_ready": "Prêt pour la prochaine vidéo",
    "system.worker_busy": "Fait une vidéo",
    "system.elsewhere": "Un autre programme fait les vidéos de ce dossier de données.",
    "system.speed": "Vitesse mesurée",
    "system.speed_row": "{animator}, {size} pixels : {time} de travail pour une seconde de vidéo.",
    "system.speed_none": "Connue après la première vidéo.",
    "system.check": "Vérification de cet ordinateur",
    "system.check_run": "Vérifier maintenant",
    "system.check_note": "Dure quelques secondes. Les détails sont en anglais.",
    "system.check_ok": "Bon",
    "system.check_bad": "À corriger",
    "system.check_absent": "Absent et pas nécessaire ({count})",
    "system.check_optional": "Pas nécessaire",
    "check_row.machine": "Ordinateur",
    "check_row.memory": "Mémoire vive",
    "check_row.disk": "Disque",
    "check_row.video_encoder": "Encodeur vidéo",
    "check_row.model_file": "Fichier de modèle",
    "check_row.voices": "Voix",
    "check_row.graphics_card": "Carte graphique",
    "check_row.pytorch": "PyTorch",
    # numbers and times
    "number.mark": ",",
    "time.seconds": "{count} s",
    "time.minutes": "{count} min",
    "time.minutes_seconds": "{minutes} min {seconds} s",
    "time.hours_minutes": "{hours} h {minutes} min",
    "age.now": "à l'instant",
    "age.minutes": "il y a {count} min",
    "age.hours": "il y a {count} h",
    "age.days": "il y a {count} j",
    # errors
    "error.title": "Cela n'a pas marché",
}

ERRORS: dict[str, tuple[str, str]] = {
    # portrait
    "no_face": (
        "Aucun visage humain n'a été trouvé sur cette image.",
        "Utilisez une photo qui montre un visage de face, bien éclairé et non couvert.",
    ),
    "face_too_small": (
        "Le visage est trop petit : {face_px} pixels de haut, il en faut au moins {need_px}.",
        "Recadrez la photo plus près du visage, ou utilisez-en une version plus grande.",
    ),
    "several_faces": (
        "Il y a {count} visages ; le plus grand a été choisi.",
        "Choisissez un autre visage si ce n'est pas celui qui doit parler.",
    ),
    "face_turned": (
        "La tête est tournée de {yaw_deg} degrés sur le côté.",
        "Utilisez une photo qui regarde davantage l'appareil ; jusqu'à 25 degrés, cela va bien.",
    ),
    "face_cut_off": (
        "Une partie du visage est hors de l'image.",
        "Utilisez une photo qui montre tout le visage avec un peu d'espace autour.",
    ),
    "face_number_wrong": (
        "Il n'y a pas de visage numéro {face} ; cette image en a {count}, numérotés à partir de 0.",
        "Choisissez l'un des visages trouvés.",
    ),
    "low_resolution": (
        "Le visage ne fait que {face_px} pixels de haut, la vidéo manquera donc de netteté.",
        "Utilisez une version plus grande de la photo si vous en avez une.",
    ),
    "photo_blurred": (
        "Le visage est flou, la vidéo le sera donc aussi.",
        "Utilisez une photo plus nette si vous en avez une.",
    ),
    "photo_too_dark": (
        "Le visage est très sombre.",
        "Utilisez une photo plus claire, ou éclaircissez d'abord celle-ci.",
    ),
    "photo_overexposed": (
        "Une grande partie du visage est brûlée en blanc.",
        "Utilisez une photo à la lumière plus douce si vous en avez une.",
    ),
    "mouth_covered": (
        "La bouche semble couverte ; ce qui la couvre bougera avec les lèvres.",
        "Utilisez une photo où l'on voit la bouche.",
    ),
    "not_an_image": (
        "Ce fichier n'est pas une image.",
        "Utilisez une image JPEG, PNG, WebP, HEIC, AVIF, TIFF, BMP ou GIF.",
    ),
    "damaged_image": (
        "Le fichier de l'image est abîmé et ne peut pas être ouvert.",
        "Copiez ou téléchargez la photo à nouveau, ou enregistrez-la depuis une visionneuse d'images.",
    ),
    "image_too_large": (
        "L'image est trop grande : {megapixels} mégapixels, la limite est de {limit_megapixels}.",
        "Enregistrez-en une version plus petite ; 2000 pixels sur le grand côté suffisent largement.",
    ),
    "image_too_small": (
        "L'image est trop petite : {width_px} x {height_px} pixels.",
        "Utilisez une photo d'au moins {need_px} pixels de chaque côté.",
    ),
    "image_too_heavy": (
        "Ouvrir cette image demande plus de mémoire qu'il n'est permis ici ({limit_mb} Mo).",
        "Enregistrez-en une version plus petite ; 2000 pixels sur le grand côté suffisent largement.",
    ),
    "image_format_unsupported": (
        "Les images de ce type ({format}) ne peuvent pas être lues.",
        "Enregistrez-la en PNG ou JPEG et réessayez.",
    ),
    "first_frame_used": (
        "Cette image contient plusieurs vues ; seule la première est utilisée.",
        "Si vous en préférez une autre, enregistrez-la comme image PNG.",
    ),
    # speech
    "not_audio": (
        "Ce fichier n'est pas un enregistrement sonore.",
        "Utilisez un fichier WAV, MP3, M4A, FLAC, OGG, Opus, WebM, AIFF, AMR ou WMA, ou une vidéo avec du son.",
    ),
    "damaged_audio": (
        "Le fichier sonore est abîmé et ne peut pas être lu.",
        "Exportez ou téléchargez l'enregistrement à nouveau.",
    ),
    "audio_too_short": (
        "L'enregistrement est trop court : {duration_s} secondes, il en faut au moins {need_s}.",
        "Enregistrez un peu plus de parole.",
    ),
    "audio_too_long": (
        "L'enregistrement est trop long : {duration_min} minutes, la limite est de {limit_min}.",
        "Coupez-le en parties et faites une vidéo de chacune.",
    ),
    "silent": (
        "On n'entend rien dans cet enregistrement.",
        "Vérifiez le micro ou choisissez un autre fichier.",
    ),
    "no_audio_track": (
        "Ce fichier n'a pas de son.",
        "Choisissez un enregistrement, ou une vidéo qui a du son.",
    ),
    "no_speech": (
        "Aucune parole n'a été reconnue dans cet enregistrement ; la bouche bougera peut-être à peine.",
        "Vérifiez que vous avez choisi le bon fichier.",
    ),
    "audio_partly_damaged": (
        "Des parties de l'enregistrement sont abîmées ; ce qui a pu être lu est utilisé.",
        "Écoutez le résultat ; s'il manque quelque chose, exportez l'enregistrement à nouveau.",
    ),
    # any file
    "empty_file": ("Le fichier est vide.", "Choisissez un autre fichier, ou copiez-le à nouveau."),
    "file_too_large": (
        "Le fichier est trop gros : {size_mb} Mo, la limite est de {limit_mb} Mo.",
        "Utilisez un fichier plus petit.",
    ),
    "file_not_found": (
        "Le fichier n'existe pas ou ne peut pas être lu : {name}.",
        "Vérifiez le nom et réessayez.",
    ),
    "probe_timeout": (
        "Le fichier n'a pas pu être vérifié à temps.",
        "Réessayez ; si cela se répète, enregistrez le fichier dans un autre format.",
    ),
    "not_a_video": (
        "Ce fichier n'est pas une vidéo lisible ici.",
        "Choisissez une vidéo MP4 faite avec Sonic Studio.",
    ),
    # text and voices
    "text_empty": ("Il n'y a encore rien à dire.", "Écrivez au moins un mot."),
    "text_too_long": (
        "Le texte est trop long : {count} caractères, la limite est de {limit}.",
        "Raccourcissez-le, ou faites plusieurs vidéos.",
    ),
    "text_unreadable": (
        "La voix {voice} ne peut pas lire ces caractères : {characters}",
        "Choisissez une autre voix, ou écrivez les mots comme ils se prononcent (en japonais : en kana).",
    ),
    "sentence_failed": (
        'Cette phrase n\'a pas pu être dite : "{sentence}"',
        "Changez ses mots, ou choisissez une autre voix.",
    ),
    "emoji_dropped": (
        "Les émojis ne se prononcent pas ; ils ont été laissés de côté.",
        "Écrivez les mots à la place s'il faut les entendre.",
    ),
    "markup_removed": (
        "Les balises et les marques de mise en forme ont été laissées de côté.",
        "Écrivez du texte simple s'il manque quelque chose.",
    ),
    "other_voice_used": (
        "Les mots dans une autre écriture ont été dits par une autre voix.",
        "Choisissez une voix de cette langue, ou écrivez ces mots avec les lettres de la voix.",
    ),
    "partly_unspoken": (
        "Aucune voix d'ici n'a pu dire certains caractères ; ils ont été laissés de côté.",
        "Écrivez ces mots autrement.",
    ),
    "style_ignored": (
        "Cette voix n'a qu'une façon de parler ; le style n'a pas été utilisé.",
        "Choisissez une voix qui propose des styles.",
    ),
    "voice_unknown": ("Il n'y a pas de voix nommée {voice}.", "Choisissez une voix de la liste."),
    "voice_unavailable": (
        "La voix {voice} ne peut pas être utilisée sur cet ordinateur.",
        "Choisissez une autre voix.",
    ),
    "language_unsupported": (
        "Aucune voix installée ne parle la langue {language}.",
        "Choisissez une autre langue, ou importez un enregistrement.",
    ),
    "script_mismatch": (
        "Le texte donné ne semble pas être ce qui est dit dans l'enregistrement, il n'a donc pas été "
        "utilisé : la bouche suit le son seul, et il n'y a pas de sous-titres.",
        "Vérifiez que le texte et l'enregistrement correspondent, mot pour mot.",
    ),
    "script_unreadable": (
        "Le texte donné ne peut pas être lu ici, il n'a donc pas été utilisé : "
        "la bouche suit le son seul, et il n'y a pas de sous-titres.",
        "Écrivez les mots comme ils se prononcent (japonais : en kana), ou ne donnez pas de texte.",
    ),
    "captions_need_text": (
        "Les sous-titres ont besoin d'un texte saisi ; ce qui est dit dans un enregistrement "
        "n'est pas connu.",
        "Saisissez le texte et choisissez une voix, ou faites la vidéo sans sous-titres.",
    ),
    "captions_undrawable": (
        "Ces lettres ne peuvent pas être dessinées dans l'image : {characters}",
        "Choisissez des sous-titres dans un fichier à part ; les lecteurs affichent toutes les "
        "écritures.",
    ),
    # options and machine
    "table_unreadable": (
        "Le tableau est illisible : {reason}.",
        "Enregistrez-le en CSV (UTF-8) ou en JSON, avec les colonnes name, language, voice, text et audio.",
    ),
    "table_empty": (
        "Le tableau ne contient aucune ligne.",
        "Donnez à chaque vidéo une ligne avec un texte ou un enregistrement.",
    ),
    "table_too_long": (
        "Le tableau compte {count} lignes ; on peut en faire {limit} à la fois au plus.",
        "Faites d'abord les {limit} premières, puis les autres.",
    ),
    "row_empty": (
        "Cette ligne n'a ni texte ni enregistrement.",
        "Ajoutez l'un des deux, ou supprimez-la.",
    ),
    "bad_option": (
        "La valeur de {option} ne peut pas être utilisée : {reason}.",
        "Changez-la et réessayez.",
    ),
    "animator_unavailable": (
        "L'animateur {animator} n'est pas prêt sur cet ordinateur : {reason}.",
        "Utilisez l'animateur lite, qui ne demande ni carte graphique ni téléchargement.",
    ),
    "consent_missing": (
        "Confirmez que vous avez le droit d'utiliser ce visage et cette voix.",
        "Cochez la case du consentement et appuyez de nouveau sur le bouton.",
    ),
    "output_not_writable": (
        "La vidéo ne peut pas être enregistrée à cet endroit.",
        "Choisissez un dossier qui existe et où vous pouvez écrire.",
    ),
    "disk_full": (
        "Le disque est plein, la vidéo n'a donc pas pu être terminée.",
        "Libérez de la place et réessayez ; votre photo et votre enregistrement sont gardés.",
    ),
    "disk_low": (
        "Il ne reste que {free_gb} Go libres sur le disque ; cette vidéo demande {need_gb} Go pour être sûr.",
        "Libérez de la place et réessayez.",
    ),
    "storage_full": (
        "Les vidéos gardées ici occupent {used_gb} Go ; la limite est de {limit_gb} Go.",
        "Supprimez les vidéos dont personne n'a besoin, puis réessayez.",
    ),
    "out_of_memory": (
        "Cet ordinateur n'a plus assez de mémoire.",
        "Fermez d'autres programmes ou choisissez une taille plus petite, puis réessayez.",
    ),
    "gpu_memory": (
        "La carte graphique n'a plus assez de mémoire.",
        "Choisissez une taille plus petite ou l'animateur lite, puis réessayez.",
    ),
    "card_busy": (
        "D'autres programmes occupent la mémoire de la carte graphique : la vidéo a besoin de {need_gb} Go et {free_gb} Go sont libres.",
        "Fermez-les, ou choisissez l'animateur lite ou une taille plus petite ; rien n'est perdu.",
    ),
    "memory_rising": (
        "La mémoire gardée entre deux vidéos a augmenté de {rise_mb} Mo en dix minutes.",
        "Le processus de travail est remplacé tout seul ; si cela continue, redémarrez Sonic Studio et signalez-le.",
    ),
    "encoding_failed": (
        "Le fichier vidéo n'a pas pu être écrit.",
        "Réessayez ; votre photo et votre enregistrement sont gardés.",
    ),
    # labels
    "visible_label_missing": (
        "La mention « Généré par IA » n'est pas visible dans l'image.",
        "La vidéo n'a pas été faite ici avec sa mention, ou elle a été recadrée ou couverte.",
    ),
    "picture_unreadable": (
        "L'image de cette vidéo ne peut pas être décodée, la mention visible n'a donc pas pu être cherchée.",
        "Seules les images H.264 sont décodées ; les autres marques ont été vérifiées.",
    ),
    "aigc_missing": (
        "Le fichier n'a pas d'étiquette AIGC.",
        "Les programmes qui en font une nouvelle copie la perdent souvent.",
    ),
    "xmp_missing": (
        "Les données XMP du fichier ne disent pas qu'il a été fait par une IA.",
        "Les programmes qui en font une nouvelle copie les perdent souvent.",
    ),
    "manifest_missing": (
        "Le fichier n'a pas de manifeste C2PA.",
        "Le montage, le réencodage et beaucoup de plateformes l'enlèvent ; seul le fichier d'origine le porte.",
    ),
    "manifest_broken": (
        "Le manifeste C2PA ne correspond pas au fichier : l'un des deux a été modifié après la signature.",
        "Ne vous fiez pas à ce que le manifeste dit de cette vidéo.",
    ),
    "certificate_unusable": (
        "Le certificat qui signe les vidéos ne peut pas être utilisé.",
        "Vérifiez STUDIO_PROVENANCE_CERTIFICATE et STUDIO_PROVENANCE_KEY, ou retirez les deux pour en utiliser un fait sur place.",
    ),
    # weights
    "weights_missing": (
        "Le fichier de poids {file} ({size}) manque dans {place} ; obtenez-le avec `{command}`.",
        "L'animateur lite ne demande aucun téléchargement.",
    ),
    "weights_misplaced": (
        "Le fichier de poids {file} ({size}) doit être dans {place} mais se trouve dans {found} ; déplacez-le, ou obtenez-le avec `{command}`.",
        "L'animateur lite ne demande aucun téléchargement.",
    ),
    "weights_damaged": (
        "Le fichier de poids {file} ({size}) dans {place} ne peut pas être utilisé : {reason} ; obtenez-le à nouveau avec `{command}`.",
        "L'animateur lite ne demande aucun téléchargement.",
    ),
    "weights_wrong": (
        "Le fichier {file} ({size}) dans {place} contient autre chose : {reason} ; obtenez le bon avec `{command}`.",
        "L'animateur lite ne demande aucun téléchargement.",
    ),
    "weights_unknown": ("Il n'y a pas de poids nommés {name}.", "Noms connus : {known}."),
    "weights_refused": (
        "L'éditeur ne donne pas {file} sans licence acceptée.",
        "Acceptez-la sur {page}, créez-y une clé d'accès et mettez-la dans STUDIO_HUB_TOKEN.",
    ),
    "weights_unreachable": (
        "{file} n'a pas pu être téléchargé : {reason}.",
        "Vérifiez la connexion et relancez la même commande ; ce qui est déjà là est gardé.",
    ),
    "weights_disk": (
        "Il n'y a pas assez de place pour les poids : il faut {need_gb} Go, {free_gb} Go sont libres.",
        "Libérez de la place, ou choisissez un autre dossier avec STUDIO_SONIC_WEIGHTS_DIR.",
    ),
    "weights_not_writable": (
        "Les poids ne peuvent pas être enregistrés dans {place}.",
        "Choisissez avec STUDIO_SONIC_WEIGHTS_DIR un dossier où vous pouvez écrire.",
    ),
    # jobs
    "job_not_found": (
        "Cette vidéo n'existe plus.",
        "Elle a peut-être été supprimée ; refaites-la sur la page Créer.",
    ),
    "queue_full": (
        "Trop de vidéos attendent en ce moment ({count}).",
        "Réessayez dans {minutes} min environ, quand l'une d'elles sera terminée.",
    ),
    "too_many_waiting": (
        "Vous avez déjà {count} vidéos en attente ; la file n'en accepte pas plus.",
        "Réessayez dans {minutes} min environ, ou retirez-en une qui attend.",
    ),
    "submitted_too_fast": (
        "C'était rapide : la limite est de {limit} vidéos par minute.",
        "Réessayez dans {seconds} s.",
    ),
    "daily_limit": (
        "Vous avez fait {limit} vidéos en 24 heures, c'est la limite ici.",
        "Revenez dans {hours} h environ.",
    ),
    "broker_unreachable": (
        "Le serveur qui distribue les vidéos aux processus de travail ne répond pas.",
        "Rien n’est perdu : les vidéos en attente seront faites dès son retour.",
    ),
    "storage_unreachable": (
        "Le stockage partagé par les processus de travail ne répond pas.",
        "Rien n’est perdu : les vidéos en attente seront faites dès son retour.",
    ),
    "queue_paused": (
        "Le processus de travail s'est arrêté {count} fois en dix minutes, la file est donc en pause.",
        "Rien n'est perdu. Elle reprendra d'elle-même dans {minutes} min environ, ou quand vous réessaierez.",
    ),
    "worker_stuck": (
        "Le programme qui fait les vidéos est bloqué dans le pilote de la carte graphique et ne peut pas être arrêté.",
        "Redémarrez l'ordinateur ; les vidéos en attente sont gardées et seront faites ensuite.",
    ),
    "canceled": ("La vidéo a été annulée.", "Appuyez sur « Réessayer » pour la faire quand même."),
    "worker_lost": (
        "Le programme qui fait la vidéo s'est arrêté deux fois sans dire pourquoi.",
        "Votre photo et votre enregistrement sont gardés ; réessayez, ou choisissez une taille plus petite.",
    ),
    "timed_out": (
        "La vidéo a pris bien plus de temps que prévu et a été arrêtée.",
        "Réessayez, ou choisissez une taille plus petite.",
    ),
    "data_dir_busy": (
        "Sonic Studio tourne déjà avec ce dossier de données.",
        "Utilisez la fenêtre ouverte, ou démarrez celui-ci avec un autre --data-dir.",
    ),
    "data_dir_too_new": (
        "Ce dossier de données a été écrit par une version plus récente de Sonic Studio.",
        "Mettez Sonic Studio à jour, ou démarrez-le avec un autre --data-dir ; rien n'a été modifié.",
    ),
    "internal": (
        "Une erreur s'est produite de notre côté.",
        "Rien n'est perdu ; réessayez. Les détails sont dans le journal.",
    ),
}

LOCALE = Locale(tag="fr", name="Français", direction="ltr", text=TEXT, errors=ERRORS)
