"""The English sentence and the hint of every `ErrorCode`.

A sentence says what happened; the hint says what to do next. `{name}` is filled from
`EngineError.values`. The command line prints both; the studio's locales translate them.
Never a path, never a traceback, never jargon.
"""

from dataclasses import dataclass

from engine.errors import ErrorCode


@dataclass(frozen=True)
class Message:
    """What a person reads about one code.

    Attributes:
        sentence: what happened, one sentence.
        hint: what to do next, one or two sentences.
    """

    sentence: str
    hint: str


MESSAGES: dict[ErrorCode, Message] = {
    ErrorCode.NO_FACE: Message(
        "No human face was found in this picture.",
        "Use a photo that shows one face from the front, well lit and not covered.",
    ),
    ErrorCode.FACE_TOO_SMALL: Message(
        "The face is too small: {face_px} pixels high, at least {need_px} are needed.",
        "Crop the photo closer to the face, or use a larger version of it.",
    ),
    ErrorCode.SEVERAL_FACES: Message(
        "There are {count} faces; the largest one was chosen.",
        "Pick another face if this is not the one that should speak.",
    ),
    ErrorCode.FACE_TURNED: Message(
        "The head is turned {yaw_deg} degrees to the side.",
        "Use a photo that looks more towards the camera; up to 25 degrees works well.",
    ),
    ErrorCode.FACE_CUT_OFF: Message(
        "Part of the face lies outside the picture.",
        "Use a photo that shows the whole face with a little room around it.",
    ),
    ErrorCode.FACE_NUMBER_WRONG: Message(
        "There is no face number {face}; this picture has {count}, numbered from 0.",
        "Choose one of the faces that were found.",
    ),
    ErrorCode.LOW_RESOLUTION: Message(
        "The face is only {face_px} pixels high, so the video will look soft.",
        "Use a larger version of the photo if you have one.",
    ),
    ErrorCode.PHOTO_BLURRED: Message(
        "The face is blurred, so the video will be blurred too.",
        "Use a sharper photo if you have one.",
    ),
    ErrorCode.PHOTO_TOO_DARK: Message(
        "The face is very dark.",
        "Use a brighter photo, or brighten this one first.",
    ),
    ErrorCode.PHOTO_OVEREXPOSED: Message(
        "Much of the face is burnt out to white.",
        "Use a photo with softer light if you have one.",
    ),
    ErrorCode.MOUTH_COVERED: Message(
        "The mouth seems to be covered; what covers it will move with the lips.",
        "Use a photo that shows the mouth.",
    ),
    ErrorCode.NOT_AN_IMAGE: Message(
        "This file is not a picture.",
        "Use a JPEG, PNG, WebP, HEIC, AVIF, TIFF, BMP or GIF picture.",
    ),
    ErrorCode.DAMAGED_IMAGE: Message(
        "The picture file is damaged and cannot be opened.",
        "Copy or download the photo again, or save it anew from a picture viewer.",
    ),
    ErrorCode.IMAGE_TOO_LARGE: Message(
        "The picture is too large: {megapixels} megapixels, the limit is {limit_megapixels}.",
        "Save a smaller version of it; 2,000 pixels on the long side are plenty.",
    ),
    ErrorCode.IMAGE_TOO_SMALL: Message(
        "The picture is too small: {width_px} x {height_px} pixels.",
        "Use a photo with at least {need_px} pixels on each side.",
    ),
    ErrorCode.IMAGE_TOO_HEAVY: Message(
        "Opening this picture takes more memory than is allowed here ({limit_mb} MB).",
        "Save a smaller version of it; 2,000 pixels on the long side are plenty.",
    ),
    ErrorCode.IMAGE_FORMAT_UNSUPPORTED: Message(
        "Pictures of this kind ({format}) cannot be read.",
        "Save it as PNG or JPEG and try again.",
    ),
    ErrorCode.FIRST_FRAME_USED: Message(
        "This picture has several frames; only the first one is used.",
        "Save the frame you prefer as a PNG picture if it should be another one.",
    ),
    ErrorCode.NOT_AUDIO: Message(
        "This file is not a sound recording.",
        "Use a WAV, MP3, M4A, FLAC, OGG, Opus, WebM, AIFF, AMR or WMA file, or a video with sound.",
    ),
    ErrorCode.DAMAGED_AUDIO: Message(
        "The sound file is damaged and cannot be read.",
        "Export or download the recording again.",
    ),
    ErrorCode.AUDIO_TOO_SHORT: Message(
        "The recording is too short: {duration_s} seconds, at least {need_s} are needed.",
        "Record a little more speech.",
    ),
    ErrorCode.AUDIO_TOO_LONG: Message(
        "The recording is too long: {duration_min} minutes, the limit is {limit_min}.",
        "Cut it into parts and make one video of each.",
    ),
    ErrorCode.SILENT: Message(
        "Nothing can be heard in this recording.",
        "Check the microphone or choose another file.",
    ),
    ErrorCode.NO_AUDIO_TRACK: Message(
        "This file has no sound.",
        "Choose a recording, or a video that has sound.",
    ),
    ErrorCode.NO_SPEECH: Message(
        "No speech was recognised in this recording; the mouth may hardly move.",
        "Check that the right file was chosen.",
    ),
    ErrorCode.AUDIO_PARTLY_DAMAGED: Message(
        "Parts of the recording are damaged; what could be read is used.",
        "Listen to the result; export the recording again if something is missing.",
    ),
    ErrorCode.EMPTY_FILE: Message(
        "The file is empty.",
        "Choose another file, or copy it again.",
    ),
    ErrorCode.FILE_TOO_LARGE: Message(
        "The file is too large: {size_mb} MB, the limit is {limit_mb} MB.",
        "Use a smaller file.",
    ),
    ErrorCode.FILE_NOT_FOUND: Message(
        "The file does not exist or cannot be read: {name}.",
        "Check the name and try again.",
    ),
    ErrorCode.PROBE_TIMEOUT: Message(
        "The file could not be checked in time.",
        "Try again; if it happens twice, save the file in another format.",
    ),
    ErrorCode.NOT_A_VIDEO: Message(
        "This file is neither a video nor a sound that can be read here.",
        "Choose an MP4 video or a WAV sound that was made with Sonic Studio.",
    ),
    ErrorCode.TEXT_EMPTY: Message(
        "There is nothing to say yet.",
        "Type at least one word.",
    ),
    ErrorCode.TEXT_TOO_LONG: Message(
        "The text is too long: {count} characters, the limit is {limit}.",
        "Shorten it, or make several videos.",
    ),
    ErrorCode.TEXT_UNREADABLE: Message(
        "The voice {voice} cannot read these characters: {characters}",
        "Choose another voice, or write the words as they sound (Japanese: in kana).",
    ),
    ErrorCode.SENTENCE_FAILED: Message(
        'This sentence could not be spoken: "{sentence}"',
        "Change its words, or choose another voice.",
    ),
    ErrorCode.EMOJI_DROPPED: Message(
        "Emoji are not spoken; they were left out.",
        "Write the words instead if they should be heard.",
    ),
    ErrorCode.MARKUP_REMOVED: Message(
        "Tags and formatting marks were left out.",
        "Write plain text if something is missing.",
    ),
    ErrorCode.OTHER_VOICE_USED: Message(
        "Words in another writing system were spoken by another voice.",
        "Choose a voice of that language, or write these words in the voice's own letters.",
    ),
    ErrorCode.PARTLY_UNSPOKEN: Message(
        "Some characters could not be spoken by any voice here and were left out.",
        "Write these words in another way.",
    ),
    ErrorCode.STYLE_IGNORED: Message(
        "This voice has only one way of speaking; the style was not used.",
        "Choose a voice that offers styles.",
    ),
    ErrorCode.VOICE_UNKNOWN: Message(
        "There is no voice called {voice}.",
        "Choose a voice from the list.",
    ),
    ErrorCode.VOICE_UNAVAILABLE: Message(
        "The voice {voice} cannot be used on this machine.",
        "Choose another voice.",
    ),
    ErrorCode.VOICE_NOT_INSTALLED: Message(
        "The voice {voice} is not on this computer yet (a download of up to {size_mb} MB).",
        "Get it with `python3 bootstrap.py voices get {voice_id}`, or choose another voice.",
    ),
    ErrorCode.VOICE_SETUP_FAILED: Message(
        "What {voice} needs could not be installed: {reason}",
        "Everything else works as before. Check the network and the disk, then try again.",
    ),
    ErrorCode.SPEECH_SERVER_FAILED: Message(
        "The speech server does not speak: it answered {status}.",
        "Choose a voice of this computer, such as {other}, or check the server and its address.",
    ),
    ErrorCode.SPEECH_SERVER_AWAY: Message(
        "The speech server does not answer.",
        "Choose a voice of this computer, such as {other}, or check the server and its address.",
    ),
    ErrorCode.SPEECH_SERVER_NO_SOUND: Message(
        "The speech server sent something that is not a WAV file.",
        "Choose a voice of this computer, such as {other}, or check the server and its address.",
    ),
    ErrorCode.SPEECH_SERVER_TOO_MUCH: Message(
        "The answer of the speech server is far too large.",
        "Choose a voice of this computer, such as {other}, or check the server and its address.",
    ),
    ErrorCode.SPEECH_ADDRESS_WRONG: Message(
        "The address of the speech server must begin with http:// or https:// and hold no "
        "password.",
        "Write it like http://192.168.1.20:8880, or choose a voice of this computer, such as "
        "{other}.",
    ),
    ErrorCode.SPEECH_ADDRESS_UNKNOWN: Message(
        "The address of the speech server is not known on this network.",
        "Check how it is spelled, or choose a voice of this computer, such as {other}.",
    ),
    ErrorCode.SPEECH_ADDRESS_OUTSIDE: Message(
        "The address of the speech server is not on this computer or a private network.",
        "Use a server of your own network, or choose a voice of this computer, such as {other}.",
    ),
    ErrorCode.LANGUAGE_UNSUPPORTED: Message(
        "No installed voice speaks the language {language}.",
        "Choose another language, or upload a recording.",
    ),
    ErrorCode.SCRIPT_MISMATCH: Message(
        "The given text does not seem to be what is said in the recording, so it was not used: "
        "the mouth follows the sound alone, and there are no captions.",
        "Check that text and recording belong together, word for word.",
    ),
    ErrorCode.SCRIPT_UNREADABLE: Message(
        "The given text cannot be read here, so it was not used: "
        "the mouth follows the sound alone, and there are no captions.",
        "Write the words as they sound (Japanese: in kana), or leave the text out.",
    ),
    ErrorCode.CAPTIONS_NEED_TEXT: Message(
        "Captions need a typed text; what is said in a recording is not known.",
        "Type the text and choose a voice, or make the video without captions.",
    ),
    ErrorCode.TRANSLATOR_MISSING: Message(
        "No translator is installed here.",
        "Write the translations yourself, or fetch it once with `weights get translator`.",
    ),
    ErrorCode.TRANSLATION_UNSUPPORTED: Message(
        "The translator does not know the language {language}.",
        "Write this translation yourself.",
    ),
    ErrorCode.CAPTIONS_RECOGNISED: Message(
        "The captions were written down from the recording by the recogniser.",
        "Read them before you show the video; names may be misheard.",
    ),
    ErrorCode.NOTHING_UNDERSTOOD: Message(
        "No words were understood in the recording, so there are no captions.",
        "Give the words of the recording, then the captions are made from them.",
    ),
    ErrorCode.CAPTIONS_UNDRAWABLE: Message(
        "These letters cannot be drawn into the picture: {characters}",
        "Choose captions as a file beside the video; players show every writing system.",
    ),
    ErrorCode.TABLE_UNREADABLE: Message(
        "The table cannot be read: a quotation mark or a bracket in it is not closed, or it is no "
        "list of rows.",
        "Save it as CSV in UTF-8, or as JSON, "
        "with the columns name, language, voice, text and audio.",
    ),
    ErrorCode.SCRIPT_PARTLY_SAID: Message(
        "A part of the given text is not heard in the recording: mouth and captions may be wrong "
        "there.",
        "Take out what is not said, then make the video again.",
    ),
    ErrorCode.CAPTIONS_NOT_DRAWN: Message(
        "The captions have letters that cannot be drawn into the picture, so the picture has none.",
        "They are complete in the files beside the video; players show every writing system.",
    ),
    ErrorCode.TABLE_NOT_TEXT: Message(
        "The table is not a text file in UTF-8.",
        "Save it as CSV in UTF-8, or as JSON.",
    ),
    ErrorCode.TABLE_TOO_LARGE: Message(
        "The table is larger than {limit_mb} MB.",
        "Split it into several tables; a recording is a file of its own.",
    ),
    ErrorCode.TABLE_NAMELESS: Message(
        "The first row of the table does not name its columns.",
        "Write text or audio above its column, and language, voice and name above theirs.",
    ),
    ErrorCode.TABLE_CELL: Message(
        "Row {row} of the table has a value under {column} that cannot be used.",
        "Correct it; speed is a number from 0.5 to 2.",
    ),
    ErrorCode.VOICE_SILENT: Message(
        "The voice {voice} made no sound at all.",
        "Choose another voice; if this one stays silent, fetch its files again.",
    ),
    ErrorCode.VOICE_SPEAKS_OTHER: Message(
        "The voice {voice} does not speak this language: {language}",
        "Choose another voice, or none: then the best one for the language is taken.",
    ),
    ErrorCode.TABLE_EMPTY: Message(
        "The table has no rows.",
        "Give each video a row with a text or a recording.",
    ),
    ErrorCode.TABLE_TOO_LONG: Message(
        "The table has {count} rows, at most {limit} can be made at once.",
        "Make the first {limit} now and the others afterwards.",
    ),
    ErrorCode.ROW_EMPTY: Message(
        "This row has neither a text nor a recording.",
        "Give it one of them, or remove it.",
    ),
    ErrorCode.SLIDES_UNREADABLE: Message(
        "This file holds no slides.",
        "Use a PDF, a PowerPoint file (.pptx) or pictures, one for each slide.",
    ),
    ErrorCode.SLIDES_DAMAGED: Message(
        "The file with the slides is damaged and cannot be opened.",
        "Save the slides as PDF again and use the new file.",
    ),
    ErrorCode.SLIDES_LOCKED: Message(
        "The file with the slides is protected by a password.",
        "Save a copy without a password and use that.",
    ),
    ErrorCode.SLIDES_NONE: Message(
        "There are no slides.",
        "Choose a PDF, a PowerPoint file or pictures with at least one slide.",
    ),
    ErrorCode.SLIDES_MIXED: Message(
        "Several files were given, and not all of them are pictures.",
        "Use one PDF or PowerPoint file, or only pictures, one for each slide.",
    ),
    ErrorCode.SLIDES_TOO_MANY: Message(
        "There are {count} slides, the limit is {limit}.",
        "Split the slides into several lectures.",
    ),
    ErrorCode.SLIDE_TOO_LARGE: Message(
        "Page {number} of the slides is far too large or far too narrow.",
        "Set its size to that of a screen, such as 16:9, and save the PDF again.",
    ),
    ErrorCode.SLIDES_TOO_HEAVY: Message(
        "A slide needs more than {limit_mb} MB of memory to open.",
        "Make its pictures smaller, or save the slides as PDF with smaller pictures.",
    ),
    ErrorCode.SLIDES_NEED_OFFICE: Message(
        "PowerPoint files are opened with LibreOffice, which is not installed on this computer.",
        "Save the slides as PDF in PowerPoint and use that, or install LibreOffice.",
    ),
    ErrorCode.SCRIPT_MISSING: Message(
        "Nothing is said to the slides.",
        "Add a script, notes in the PowerPoint file, or a recording.",
    ),
    ErrorCode.SCRIPT_WITHOUT_HEADING: Message(
        "Line {line} of the script stands before any heading, so it belongs to no slide.",
        "Begin the part of each slide with a line such as # Welcome.",
    ),
    ErrorCode.SCRIPT_SECTION_EMPTY: Message(
        "The script says nothing to slide {number} ({heading}).",
        "Write what is said there, or [pause 4] to show the slide for 4 seconds.",
    ),
    ErrorCode.SCRIPT_SECTION_LONG: Message(
        "The text of slide {number} has {count} characters, the limit is {limit}.",
        "Split the slide into two, each with a part of the text.",
    ),
    ErrorCode.SCRIPT_TOO_LONG: Message(
        "The script has {count} characters, the limit is {limit}.",
        "Split it into several lectures.",
    ),
    ErrorCode.SCRIPT_TOO_MANY: Message(
        "The script has text for {sections} slides, but there are only {slides}.",
        "Remove headings that have no slide; each line that begins with # is one.",
    ),
    ErrorCode.SCRIPT_TOO_FEW: Message(
        "The script has text for {sections} of {slides} slides.",
        "Add a heading for each missing slide; [pause 4] below it shows the slide without words.",
    ),
    ErrorCode.TIMES_UNREADABLE: Message(
        "Line {line} of the slide times cannot be read.",
        "Write one time a line, such as 1:23.5 or 83.5.",
    ),
    ErrorCode.TIMES_NOT_RISING: Message(
        "The time in line {line} is not later than the one before it.",
        "Put the slide times in order.",
    ),
    ErrorCode.TIMES_COUNT: Message(
        "The number of slide times is {times}, the number of slides {slides}.",
        "Give a time for every slide, or for every slide but the first.",
    ),
    ErrorCode.TIMES_TOO_LATE: Message(
        "The last slide comes at {time}, but the recording ends at {duration}.",
        "Check the slide times against the recording.",
    ),
    ErrorCode.RECORDINGS_COUNT: Message(
        "The number of recordings is {recordings}, the number of slides {slides}.",
        "Give one recording for each slide, or one recording with the times of the slides.",
    ),
    ErrorCode.PORTRAIT_MISSING: Message(
        "A lecture with a presenter needs a photo of them.",
        "Add a photo, or choose to make the lecture without a presenter.",
    ),
    ErrorCode.BAD_OPTION: Message(
        "The value of {option} cannot be used: {reason}.",
        "Change it and try again.",
    ),
    ErrorCode.ANIMATOR_UNAVAILABLE: Message(
        "The {animator} animator is not ready on this machine: {reason}.",
        "Use the lite animator, which needs no card and no download.",
    ),
    ErrorCode.CONSENT_MISSING: Message(
        "Please confirm that you may use this face and voice.",
        "Tick the consent box and press the button again.",
    ),
    ErrorCode.OUTPUT_NOT_WRITABLE: Message(
        "The video cannot be saved there.",
        "Choose a folder that exists and that you may write to.",
    ),
    ErrorCode.DISK_FULL: Message(
        "The disk is full, so the video could not be finished.",
        "Free some space and try again; your photo and recording are kept.",
    ),
    ErrorCode.DISK_LOW: Message(
        "Only {free_gb} GB of the disk are free; this video needs {need_gb} GB to be safe.",
        "Free some space and try again.",
    ),
    ErrorCode.STORAGE_FULL: Message(
        "The videos kept here take {used_gb} GB; the limit is {limit_gb} GB.",
        "Delete videos that nobody needs, then try again.",
    ),
    ErrorCode.OUT_OF_MEMORY: Message(
        "This computer ran out of memory.",
        "Close other programs or choose a smaller size, then try again.",
    ),
    ErrorCode.GPU_MEMORY: Message(
        "The graphics card ran out of memory.",
        "Choose a smaller size or the lite animator, then try again.",
    ),
    ErrorCode.CARD_NOT_LENT: Message(
        "The shared graphics card was not lent for the {seconds} s this video needs: the quota may "
        "be used up.",
        "Sign in, come back later, or choose a shorter text or the lite animator.",
    ),
    ErrorCode.CARD_BUSY: Message(
        "Other programs hold the graphics card's memory: the video needs {need_gb} GB and "
        "{free_gb} GB are free.",
        "Close them, or choose the lite animator or a smaller size; nothing of yours is lost.",
    ),
    ErrorCode.MEMORY_RISING: Message(
        "The memory held between videos has grown by {rise_mb} MB in ten minutes.",
        "The worker is replaced by itself; if this goes on, restart Sonic Studio and report it.",
    ),
    ErrorCode.ENCODING_FAILED: Message(
        "The video file could not be written.",
        "Try again; your photo and recording are kept.",
    ),
    ErrorCode.VISIBLE_LABEL_MISSING: Message(
        'The words "AI-generated" are not seen in the picture.',
        "The video was not made here with its label, or was cropped or painted over.",
    ),
    ErrorCode.PICTURE_UNREADABLE: Message(
        "The picture of this video cannot be decoded, so its visible label could not be "
        "looked for.",
        "Only H.264 pictures are decoded; the other labels were checked.",
    ),
    ErrorCode.AIGC_MISSING: Message(
        "The file has no AIGC tag.",
        "Programs that make a new copy often drop it.",
    ),
    ErrorCode.XMP_MISSING: Message(
        "The file's XMP data does not say that it was made by AI.",
        "Programs that make a new copy often drop it.",
    ),
    ErrorCode.MANIFEST_MISSING: Message(
        "The file has no C2PA manifest.",
        "Editing, re-encoding and many platforms remove it; only the original file carries it.",
    ),
    ErrorCode.MANIFEST_BROKEN: Message(
        "The C2PA manifest does not fit the file: one of them was changed after signing.",
        "Do not trust what the manifest says about this file.",
    ),
    ErrorCode.CERTIFICATE_UNUSABLE: Message(
        "The certificate that signs videos cannot be used.",
        "Check STUDIO_PROVENANCE_CERTIFICATE and STUDIO_PROVENANCE_KEY, or remove both to "
        "use a self-made one.",
    ),
    ErrorCode.ACCOUNT_NAME_BAD: Message(
        "This name cannot be used for an account.",
        "Use up to 64 small letters, digits, dots, dashes, underscores or @, beginning with "
        "a letter or digit.",
    ),
    ErrorCode.PASSWORD_TOO_SHORT: Message(
        "The password needs at least {need} characters.",
        "Three or four words in a row are easy to keep in mind.",
    ),
    ErrorCode.ACCOUNT_UNKNOWN: Message(
        "There is no account {name}.",
        "`user list` names every account.",
    ),
    ErrorCode.ACCOUNTS_UNREADABLE: Message(
        "The file with the accounts is damaged, so nobody can log in.",
        "Remove accounts.json from the data folder and make the accounts again with `user "
        "add NAME`.",
    ),
    ErrorCode.WEIGHTS_MISSING: Message(
        "The weights file {file} ({size}) is missing from {place}; get it with `{command}`.",
        "The lite animator needs no download.",
    ),
    ErrorCode.WEIGHTS_MISPLACED: Message(
        "The weights file {file} ({size}) belongs in {place} but lies in {found}; "
        "move it, or get it with `{command}`.",
        "The lite animator needs no download.",
    ),
    ErrorCode.WEIGHTS_DAMAGED: Message(
        "The weights file {file} ({size}) in {place} cannot be used: {reason}; "
        "get it anew with `{command}`.",
        "The lite animator needs no download.",
    ),
    ErrorCode.WEIGHTS_WRONG: Message(
        "The file {file} ({size}) in {place} holds something else: {reason}; "
        "get the right one with `{command}`.",
        "The lite animator needs no download.",
    ),
    ErrorCode.WEIGHTS_UNKNOWN: Message(
        "There are no weights called {name}.",
        "Known names: {known}.",
    ),
    ErrorCode.WEIGHTS_REFUSED: Message(
        "The publisher does not give out {file} without an accepted licence.",
        "Accept it on {page}, make an access token there and set it as STUDIO_HUB_TOKEN.",
    ),
    ErrorCode.WEIGHTS_UNREACHABLE: Message(
        "{file} could not be downloaded: {reason}.",
        "Check the connection and run the same command again; what is already here is kept.",
    ),
    ErrorCode.WEIGHTS_DISK: Message(
        "There is not enough room for the weights: {need_gb} GB are needed, {free_gb} GB are free.",
        "Free some space, or choose another folder with STUDIO_SONIC_WEIGHTS_DIR.",
    ),
    ErrorCode.WEIGHTS_NOT_WRITABLE: Message(
        "The weights cannot be saved in {place}.",
        "Choose a folder that you may write to with STUDIO_SONIC_WEIGHTS_DIR.",
    ),
    ErrorCode.JOB_NOT_FOUND: Message(
        "This video does not exist any more.",
        "It may have been deleted; make it again from the Create page.",
    ),
    ErrorCode.QUEUE_FULL: Message(
        "Too many videos are waiting right now ({count}).",
        "Try again in about {minutes} min, when one of them is finished.",
    ),
    ErrorCode.TOO_MANY_WAITING: Message(
        "You already have {count} videos waiting; more do not fit in the queue.",
        "Try again in about {minutes} min, or remove one that waits.",
    ),
    ErrorCode.SUBMITTED_TOO_FAST: Message(
        "That was quick: {limit} videos in a minute are the limit.",
        "Try again in {seconds} s.",
    ),
    ErrorCode.DAILY_LIMIT: Message(
        "You have made {limit} videos within 24 hours, which is the limit here.",
        "Come back in about {hours} h.",
    ),
    ErrorCode.BROKER_UNREACHABLE: Message(
        "The server that hands videos to the workers does not answer.",
        "Nothing is lost: waiting videos are made when it is back.",
    ),
    ErrorCode.STORAGE_UNREACHABLE: Message(
        "The storage that the workers share does not answer.",
        "Nothing is lost: waiting videos are made when it is back.",
    ),
    ErrorCode.QUEUE_PAUSED: Message(
        "The worker stopped {count} times within ten minutes, so the queue is paused.",
        "Nothing is lost. It goes on by itself in about {minutes} min, or when you try again.",
    ),
    ErrorCode.WORKER_STUCK: Message(
        "The program that makes the videos hangs in the driver of the graphics card and cannot be "
        "ended.",
        "Restart the computer; the videos that wait are kept and made afterwards.",
    ),
    ErrorCode.CANCELED: Message(
        "The video was canceled.",
        "Try again to make it after all.",
    ),
    ErrorCode.WORKER_LOST: Message(
        "The program that makes the video stopped twice without a reason given.",
        "Your photo and recording are kept; try again, or choose a smaller size.",
    ),
    ErrorCode.TIMED_OUT: Message(
        "The video took far longer than expected and was stopped.",
        "Try again, or choose a smaller size.",
    ),
    ErrorCode.DATA_DIR_BUSY: Message(
        "Sonic Studio is already running with this data folder.",
        "Use the window that is open, or start this one with another --data-dir.",
    ),
    ErrorCode.DATA_DIR_TOO_NEW: Message(
        "This data folder was written by a newer version of Sonic Studio.",
        "Update Sonic Studio, or start it with another --data-dir; nothing was changed.",
    ),
    ErrorCode.INTERNAL: Message(
        "Something went wrong on our side.",
        "Nothing of yours was lost; try again. The logs in the data folder have the details.",
    ),
}


class _KeepUnknown(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return "?"


def describe(code: ErrorCode, values: dict[str, object] | None = None) -> Message:
    """Fill the sentence and hint of `code`; a value nobody gave shows as ``?``."""
    message = MESSAGES[code]
    filled = _KeepUnknown(values or {})
    return Message(message.sentence.format_map(filled), message.hint.format_map(filled))
