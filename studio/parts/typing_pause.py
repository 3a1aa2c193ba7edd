"""Browser code that hands a text on when the typing pauses, so that not every letter asks."""

_WHEN_TYPING_PAUSES = """(text) => new Promise((settle) => {
  const typing = (window.studioNAME = window.studioNAME || {stroke: 0, text: ''});
  const stroke = (typing.stroke += 1);
  setTimeout(() => {
    if (stroke === typing.stroke) typing.text = text;
    settle(typing.text || '');
  }, 600);
})"""


def when_typing_pauses(name: str) -> str:
    """The code for one text box, known by a name of its own, in letters."""
    return _WHEN_TYPING_PAUSES.replace("NAME", name)
