"""Skeletons of names: two names that a reader takes for one another have the same skeleton.

A skeleton forgets case, blanks at the ends, how many blanks stand together, and forms of a letter that
Unicode calls compatible. Letters of other scripts become the Latin letters that they look like, and so do
small capitals. Every hyphen is one, and so is every apostrophe and every colon. The table is small and fixed.
It holds what common fonts draw alike, as the confusable characters of Unicode say (UTS 39). Beside a letter
the digits 0 and 1 become the letters o and l. So does a capital I behind a small letter, and 1 may be read as
an i too. Other digits stay digits. Two letters that run into each other count as one: rn as m, vv as w. Dots
at the end go.
"""

import re
import unicodedata
from collections.abc import Mapping

MAX_SKELETON_CHARACTERS = 400
# All in lower case. Where a capital looks like another letter than its small one, the small one counts.
_CYRILLIC = dict(zip("авеѕіјкмнорстухһԁԛԝьүӏгѵҽԍ", "abesijkmhopctyxhdqwbylrveg", strict=True))
_GREEK = dict(zip("αβγεζηικμνορστυχω", "abyeznikmvopotuxw", strict=True))
_ARMENIAN = dict(zip("օսհոռցզգյքլտ", "ouhnngqqjfls", strict=True))
_CHEROKEE = dict(zip("ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃᎩ", "abcdeghjklmprsivwzy", strict=True))
_LISU = dict(zip("ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "bpdtgkjczfmnlsrvhwxyaeiou", strict=True))
_COPTIC = dict(zip("ⲟⲣⲥⲁⲕⲙⲛⲧⲭⲓ", "opcakmntxi", strict=True))
_SMALL_CAPITALS = dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz", strict=True))
_LATIN = {
    **{"ı": "i", "ɩ": "i", "ȷ": "j", "ɑ": "a", "ɡ": "g", "ǀ": "l"},
    **{"ӕ": "æ", "ѐ": "è", "ё": "ë", "ї": "ï"},
}
# By their numbers, because nobody would see the difference here.
_HYPHENS = (*range(0x2010, 0x2016), 0x02D7, 0x2043, 0x2212, 0x2796, 0x2CBA)
_APOSTROPHES = (
    0x2018,
    0x2019,
    0x201B,
    0x02B9,
    0x02BB,
    0x02BC,
    0x02BD,
    0x02C8,
    0x2032,
    0x0060,
    0x00B4,
    0xA78C,
)
_COLONS = (0x02D0, 0x02F8, 0x0589, 0x05C3, 0x2236, 0xA789)
_MARKS = {
    **dict.fromkeys(map(chr, _HYPHENS), "-"),
    **dict.fromkeys(map(chr, _APOSTROPHES), "'"),
    **dict.fromkeys(map(chr, _COLONS), ":"),
}
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
_SCRIPTS = {**_CYRILLIC, **_GREEK, **_ARMENIAN, **_CHEROKEE, **_LISU, **_COPTIC}
_LOOKS = str.maketrans({**_SCRIPTS, **_SMALL_CAPITALS, **_LATIN, **_MARKS, **dict.fromkeys(_INVISIBLE, "")})
# What Unicode would fold to a letter that it does not look like.
_BEFORE_FOLDING = str.maketrans("\u03f2\u03f9\u03f3\u037f\u03f1\u03d0\u017f", "ccjjpbf")
# A capital I among small letters, in Latin, Greek and Cyrillic, and a bar between letters.
_READ_AS_L = re.compile(r"(?<=[^\W\d_A-Z])[I\u0399\u0406]|(?<=[^\W\d_])\||\|(?=[^\W\d_])")
_PAIRS = (("rn", "m"), ("vv", "w"))
_DIGITS_OF_A_WORD = re.compile(r"(?<=[^\W\d_])[01]+|[01]+(?=[^\W\d_])")
_LETTERS_OF_DIGITS = str.maketrans("01", "ol")
_OTHER_LETTERS_OF_DIGITS = str.maketrans("01", "oi")
# What lower case leaves of a capital i with a dot.
_DOTTED_I = "i\u0307"


def write_skeleton(name: str) -> str:
    """Write the skeleton of a name.

    >>> write_skeleton("App1 ") == write_skeleton("\u0430pp1")
    True
    """
    return _read_words(_fold(name), _LETTERS_OF_DIGITS)


def list_readings(name: str) -> tuple[str, ...]:
    """List the skeletons of members that a name may be read as: its own, and that with 1 read as i.

    >>> "fiona" in list_readings("f1ona")
    True
    """
    other = _read_words(_fold(name), _OTHER_LETTERS_OF_DIGITS)
    return tuple(dict.fromkeys((write_skeleton(name), other)))


def _fold(name: str) -> str:
    """Forget case, compatible forms and scripts."""
    drawn = _READ_AS_L.sub("l", name.translate(_BEFORE_FOLDING))
    if drawn.isascii():
        return drawn.lower().replace("`", "'")
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", drawn).casefold())
    latin = folded.replace(_DOTTED_I, "i").translate(_LOOKS)
    return unicodedata.normalize("NFKC", latin)


def _read_words(folded: str, letters_of_digits: Mapping[int, int]) -> str:
    joined = " ".join(folded.split()).rstrip(". ")
    read = _DIGITS_OF_A_WORD.sub(lambda digits: digits[0].translate(letters_of_digits), joined)
    for pair, letter in _PAIRS:
        read = read.replace(pair, letter)
    return read[:MAX_SKELETON_CHARACTERS]


def has_invisible(name: str) -> bool:
    return not _INVISIBLE.isdisjoint(name)
