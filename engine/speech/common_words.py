"""Which language a text in Latin letters is in, by the small words every text is full of. Pure.

Only for texts whose language nobody chose: too coarse to overrule a person.
"""

import re
from types import MappingProxyType

from engine.speech.scripts import guess_language

# The most frequent words of each language; English first, which wins when none is found.
_COMMON = MappingProxyType(
    {
        tag: frozenset(words.split())
        for tag, words in {
            "en": "the and of to is was in that it you not for with he this are be have my on",
            "de": "der die das und ist nicht ich zu den ein eine sie es mit von auf im dem auch",
            "fr": "le la les et est des un une pas que je vous dans pour du au qui sur il elle ce",
            "es": "el la los las y es de que en un una no por con para se del al lo como más",
            "it": "il la le e è di che non un una per con del si sono della ho gli nel ma lo",
            "pt": "o a os as e é de que em um uma não por com para se do da no na mais",
            "nl": "de het een en is niet ik van dat op te zijn met voor er maar aan hij we ook",
            "sv": "och är det att en ett som inte jag på för med av den till har om var så vi",
            "da": "og er det at en et som ikke jeg på for med af den til har om var så vi",
            "pl": "i w nie na się to z do że jest jak co ale po tak za od czy go był",
            "tr": "ve bir bu da de için ne çok ben o ile gibi daha var mi değil ama her sen kadar",
            "fi": "ja on ei se että hän oli mutta joka ne kun niin myös ovat minä sinä tämä mitä",
            "ro": "și în de la nu că o pe cu este un să din ce mai pentru sunt care au eu",
            "cs": "a je se na to že v s z do ale jako by jsem si tak co pro byl už",
            "hu": "a az és hogy nem is egy ez meg de van volt csak mint már el ha én vagy",
        }.items()
    }
)
_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> str:
    """The likely language of a text, by its script and, among Latin letters, its small words.

    Args:
        text: a sentence or more; a few words alone are taken for English.

    Returns:
        A BCP 47 tag.
    """
    usual = guess_language(text)
    if usual != "en":
        return usual
    words = [word.casefold() for word in _WORD.findall(text)]
    counts = {tag: sum(word in common for word in words) for tag, common in _COMMON.items()}
    return max(counts, key=lambda tag: counts[tag])
