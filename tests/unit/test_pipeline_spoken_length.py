# ruff: noqa: RUF001 - marks of many scripts look like others
"""How long a text will take to speak, against what the built-in voices really took."""

import pytest

from engine.pipeline.spoken_length import spoken_length_s
from engine.speech.text import clean

TOLERANCE = 0.25


@pytest.mark.parametrize(
    ("language", "text", "measured_s"),
    [
        ("en", "Good morning. This is the first lecture, and it costs $3.50 on 12/05/2024.", 7.43),
        ("en", "Good morning everybody, welcome to the course.", 2.88),
        ("en", "In 1969, 650,000,000 people watched; 3 walked. Call 555-0192 at 14:30.", 8.91),
        ("de", "Guten Morgen. Die Prüfung ist am 12.05.2024 um 14:30 Uhr und kostet 25 €.", 8.6),
        ("es", "Buenos días. El examen es el 12/05/2024 a las 14:30 y cuesta 25,50 €.", 8.6),
        ("fr", "Bonjour à tous et bienvenue dans ce cours de mathématiques.", 3.45),
        ("cmn", "早上好，欢迎大家来上第一堂课。考试在2024年5月12日举行。", 6.25),
        ("ar", "صباح الخير، أهلا بكم في المحاضرة الأولى.", 4.23),
        ("hi", "सुप्रभात, पहले व्याख्यान में आपका स्वागत है।", 3.74),
    ],
)
def test_the_length_is_near_what_a_voice_took(language, text, measured_s):
    assert spoken_length_s(clean(text, 5000), language, 1.0) == pytest.approx(
        measured_s, rel=TOLERANCE
    )


def test_a_fast_voice_needs_less_time():
    text = clean("Good morning everybody, welcome to the course.", 5000)

    assert spoken_length_s(text, "en", 2.0) == pytest.approx(spoken_length_s(text, "en", 1.0) / 2)
