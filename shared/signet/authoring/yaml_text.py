"""YAML as authors write it: built from the parser's events, so that nothing is ever resolved or expanded."""

import re
from dataclasses import dataclass
from typing import Any

import yaml

from signet.authoring.document import FileReading, Spot, Steps, shorten

# The C parser is ten times faster; some installations come without it.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_MERGE_KEY = "<<"


@dataclass
class _Frame:
    """A list or a mapping that is being filled."""

    path: Steps
    items: list[Any] | dict[str, Any]
    key: str | None = None  # the value of this key comes next

    @property
    def wants_key(self) -> bool:
        return isinstance(self.items, dict) and self.key is None

    @property
    def next_path(self) -> Steps:
        step = self.key if isinstance(self.items, dict) else len(self.items)
        return self.path if step is None else (*self.path, step)


class _ReadingStopped(Exception):
    """The rest of the text would make no sense; the reason is among the findings."""


def parse(text: str, reading: FileReading) -> Any:
    builder = _Builder(reading)
    parser = LOADER(text)
    try:
        while parser.check_event():
            builder.take(parser.get_event())
    except yaml.YAMLError as error:
        spot = _spot(getattr(error, "problem_mark", None))
        problem = str(getattr(error, "problem", None) or "not readable")
        reading.find("DOCUMENT_SYNTAX", spot=spot, problem=problem, format="YAML")
    except _ReadingStopped:
        return None
    finally:
        parser.dispose()
    if not builder.documents and not reading.findings:
        reading.find("DOCUMENT_EMPTY")
    return builder.document


class _Builder:
    def __init__(self, reading: FileReading) -> None:
        self.reading = reading
        self.documents = 0
        self.document: Any = None
        self.frames: list[_Frame] = []

    def take(self, event: yaml.Event) -> None:
        if self.reading.is_hopeless:
            raise _ReadingStopped
        match event:
            case yaml.DocumentStartEvent():
                self._begin_document(_spot(event.start_mark))
            case yaml.AliasEvent():
                self._find("DOCUMENT_ANCHOR", event, anchor=f"*{shorten(event.anchor or '')}")
                self._put(None, event)
            case yaml.ScalarEvent():
                self._check_node(event)
                self._put(self._read_scalar(event), event)
            case yaml.SequenceStartEvent():
                self._open([], event)
            case yaml.MappingStartEvent():
                self._open({}, event)
            case yaml.CollectionEndEvent():
                frame = self.frames.pop()
                self._put(frame.items, event)

    def _begin_document(self, spot: Spot | None) -> None:
        self.documents += 1
        if self.documents > 1:
            self.reading.find("DOCUMENT_SEVERAL", spot=spot)
            raise _ReadingStopped

    def _open(self, items: list[Any] | dict[str, Any], event: yaml.CollectionStartEvent) -> None:
        self._check_node(event)
        if self.frames and self.frames[-1].wants_key:
            self._find("DOCUMENT_KEY_NOT_TEXT", event, key="made of several values")
            raise _ReadingStopped
        if self.reading.is_too_deep(self._path, _spot(event.start_mark)):
            raise _ReadingStopped
        self.frames.append(_Frame(self._path, items))

    def _put(self, value: Any, event: yaml.Event) -> None:
        if not self.frames:
            self.document = value
            return
        frame = self.frames[-1]
        if isinstance(frame.items, list):
            frame.items.append(value)
        elif frame.key is None:
            frame.key = self._read_key(frame.items, value, event)
        else:
            frame.items[frame.key] = value
            frame.key = None

    def _read_key(self, items: dict[str, Any], value: Any, event: yaml.Event) -> str:
        is_plain = isinstance(event, yaml.ScalarEvent) and event.implicit[0]
        if not isinstance(value, str):
            written = event.value if isinstance(event, yaml.ScalarEvent) else ""
            self._find("DOCUMENT_KEY_NOT_TEXT", event, key=shorten(written) or "null")
            return shorten(written)
        if is_plain and value == _MERGE_KEY:
            self._find("DOCUMENT_MERGE_KEY", event)
        elif value in items:
            path = (*self._path, shorten(value))
            self.reading.find("DOCUMENT_KEY_TWICE", path, spot=_spot(event.start_mark), key=shorten(value))
        return self.reading.check_key(value, self._path, _spot(event.start_mark))

    def _read_scalar(self, event: yaml.ScalarEvent) -> Any:
        text = event.value
        if event.implicit[0] and text in _WORDS:
            return _WORDS[text]
        if event.implicit[0] and _NUMBER.fullmatch(text):
            return self.reading.parse_number(text, self._path, _spot(event.start_mark))
        return self.reading.check_text(text, self._path, _spot(event.start_mark))

    def _check_node(self, event: yaml.NodeEvent) -> None:
        if event.anchor is not None:
            self._find("DOCUMENT_ANCHOR", event, anchor=f"&{shorten(event.anchor)}")
        tag = getattr(event, "tag", None)
        if tag is not None:
            self._find("DOCUMENT_TAG", event, tag=shorten(tag))

    def _find(self, code: str, event: yaml.Event, **words: Any) -> None:
        self.reading.find(code, self._path, spot=_spot(event.start_mark), **words)

    @property
    def _path(self) -> Steps:
        return self.frames[-1].next_path if self.frames else ()


def _spot(mark: Any) -> Spot | None:
    return Spot(mark.line + 1, mark.column + 1) if mark else None
