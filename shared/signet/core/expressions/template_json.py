"""A template as JSON, its expressions parsed, so that the artifact can hold it.

{"fixed": any JSON}   {"computed": expression}   {"text": ["Invoice ", {"name": "entity.number"}]}
{"items": [T, …]}     {"members": {"key": T, …}}
"""

from signet.core.expressions.syntax_tree import Name
from signet.core.expressions.template import (
    MAX_TEMPLATE_DEPTH,
    MAX_TEMPLATE_NODES,
    Computed,
    Fixed,
    Template,
    TemplateItems,
    TemplateMembers,
    Text,
    find_template_value_problem,
)
from signet.core.expressions.tree_json import (
    MalformedTree,
    expression_from_json,
    expression_to_json,
    take_only_member,
)


def template_to_json(template: Template) -> dict[str, object]:
    match template:
        case Fixed():
            return {"fixed": copy_json(template.value)}
        case Computed():
            return {"computed": expression_to_json(template.expression)}
        case Text():
            return {
                "text": [
                    part if isinstance(part, str) else expression_to_json(part) for part in template.parts
                ]
            }
        case TemplateItems():
            return {"items": [template_to_json(item) for item in template.items]}
        case _:
            return {"members": {key: template_to_json(inner) for key, inner in template.members}}


def template_from_json(value: object) -> Template:
    """Return the template. Raise MalformedTree for JSON that `template_to_json` did not make."""
    return _TreeParser().parse(value, "", 1)


def copy_json(value: object) -> object:
    """Return a copy that shares no list and no object. Templates are at most MAX_TEMPLATE_DEPTH deep."""
    if isinstance(value, list):
        return [copy_json(item) for item in value]
    if isinstance(value, dict):
        return {key: copy_json(item) for key, item in value.items()}
    return value


class _TreeParser:
    def __init__(self) -> None:
        self._nodes = 0

    def _require_room(self, pointer: str, depth: int) -> None:
        self._nodes += 1
        if self._nodes > MAX_TEMPLATE_NODES or depth > MAX_TEMPLATE_DEPTH:
            raise MalformedTree(pointer, "a template of this size cannot have been written")

    def parse(self, value: object, pointer: str, depth: int) -> Template:
        key, inner = take_only_member(value, pointer)
        pointer = f"{pointer}/{key}"
        if key == "fixed":
            return Fixed(self._parse_fixed(inner, pointer, depth))
        self._require_room(pointer, depth)
        if key == "computed":
            return Computed(expression_from_json(inner, pointer))
        if key == "text" and isinstance(inner, list):
            return self._parse_text(inner, pointer)
        if key == "items" and isinstance(inner, list):
            items = tuple(self.parse(item, f"{pointer}/{at}", depth + 1) for at, item in enumerate(inner))
            self._require_computed(items, pointer)
            return TemplateItems(items)
        if key == "members" and isinstance(inner, dict):
            members = tuple(
                (self._parse_key(name, pointer), self.parse(item, f"{pointer}/{name}", depth + 1))
                for name, item in inner.items()
            )
            self._require_computed(tuple(item for _, item in members), pointer)
            return TemplateMembers(members)
        raise MalformedTree(pointer, "unknown template")

    def _require_computed(self, inner: tuple[Template, ...], pointer: str) -> None:
        if all(isinstance(item, Fixed) for item in inner):
            raise MalformedTree(pointer, "not canonical: nothing is computed inside")

    def _parse_text(self, parts: list[object], pointer: str) -> Text:
        pieces: list[str | Name] = []
        for at, part in enumerate(parts):
            where = f"{pointer}/{at}"
            if isinstance(part, str):
                if not part or find_template_value_problem(part) or (pieces and isinstance(pieces[-1], str)):
                    raise MalformedTree(where, "not canonical: a piece that cannot stand here")
                pieces.append(part)
                continue
            name = expression_from_json(part, where)
            if not isinstance(name, Name):
                raise MalformedTree(where, "a placeholder is a name")
            pieces.append(name)
        if not any(isinstance(part, Name) for part in pieces):
            raise MalformedTree(pointer, "not canonical: no placeholder")
        return Text(tuple(pieces))

    def _parse_key(self, key: object, pointer: str) -> str:
        if not isinstance(key, str) or find_template_value_problem(key):
            raise MalformedTree(pointer, "not a key")
        return key

    def _parse_fixed(self, value: object, pointer: str, depth: int) -> object:
        self._require_room(pointer, depth)
        if find_template_value_problem(value):
            raise MalformedTree(pointer, "not JSON that can be kept")
        if isinstance(value, list):
            return [self._parse_fixed(item, pointer, depth + 1) for item in value]
        if isinstance(value, dict):
            return {
                self._parse_key(key, pointer): self._parse_fixed(item, pointer, depth + 1)
                for key, item in value.items()
            }
        return value
