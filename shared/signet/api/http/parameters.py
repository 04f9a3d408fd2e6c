"""Types of parameters in paths, queries and headers, as the routes declare them."""

import re
from typing import Annotated, Any
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Header, Path, Query
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, WithJsonSchema

from signet.core.errors import Rejected
from signet.core.tenants.user_id import UserId
from signet.core.validation.text import MAX_REASON_CHARACTERS, NAME_PATTERN, find_text_problem

MAX_VERSION = 2**31 - 1
MAX_PAGE, PAGE = 200, 50
# A position may be a text of an indexed field, in characters of four bytes, in base64.
MAX_CURSOR_CHARACTERS = 3_000
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:")
_ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _check_spelling(value: Any) -> Any:
    """Require the usual spelling: UUID() also parses braces and urn:uuid:."""
    if isinstance(value, str) and _ID.fullmatch(value) is None:
        raise ValueError("wants an id such as 018f2f6e-7b7a-7c3e-9d3c-1f2a3b4c5d6e")
    return value


def _check_moment(value: Any) -> Any:
    """Require a moment as RFC 3339 writes it: pydantic also takes numbers of seconds."""
    if isinstance(value, str) and _MOMENT.match(value) is None:
        raise ValueError("wants a moment with its time zone, such as 2026-03-01T12:00:00Z")
    return value


def check_text(text: str) -> str:
    """Require text that may become a value of a query."""
    problem = find_text_problem(text)
    if problem is not None:
        raise ValueError(problem)
    return text


Id = Annotated[UUID, BeforeValidator(_check_spelling), WithJsonSchema({"type": "string", "format": "uuid"})]
Moment = Annotated[AwareDatetime, BeforeValidator(_check_moment)]
Named = Annotated[str, Field(pattern=NAME_PATTERN)]
Reason = Annotated[
    str | None, Field(max_length=MAX_REASON_CHARACTERS, description="The reason, for the audit trail.")
]

PathId = Annotated[Id, Path()]
PathName = Annotated[str, Path(pattern=NAME_PATTERN)]
PathVersion = Annotated[int, Path(ge=1, le=MAX_VERSION)]

PathUserId = Annotated[UserId, Path(description="The person's name in the issuer's tokens.")]

Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="At most this many items.")]
Cursor = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=MAX_CURSOR_CHARACTERS,
        # For clients that generate requests from the document; other cursors are refused as CURSOR_INVALID.
        json_schema_extra={"pattern": "^[A-Za-z0-9_-]+$"},
        description="The cursor that the page before gave.",
    ),
]
# The routes see one version here, also where the request names several: `preconditions.py` parses them.
IfMatch = Annotated[
    str | None,
    Header(alias="If-Match", description="The ETag of the version that was seen; several, or * for any."),
]
# For routes that also make what is not there yet, or only report.
IfMatchOfKnown = Annotated[
    str | None,
    Header(alias="If-Match", description="The ETag of the version that was seen, where there is one."),
]
# For acts after which a record takes no other change: they may name the version, and need not.
IfMatchAtWill = Annotated[
    str | None,
    Header(alias="If-Match", description="The ETag of the version that was seen; without it, any version."),
]
QueryReason = Annotated[
    str | None,
    AfterValidator(lambda text: text if text is None else check_text(text)),
    Query(max_length=MAX_REASON_CHARACTERS, description="The reason, for the audit trail."),
]


def parse_version(if_match: str | None) -> int | None:
    """Parse If-Match as `preconditions.py` has written it."""
    return None if if_match is None else int(if_match.strip('"').partition(".")[0])


def parse_seen(if_match: str | None) -> str | None:
    """Parse the digest of what the request has seen of other documents, where If-Match has one."""
    return (if_match or "").strip('"').partition(".")[2] or None


def require_version(if_match: str | None) -> int:
    version = parse_version(if_match)
    if version is None:
        raise Rejected(
            "VERSION_MISSING",
            "the request does not say which version was seen",
            remedy="Read the thing first, and send the ETag of that answer as If-Match.",
        )
    return version
