"""Preconditions of requests: If-Match and If-None-Match, as RFC 9110 says in 13.1.

A use case takes the one version that was seen. A request that names several, or any, is tried with the
first one. A refusal names the present version. If the request names that one too, it is tried again.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from signet.api.http.call import HttpAnswer
from signet.api.http.problems import reject_request
from signet.core.errors import ErrorKind, FieldError, Rejected

# No record has this version, which is the largest of its column.
NO_VERSION = 2**31 - 1
# Each new attempt needs a change by another person since the last one.
MAX_ATTEMPTS = 5
_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_TAGS = re.compile(rf"{_TAG}(?:[ \t]*,[ \t,]*{_TAG})*")
_ONE = re.compile(_TAG)
# A version, and where the answer showed other documents the digest of that.
_VERSION = re.compile(r'"([0-9]{1,10})(\.[0-9a-f]{32})?"')


@dataclass(frozen=True, slots=True)
class EntityTags:
    """The tags of a header; `is_any` is its asterisk."""

    tags: tuple[str, ...]
    is_any: bool = False

    def has_strongly(self, version: int) -> bool:
        """Return whether a tag is this version's; a weak one never is."""
        return self.is_any or version in self.list_versions()

    def write(self, version: int) -> str:
        """Write the first tag of this version."""
        found = (tag for tag in self.tags if (match := _VERSION.fullmatch(tag)) and int(match[1]) == version)
        return next(found, f'"{version}"')

    def has_weakly(self, tag: str) -> bool:
        return self.is_any or tag in {known.removeprefix("W/") for known in self.tags}

    def list_versions(self) -> list[int]:
        found = (_VERSION.fullmatch(tag) for tag in self.tags)
        return [min(int(match[1]), NO_VERSION) for match in found if match is not None]


def parse_tags(headers: Mapping[str, str], name: str) -> EntityTags | None:
    """Parse a header of tags; None where the request has none."""
    text = headers.get(name.lower())
    if text is None:
        return None
    if text.strip() == "*":
        return EntityTags((), is_any=True)
    if _TAGS.fullmatch(text.strip(" \t,")) is None:
        sentence = 'wants * or tags in quotes, such as "3", "4"'
        raise reject_request((FieldError("", "FIELD_PATTERN", sentence, within="header", name=name),))
    return EntityTags(tuple(_ONE.findall(text)))


def act_on_seen(
    headers: Mapping[str, str], act: Callable[[str | None], HttpAnswer], *, makes: bool
) -> HttpAnswer:
    """Act on a record at a version that If-Match names; `makes` says whether it may be a new one."""
    seen = parse_tags(headers, "If-Match")
    if seen is None:
        return _act_on_new(headers, act) if makes else act(None)
    version = next(iter(seen.list_versions()), NO_VERSION)
    for left in reversed(range(MAX_ATTEMPTS)):
        try:
            return act(seen.write(version))
        except Rejected as error:
            current = error.details.get("current_version")
            if error.kind is not ErrorKind.PRECONDITION or not isinstance(current, int):
                raise
            if not left or current == version or not seen.has_strongly(current):
                raise _describe(error, version) from error
            version = current
    raise AssertionError("the last attempt answers or raises")


def check_read(headers: Mapping[str, str], version: int) -> None:
    """Refuse to show a record at another version than If-Match names."""
    seen = parse_tags(headers, "If-Match")
    if seen is not None and not seen.has_strongly(version):
        raise Rejected(
            "PRECONDITION_FAILED",
            f"it is at version {version}, which If-Match does not name",
            remedy="Read it without If-Match.",
            details={"current_version": version},
        )


def _act_on_new(headers: Mapping[str, str], act: Callable[[str | None], HttpAnswer]) -> HttpAnswer:
    unwanted = parse_tags(headers, "If-None-Match")
    try:
        return act(None)
    except Rejected as error:
        if error.code != "VERSION_MISSING" or unwanted is None or not unwanted.is_any:
            raise
        raise Rejected(
            "PRECONDITION_FAILED",
            "there is one already, and If-None-Match wants that there is none",
            remedy="Read it, and send its ETag as If-Match to change it.",
            details=error.details,
        ) from error


def _describe(error: Rejected, version: int) -> Rejected:
    if version != NO_VERSION:
        return error
    sentence = f"it is at version {error.details['current_version']}, which If-Match does not name"
    return Rejected(error.code, sentence, remedy=error.remedy, details=error.details)
