"""What a caller asks for when they ask for a lecture."""

from engine.contracts import Frozen, RenderOptions
from engine.lecture.options import LectureOptions, LectureVoice


class LectureRequest(Frozen):
    """One lecture: slides, what is said to each of them, and who presents.

    What is said is one of: a script, the notes of a PowerPoint file, one recording with the times
    of the slides, or one recording for each slide.

    Attributes:
        portrait: picture of the presenter; only the layout `off` does without.
        slides: one PDF or PowerPoint file, or one picture for each slide, in order.
        script: Markdown with a `# heading` for each slide; with recordings, their known words.
        audio: no recording, one, or one for each slide.
        times: when each slide comes, a line for each, where there is one recording.
        music: a sound file behind the words.
        backdrop: a picture behind the slides, where the background is `picture`.
        options: choices about the look.
        voice: who speaks the script.
        render: choices about how the presenter is drawn: animator, face, strengths, seed.
        consent: the caller states they may use this face and voice.
        title: what lists show, and the name of the video.
        label_language: of the label in the picture.
    """

    portrait: str | None = None
    slides: tuple[str, ...]
    script: str | None = None
    audio: tuple[str, ...] = ()
    times: str | None = None
    music: str | None = None
    backdrop: str | None = None
    options: LectureOptions = LectureOptions()
    voice: LectureVoice = LectureVoice()
    render: RenderOptions = RenderOptions()
    consent: bool = False
    title: str = ""
    label_language: str = "en"
