"""Authors and publishers: who could have changed the control alone."""

from signet.core.control.authorship import (
    UNKNOWN,
    Authorship,
    ChangedAlone,
    find_shared_persons,
    list_seated_authors,
    make_control,
)

ALONE = Authorship(["connie"], "connie", ["connie"])
BY_KEY = Authorship(["ben", "connie"], "key:erp", ["connie", "kim"])
BY_TWO = Authorship(["ada"], "ben", ["ben"])


def test_who_stands_behind_text_and_publication_is_a_single_author() -> None:
    assert ALONE.list_single_authors() == ["connie"]
    assert BY_KEY.list_single_authors() == ["connie"]
    assert BY_TWO.list_single_authors() == []
    assert UNKNOWN.list_single_authors() == []
    assert Authorship(None, "ada", ["ada"]).list_single_authors() == []


def test_a_control_names_the_single_authors_of_all_its_parts() -> None:
    chain = Authorship(["cora"], "cora", ["cora"])
    control = make_control(BY_TWO, ALONE, {"large": chain})
    assert control.single_author == ["connie", "cora"]
    assert make_control(None, None, {}).single_author == []


def test_single_authors_with_a_seat_are_found() -> None:
    control = make_control(ALONE, BY_TWO, {})
    assert list_seated_authors(control, {"connie", "fiona"}) == ["connie"]
    assert list_seated_authors(control, {"ada", "ben"}) == []
    moved = make_control(ALONE, BY_TWO, {}, ["olga"])
    assert list_seated_authors(moved, {"olga", "fiona", "connie"}) == ["connie", "olga"]
    changed = make_control(None, None, {}, (), [ChangedAlone("rule", "invoice/fill", ["app1"])])
    assert list_seated_authors(changed, {"app1", "app2"}) == ["app1"]


def test_persons_on_both_sides_are_found_in_order() -> None:
    assert find_shared_persons(["b", "a", "c"], {"c", "b"}) == ["b", "c"]
    assert find_shared_persons(["a"], []) == []
