"""Findings about fields that hold documents to less than the same fields of another version of a contract.

A default is named whenever it is new: it writes what nobody enters.
"""

from collections.abc import Iterator, Mapping

from signet.core.contracts.fields import AnyField, DecimalField, EnumField, ListField, ObjectField, RefField
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point

_Path = tuple[str, ...]
_FLAGS = ("required", "unique", "personal")
# What bounds a value: more is less strict by the first ones, and less is by the others.
_MOST, _LEAST = ("maximum", "max_length", "max_items"), ("minimum", "min_length")


def find_weaker_fields(
    before: Mapping[str, AnyField], after: Mapping[str, AnyField], path: _Path
) -> Iterator[Finding]:
    """Yield a finding for each thing that the fields of `after` hold values to less."""
    for name, old in before.items():
        new = after.get(name)
        if new is None:
            yield make_finding("FIELD_GONE", point(path), field=name)
        else:
            yield from _compare(name, old, new, (*path, name))


def _compare(name: str, old: AnyField, new: AnyField, path: _Path) -> Iterator[Finding]:
    was, now = _describe(old), _describe(new)
    if was != now:
        yield make_finding("FIELD_CHANGED", point(path), field=name, before=was, after=now)
    if new.default is not None and new.default != old.default:
        yield make_finding("DEFAULT_CHANGED", point((*path, "default")), field=name, value=new.default)
    for flag in _FLAGS:
        if getattr(old, flag) and not getattr(new, flag):
            yield _loosen(path, flag, name, f"is not {flag} any more")
    yield from _compare_bounds(name, old, new, path)
    yield from _compare_parts(name, old, new, path)


def _describe(field: AnyField) -> str:
    """Say what a value of the field is."""
    kind: str = getattr(field, "type", "")
    if isinstance(field, DecimalField):
        return f"{kind} of scale {field.scale}"
    return f"{kind} to '{field.entity_type}'" if isinstance(field, RefField) else kind


def _compare_bounds(name: str, old: AnyField, new: AnyField, path: _Path) -> Iterator[Finding]:
    for bound in (*_MOST, *_LEAST):
        was, now = getattr(old, bound, None), getattr(new, bound, None)
        if was is None or now is None:
            continue
        if now > was if bound in _MOST else now < was:
            yield _loosen(path, bound, name, f"had the {bound} {was}, and has {now} now")
    if isinstance(old, EnumField) and isinstance(new, EnumField):
        added = sorted(set(new.values) - set(old.values))
        if added:
            yield _loosen(path, "values", name, f"may also be {', '.join(added)} now")


def _compare_parts(name: str, old: AnyField, new: AnyField, path: _Path) -> Iterator[Finding]:
    if isinstance(old, ListField) and isinstance(new, ListField):
        yield from _compare(name, old.of, new.of, (*path, "of"))
    elif isinstance(old, ObjectField) and isinstance(new, ObjectField):
        yield from find_weaker_fields(old.fields, new.fields, (*path, "fields"))


def _loosen(path: _Path, what: str, name: str, words: str) -> Finding:
    return make_finding("FIELD_LOOSER", point((*path, what)), field=name, words=words)
