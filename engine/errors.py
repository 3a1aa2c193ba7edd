"""The errors of the product: one stable code for everything that can go wrong.

The tree::

    EngineError                 anything the product can explain
    ├── InputError              the user's file, text or choice cannot be used (exit 2)
    ├── Canceled                the user asked to stop
    └── WorkerLost              the process that did the work ended unexpectedly

Code decides, never the wording: the English sentence and hint of each code live in
`engine.messages`, their translations in `studio.locales`.
"""

from enum import StrEnum


class ErrorCode(StrEnum):
    """Stable words for every verdict, refusal and failure; callers may compare them."""

    # portrait
    NO_FACE = "no_face"
    FACE_TOO_SMALL = "face_too_small"
    SEVERAL_FACES = "several_faces"
    FACE_TURNED = "face_turned"
    FACE_CUT_OFF = "face_cut_off"
    FACE_NUMBER_WRONG = "face_number_wrong"
    LOW_RESOLUTION = "low_resolution"
    PHOTO_BLURRED = "photo_blurred"
    PHOTO_TOO_DARK = "photo_too_dark"
    PHOTO_OVEREXPOSED = "photo_overexposed"
    MOUTH_COVERED = "mouth_covered"
    NOT_AN_IMAGE = "not_an_image"
    DAMAGED_IMAGE = "damaged_image"
    IMAGE_TOO_LARGE = "image_too_large"
    IMAGE_TOO_SMALL = "image_too_small"
    IMAGE_TOO_HEAVY = "image_too_heavy"
    IMAGE_FORMAT_UNSUPPORTED = "image_format_unsupported"
    FIRST_FRAME_USED = "first_frame_used"
    # speech
    NOT_AUDIO = "not_audio"
    DAMAGED_AUDIO = "damaged_audio"
    AUDIO_TOO_SHORT = "audio_too_short"
    AUDIO_TOO_LONG = "audio_too_long"
    SILENT = "silent"
    NO_AUDIO_TRACK = "no_audio_track"
    NO_SPEECH = "no_speech"
    AUDIO_PARTLY_DAMAGED = "audio_partly_damaged"
    # any file
    EMPTY_FILE = "empty_file"
    FILE_TOO_LARGE = "file_too_large"
    FILE_NOT_FOUND = "file_not_found"
    PROBE_TIMEOUT = "probe_timeout"
    NOT_A_VIDEO = "not_a_video"
    # text and voices
    TEXT_EMPTY = "text_empty"
    TEXT_TOO_LONG = "text_too_long"
    TEXT_UNREADABLE = "text_unreadable"
    SENTENCE_FAILED = "sentence_failed"
    EMOJI_DROPPED = "emoji_dropped"
    MARKUP_REMOVED = "markup_removed"
    OTHER_VOICE_USED = "other_voice_used"
    PARTLY_UNSPOKEN = "partly_unspoken"
    STYLE_IGNORED = "style_ignored"
    VOICE_UNKNOWN = "voice_unknown"
    VOICE_SPEAKS_OTHER = "voice_speaks_other"
    VOICE_SILENT = "voice_silent"
    VOICE_UNAVAILABLE = "voice_unavailable"
    VOICE_NOT_INSTALLED = "voice_not_installed"
    VOICE_SETUP_FAILED = "voice_setup_failed"
    SPEECH_SERVER_FAILED = "speech_server_failed"
    SPEECH_SERVER_AWAY = "speech_server_away"
    SPEECH_SERVER_NO_SOUND = "speech_server_no_sound"
    SPEECH_SERVER_TOO_MUCH = "speech_server_too_much"
    SPEECH_ADDRESS_WRONG = "speech_address_wrong"
    SPEECH_ADDRESS_UNKNOWN = "speech_address_unknown"
    SPEECH_ADDRESS_OUTSIDE = "speech_address_outside"
    LANGUAGE_UNSUPPORTED = "language_unsupported"
    SCRIPT_MISMATCH = "script_mismatch"
    SCRIPT_UNREADABLE = "script_unreadable"
    SCRIPT_PARTLY_SAID = "script_partly_said"
    CAPTIONS_NEED_TEXT = "captions_need_text"
    TRANSLATOR_MISSING = "translator_missing"
    TRANSLATION_UNSUPPORTED = "translation_unsupported"
    CAPTIONS_RECOGNISED = "captions_recognised"
    NOTHING_UNDERSTOOD = "nothing_understood"
    CAPTIONS_UNDRAWABLE = "captions_undrawable"
    CAPTIONS_NOT_DRAWN = "captions_not_drawn"
    # tables of rows
    TABLE_UNREADABLE = "table_unreadable"
    TABLE_NOT_TEXT = "table_not_text"
    TABLE_TOO_LARGE = "table_too_large"
    TABLE_NAMELESS = "table_nameless"
    TABLE_CELL = "table_cell"
    TABLE_EMPTY = "table_empty"
    TABLE_TOO_LONG = "table_too_long"
    ROW_EMPTY = "row_empty"
    # lectures
    SLIDES_UNREADABLE = "slides_unreadable"
    SLIDES_DAMAGED = "slides_damaged"
    SLIDES_LOCKED = "slides_locked"
    SLIDES_NONE = "slides_none"
    SLIDES_MIXED = "slides_mixed"
    SLIDES_TOO_MANY = "slides_too_many"
    SLIDE_TOO_LARGE = "slide_too_large"
    SLIDES_TOO_HEAVY = "slides_too_heavy"
    SLIDES_NEED_OFFICE = "slides_need_office"
    SCRIPT_MISSING = "script_missing"
    SCRIPT_WITHOUT_HEADING = "script_without_heading"
    SCRIPT_SECTION_EMPTY = "script_section_empty"
    SCRIPT_SECTION_LONG = "script_section_long"
    SCRIPT_TOO_LONG = "script_too_long"
    SCRIPT_TOO_MANY = "script_too_many"
    SCRIPT_TOO_FEW = "script_too_few"
    TIMES_UNREADABLE = "times_unreadable"
    TIMES_NOT_RISING = "times_not_rising"
    TIMES_COUNT = "times_count"
    TIMES_TOO_LATE = "times_too_late"
    RECORDINGS_COUNT = "recordings_count"
    PORTRAIT_MISSING = "portrait_missing"
    # options and machine
    BAD_OPTION = "bad_option"
    ANIMATOR_UNAVAILABLE = "animator_unavailable"
    CONSENT_MISSING = "consent_missing"
    OUTPUT_NOT_WRITABLE = "output_not_writable"
    DISK_FULL = "disk_full"
    DISK_LOW = "disk_low"
    STORAGE_FULL = "storage_full"
    OUT_OF_MEMORY = "out_of_memory"
    GPU_MEMORY = "gpu_memory"
    MEMORY_RISING = "memory_rising"
    CARD_BUSY = "card_busy"
    CARD_NOT_LENT = "card_not_lent"
    ENCODING_FAILED = "encoding_failed"
    # labels
    VISIBLE_LABEL_MISSING = "visible_label_missing"
    PICTURE_UNREADABLE = "picture_unreadable"
    AIGC_MISSING = "aigc_missing"
    XMP_MISSING = "xmp_missing"
    MANIFEST_MISSING = "manifest_missing"
    MANIFEST_BROKEN = "manifest_broken"
    CERTIFICATE_UNUSABLE = "certificate_unusable"
    # accounts
    ACCOUNT_NAME_BAD = "account_name_bad"
    PASSWORD_TOO_SHORT = "password_too_short"  # noqa: S105 - a code, no password
    ACCOUNT_UNKNOWN = "account_unknown"
    ACCOUNTS_UNREADABLE = "accounts_unreadable"
    # weights
    WEIGHTS_MISSING = "weights_missing"
    WEIGHTS_MISPLACED = "weights_misplaced"
    WEIGHTS_DAMAGED = "weights_damaged"
    WEIGHTS_WRONG = "weights_wrong"
    WEIGHTS_UNKNOWN = "weights_unknown"
    WEIGHTS_REFUSED = "weights_refused"
    WEIGHTS_UNREACHABLE = "weights_unreachable"
    WEIGHTS_DISK = "weights_disk"
    WEIGHTS_NOT_WRITABLE = "weights_not_writable"
    # jobs
    JOB_NOT_FOUND = "job_not_found"
    QUEUE_FULL = "queue_full"
    TOO_MANY_WAITING = "too_many_waiting"
    SUBMITTED_TOO_FAST = "submitted_too_fast"
    DAILY_LIMIT = "daily_limit"
    QUEUE_PAUSED = "queue_paused"
    WORKER_STUCK = "worker_stuck"
    BROKER_UNREACHABLE = "broker_unreachable"
    STORAGE_UNREACHABLE = "storage_unreachable"
    CANCELED = "canceled"
    WORKER_LOST = "worker_lost"
    TIMED_OUT = "timed_out"
    DATA_DIR_BUSY = "data_dir_busy"
    DATA_DIR_TOO_NEW = "data_dir_too_new"
    INTERNAL = "internal"


class EngineError(Exception):
    """Anything the product can explain in one plain sentence.

    Attributes:
        code: which sentence to show.
        values: numbers and names the sentence needs, e.g. ``{"need_px": 50}``.
        retryable: whether the same job may succeed on another attempt.
    """

    retryable = False

    def __init__(self, code: ErrorCode, /, **values: object) -> None:
        super().__init__(code.value)
        self.code = code
        self.values = values


class InputError(EngineError):
    """The user's file, text or choice cannot be used as it is."""


class Canceled(EngineError):
    """The user asked to stop; nothing failed."""

    def __init__(self) -> None:
        super().__init__(ErrorCode.CANCELED)


class WorkerLost(EngineError):
    """The process that did the work ended unexpectedly; kept outputs are safe."""

    retryable = True

    def __init__(self) -> None:
        super().__init__(ErrorCode.WORKER_LOST)
