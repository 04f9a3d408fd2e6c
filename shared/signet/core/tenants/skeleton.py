"""Skeletons of names: two names that a reader takes for one another have the same skeleton.

A skeleton forgets case, blanks at the ends, and forms of a letter that Unicode calls compatible. Letters of
Cyrillic and Greek become the Latin letters that they look like. The table is small and fixed. It holds
letters that common fonts draw alike, as the confusable characters of Unicode say (UTS 39). Digits stay
digits, and no letter is taken for two.
"""

import unicodedata

MAX_SKELETON_CHARACTERS = 400
# All in lower case. Where a capital looks like another letter than its small one, the small one counts.
_CYRILLIC = dict(zip("авеѕіјкмнорстухһԁԛԝьүӏ", "abesijkmhopctyxhdqwbyl", strict=True))
_GREEK = dict(zip("αβγεζηικνορστυχω", "abyeznikvopotuxw", strict=True))
_LATIN = {"ı": "i", "ɑ": "a", "ɡ": "g", "ǀ": "l", "ӕ": "æ", "ѐ": "è", "ё": "ë", "ї": "ï"}
# Letters and marks without any shape, which Unicode still counts as printable.
_INVISIBLE = frozenset(
    map(
        chr,
        (
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE10),
            *range(0xE0100, 0xE01F0),
        ),
    )
)
_LOOKS = str.maketrans({**_CYRILLIC, **_GREEK, **_LATIN, **dict.fromkeys(_INVISIBLE, "")})
# What lower case leaves of a capital i with a dot.
_DOTTED_I = "i\u0307"


def write_skeleton(name: str) -> str:
    """Write the skeleton of a name.

    >>> write_skeleton("App1 ") == write_skeleton("\u0430pp1")
    True
    """
    if name.isascii():
        return name.lower().strip()[:MAX_SKELETON_CHARACTERS]
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    drawn = folded.replace(_DOTTED_I, "i").translate(_LOOKS)
    return unicodedata.normalize("NFKC", drawn).strip()[:MAX_SKELETON_CHARACTERS]


def has_invisible(name: str) -> bool:
    return not _INVISIBLE.isdisjoint(name)
