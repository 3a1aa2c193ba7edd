# ruff: noqa: RUF001 - IPA letters look like others by nature
"""Where the trainer takes recorded people from, and its second aligner's search."""

import numpy as np
import pytest

pytest.importorskip("pocketsphinx")  # whose word list the aligner reads

from training.lipsync.p2fa import PAUSE, SILENCE, P2fa, plp
from training.lipsync.recordings import game_lines

STATES = 3
MOVES = np.log(np.full((STATES, 2), 0.5))


def test_a_line_of_the_script_belongs_to_the_sound_of_its_name(tmp_path):
    script = tmp_path / "script" / "city"
    script.mkdir(parents=True)
    (script / "dialogs_cs.lua").write_text(
        'dialogId("vit-1", "font", "Welcome.")\ndialogStr("Vítejte v našem městě.")\n\n'
        'dialogId("vit-2", "font", "Silent.")\ndialogStr("Bez zvuku.")\n\n'
        'dialogId("vit-3", "font", "Pier 5.")\ndialogStr("U mola 5.")\n',
        encoding="utf-8",
    )
    sounds = tmp_path / "sound" / "city" / "cs"
    sounds.mkdir(parents=True)
    for name in ("vit-1", "vit-3"):
        (sounds / f"{name}.ogg").touch()
    found = list(game_lines(tmp_path / "sound", tmp_path / "script", "cs"))
    assert found == [(sounds / "vit-1.ogg", "Vítejte v našem městě.")]


def scores(count, true_spans):
    """Each phone is likely in its own span of frames alone."""
    table = {}
    for name, (first, last) in true_spans.items():
        size = 1 if name == PAUSE else STATES
        row = np.full((count, size), -10.0)
        row[first:last] = 0.0
        table[name] = (row, MOVES[:size])
    return table


@pytest.mark.parametrize("pause", [(30, 40), (0, 0)], ids=["pause", "no pause"])
def test_the_search_finds_every_sound_and_skips_a_pause_that_is_none(pause):
    begin = 40 if pause[1] else 30
    spans = {"M": (10, 30), "AA": (begin, 60), PAUSE: pause}
    table = scores(80, spans)
    table[SILENCE] = (np.full((80, STATES), -3.0), MOVES)
    _, found = P2fa._search([[["M"]], [["AA"]]], [0, 0], table, 80)
    shifted = [(ipa, round(100 * a - 0.75), round(100 * b - 0.75)) for ipa, a, b in found]
    assert shifted == [("m", 10, 30), ("ɑ", begin, 60)]


def test_features_do_not_depend_on_the_level():
    sound = np.random.default_rng(1).normal(size=11_025).astype(np.float32)
    loud, soft = plp(sound * 0.3), plp(sound * 0.03)
    assert loud.shape == (98, 39)
    np.testing.assert_allclose(loud, soft, atol=1e-3)
