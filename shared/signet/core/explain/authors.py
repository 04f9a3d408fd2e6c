"""Sentences about who wrote and published the control that a workflow stands on."""

from collections.abc import Iterator

from signet.core.control.authorship import Authorship, ControlAuthors
from signet.core.explain.vocabulary import describe_list, describe_name, escape


def describe_control(control: ControlAuthors, *, is_draft: bool = False) -> str:
    """Describe in one line who made each part, and who could have changed it alone."""
    return " ".join(_list_sentences(control, is_draft))


def _list_sentences(control: ControlAuthors, is_draft: bool) -> Iterator[str]:
    parts = [("the contract", control.contract)]
    if not is_draft and control.definition == control.contract:
        parts = [("the contract and the definition", control.contract)]
    elif not is_draft:
        parts.append(("the definition", control.definition))
    parts += [(f'the chain "{describe_name(name)}"', part) for name, part in control.chains.items()]
    for what, part in parts:
        if part is not None:
            yield _describe(what, part)
    if is_draft:
        yield "The definition is a draft: nobody has published it."
    for change in control.changed_alone:
        kind = change.kind.replace("_", " ")
        what = "the settings" if kind == "settings" else f'the {kind} "{escape(change.name)}"'
        persons = describe_list(map(escape, change.persons))
        yield f"{persons} changed {what} last, and no other person confirmed it."
    if control.moved_by:
        movers = describe_list(map(escape, control.moved_by))
        yield f"{movers} moved the instance to where other approvals are asked."


def _describe(what: str, part: Authorship) -> str:
    was, it = ("were", "them") if " and the " in what else ("was", "it")
    if part.published_by is None:
        return f"It is not on record who published {what}."
    publisher, single = escape(part.published_by), part.list_single_authors()
    if part.authors is None:
        return f"{publisher} published {what}; it is not on record who wrote {it}."
    if single == [part.published_by]:
        return f"{_begin(what)} {was} published by {publisher}, who also wrote {it}."
    if single:
        behind = describe_list(map(escape, single))
        return (
            f"{_begin(what)} {was} published by {publisher}; {behind} stood behind this, and also wrote {it}."
        )
    return f"{publisher} published {what}, which {describe_list(map(escape, part.authors))} wrote."


def _begin(what: str) -> str:
    return what[0].upper() + what[1:]
