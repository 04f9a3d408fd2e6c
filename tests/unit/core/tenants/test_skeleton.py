"""Names that a reader takes for one another have one skeleton; others have not."""

import pytest

from signet.core.tenants.principal import is_reserved
from signet.core.tenants.skeleton import MAX_SKELETON_CHARACTERS, has_invisible, list_readings, write_skeleton

# By their numbers, because nobody would see the difference here.
CYRILLIC_A, GREEK_ALPHA, FULLWIDTH_A, BOLD_A = "\u0430", "\u0391", "\uff41", "\U0001d41a"
CAPITAL_DOTTED_I, DOTLESS_I, SELECTOR, FILLER = "\u0130", "\u0131", "\ufe0f", "\u3164"


@pytest.mark.parametrize(
    "name",
    [
        "app1",
        "App1",
        "APP1",
        " app1",
        "app1 ",
        "app1\u00a0",
        f"{CYRILLIC_A}pp1",
        f"{CYRILLIC_A.upper()}PP1",
        f"{GREEK_ALPHA}pp1",
        f"{FULLWIDTH_A}pp1",
        f"{BOLD_A}pp1",
        f"a{SELECTOR}pp1",
        f"app1{FILLER}",
        "\u0430\u0440\u04401",
    ],
)
def test_what_looks_like_it_has_its_skeleton(name: str) -> None:
    assert write_skeleton(name) == write_skeleton("app1")


@pytest.mark.parametrize("name", ["app2", "ap1", "app-1", "a pp1", "\u0431pp1", "\u0561pp1"])
def test_what_differs_to_the_eye_differs(name: str) -> None:
    assert write_skeleton(name) != write_skeleton("app1")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("car1", "carl"),
        ("CAR1", "carl"),
        ("fi0na", "fiona"),
        ("wi11", "will"),
        ("1ea", "lea"),
        ("fiona.", "fiona"),
    ],
)
def test_a_digit_beside_a_letter_is_read_as_one(one: str, other: str) -> None:
    assert write_skeleton(one) == write_skeleton(other)


def test_ordinary_ids_with_digits_and_dots_stay_apart() -> None:
    names = [
        "user1",
        "user2",
        "user10",
        "user11",
        "user100",
        "user101",
        "a.lee",
        "alee",
        "10",
        "1",
        "0",
        "2010x",
    ]
    names += ["carl", "carl1", "carl01", "carl0", "b-1", "b-l", "fiona.b", "fiona"]
    assert len({write_skeleton(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{CAPITAL_DOTTED_I}da", "ida"),
        (f"{DOTLESS_I}da", "ida"),
        ("\u0430\u0301", "\u00e1"),
        ("Stra\u00dfe", "STRASSE"),
        ("carl@\u0430.example", "carl@a.example"),
        ("b\u0585b", "bob"),
        ("\u054fam", "sam"),
        ("\u1d04arl", "carl"),
        ("\ua731am", "sam"),
        ("\u13aany", "any"),
        ("\ua4eedo", "ado"),
        ("\u2c9flga", "olga"),
        ("\u039cia", "mia"),
        ("anna\u2010b", "anna-b"),
        ("anna\u2212b", "anna-b"),
        ("o\u2019hara", "o'hara"),
        ("o`hara", "o'hara"),
        ("anna  b", "anna b"),
        ("anna \u2003 b\u00e9", "anna b\u00e9"),
    ],
)
def test_forms_of_one_letter_are_one(one: str, other: str) -> None:
    assert write_skeleton(one) == write_skeleton(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("carI", "carl"),
        ("oIga", "olga"),
        ("car\u0406", "carl"),
        ("car|", "carl"),
        ("f1ona", "fiona"),
        ("f1ona", "flona"),
        ("0lga", "olga"),
        ("vvanda", "wanda"),
        ("sarn", "sam"),
        ("\u03f2arl", "carl"),
        ("\u03f9arl", "carl"),
        ("\u017frank", "frank"),
    ],
)
def test_what_a_reader_takes_for_another_id(one: str, other: str) -> None:
    assert write_skeleton(other) in list_readings(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ian", "lan"), ("mia", "mla"), ("IDA", "lda"), ("clara", "dara"), ("anna", "hanna"), ("10", "io")],
)
def test_what_a_reader_tells_apart(one: str, other: str) -> None:
    assert write_skeleton(other) not in list_readings(one)
    assert write_skeleton("Ian") == write_skeleton("ian") == "ian"


def test_a_skeleton_has_an_end() -> None:
    assert len(write_skeleton("\ufdfa" * 200)) == MAX_SKELETON_CHARACTERS == len(write_skeleton("a" * 900))


def test_invisible_letters_are_found() -> None:
    assert has_invisible(f"a{FILLER}") and not has_invisible("a b")


@pytest.mark.parametrize(
    "name", ["key:erp", "KEY:erp", "\uff43li:x", "\u0441li:x", " signet:system", "key\ua789erp"]
)
def test_the_beginnings_of_machines_are_reserved_as_they_look(name: str) -> None:
    assert is_reserved(name)
    assert not is_reserved("keyes") and not is_reserved("clive")
