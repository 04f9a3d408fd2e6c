"""Sentences about the authors of the control."""

import pytest

from signet.core.control.authorship import Authorship, ChangedAlone, make_control
from signet.core.explain.authors import describe_control

ALONE = Authorship(["connie"], "connie", ["connie"])
BY_TWO = Authorship(["ada", "ann"], "ben", ["ben"])


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        (ALONE, "The contract was published by connie, who also wrote it."),
        (BY_TWO, "ben published the contract, which ada and ann wrote."),
        (
            Authorship(["ann", "kim"], "key:erp", ["kim", "lea"]),
            "The contract was published by key:erp; kim stood behind this, and also wrote it.",
        ),
        (Authorship(None, "ben", None), "ben published the contract; it is not on record who wrote it."),
        (Authorship(["ada"], None, None), "It is not on record who published the contract."),
    ],
)
def test_a_part_is_described_by_its_authors(part: Authorship, sentence: str) -> None:
    assert describe_control(make_control(None, part, {})) == sentence


def test_all_parts_stand_in_one_line() -> None:
    control = make_control(BY_TWO, ALONE, {"accounts_payable": ALONE})
    assert describe_control(control) == (
        "The contract was published by connie, who also wrote it."
        " ben published the definition, which ada and ann wrote."
        ' The chain "accounts payable" was published by connie, who also wrote it.'
    )


def test_one_sentence_names_the_makers_of_both_texts() -> None:
    assert describe_control(make_control(ALONE, ALONE, {})) == (
        "The contract and the definition were published by connie, who also wrote them."
    )
    assert describe_control(make_control(BY_TWO, BY_TWO, {})) == (
        "ben published the contract and the definition, which ada and ann wrote."
    )


def test_of_a_draft_it_says_that_nobody_has_published_it() -> None:
    for part in (Authorship(None, None, None), ALONE):
        assert describe_control(make_control(part, ALONE, {}), is_draft=True) == (
            "The contract was published by connie, who also wrote it."
            " The definition is a draft: nobody has published it."
        )


def test_names_are_escaped() -> None:
    odd = Authorship(["a\u202eb"], "c\u202ed", ["c\u202ed"])
    assert "\u202e" not in describe_control(make_control(None, odd, {}))


def test_who_changed_alone_what_takes_effect_at_once_stands_there_too() -> None:
    changed = [ChangedAlone("endpoint", "erp", ["ed"]), ChangedAlone("settings", "", ["carl", "kim"])]
    assert describe_control(make_control(None, None, {}, ["olga"], changed)) == (
        'ed changed the endpoint "erp" last, and no other person confirmed it.'
        " carl and kim changed the settings last, and no other person confirmed it."
        " olga moved the instance to where other approvals are asked."
    )
