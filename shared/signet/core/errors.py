"""The one error taxonomy. Expected outcomes are returned values; these are for the unexpected.

    SignetError
      Rejected      the caller's fault: never retried, the answer says what to change
      Superseded    lost a race to another writer: acknowledged quietly
      Transient     the world was not ready: retried
      Failed        a step of the author's workflow failed
      Defect        an invariant broke: an alarm for us

Every error carries a stable code. What a caller may act on is the code, never the message.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar


class Kind(StrEnum):
    """What sort of answer a code gets, wherever it surfaces; `api/http/problems.py` gives each its status."""

    MALFORMED = "malformed"
    INVALID = "invalid"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    METHOD = "method"
    CONFLICT = "conflict"
    PRECONDITION = "precondition"
    PRECONDITION_MISSING = "precondition_missing"
    LOCKED = "locked"
    TOO_LARGE = "too_large"
    TOO_MANY = "too_many"
    MEDIA_TYPE = "media_type"
    # Each other class of error is one kind, whatever its code.
    SUPERSEDED = "superseded"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"
    DEFECT = "defect"


# The codes of Rejected. A new one is one line here; a test finds those that were forgotten.
CODES: Mapping[str, Kind] = MappingProxyType(
    {
        "ACTION_NOT_LOADED": Kind.NOT_FOUND,
        "ACTION_UNKNOWN": Kind.NOT_FOUND,
        "AMENDMENT_NOT_POSSIBLE": Kind.CONFLICT,
        "API_KEY_NOT_FOUND": Kind.NOT_FOUND,
        "API_KEY_TOO_MANY": Kind.CONFLICT,
        "APPROVAL_CLOSED": Kind.CONFLICT,
        "APPROVAL_NOT_FOUND": Kind.NOT_FOUND,
        "APPROVAL_NOT_YOURS": Kind.FORBIDDEN,
        "APPROVAL_SEAT_TAKEN": Kind.CONFLICT,
        "APPROVAL_STALE": Kind.CONFLICT,
        "BATCH_TOO_LARGE": Kind.TOO_LARGE,
        "BODY_MALFORMED": Kind.MALFORMED,
        "BODY_TOO_LARGE": Kind.TOO_LARGE,
        "CHAIN_NOT_FOUND": Kind.NOT_FOUND,
        "CONTENT_TYPE_UNSUPPORTED": Kind.MEDIA_TYPE,
        "CURSOR_INVALID": Kind.INVALID,
        "DEAD_LETTER_NOT_FOUND": Kind.NOT_FOUND,
        "DEFINITION_INVALID": Kind.INVALID,
        "DEFINITION_NOT_COMPILED": Kind.CONFLICT,
        "DEFINITION_NOT_FOUND": Kind.NOT_FOUND,
        "DELEGATION_CYCLE": Kind.CONFLICT,
        "DELEGATION_NOT_FOUND": Kind.NOT_FOUND,
        "DELEGATION_TOO_MANY": Kind.CONFLICT,
        "DELETE_NOT_POSSIBLE": Kind.CONFLICT,
        "DOCUMENT_EXISTS": Kind.CONFLICT,
        "DOCUMENT_NOT_FOUND": Kind.NOT_FOUND,
        "DOCUMENT_TOO_LARGE": Kind.TOO_LARGE,
        "DOCUMENT_TWICE_IN_BATCH": Kind.INVALID,
        "DOCUMENT_VERSION_CONFLICT": Kind.PRECONDITION,
        "DOCUMENT_VERSION_MISSING": Kind.PRECONDITION_MISSING,
        "DRAFT_EXISTS": Kind.CONFLICT,
        "DRAFT_VERSION_CONFLICT": Kind.PRECONDITION,
        "ENDPOINT_EXISTS": Kind.CONFLICT,
        "ENDPOINT_HOST_REFUSED": Kind.INVALID,
        "ENDPOINT_INVALID": Kind.INVALID,
        "ENDPOINT_NOT_FOUND": Kind.NOT_FOUND,
        "ENDPOINT_VERSION_CONFLICT": Kind.PRECONDITION,
        "ENTITY_TYPE_UNKNOWN": Kind.NOT_FOUND,
        "EVENT_MALFORMED": Kind.MALFORMED,
        "EVENT_NOT_FOUND": Kind.NOT_FOUND,
        "FIELDS_INVALID": Kind.INVALID,
        "FIELD_NOT_INDEXED": Kind.INVALID,
        "FILTER_INVALID": Kind.INVALID,
        "IDEMPOTENCY_KEY_REUSED": Kind.INVALID,
        "INBOUND_ENDPOINT_EXISTS": Kind.CONFLICT,
        "INBOUND_ENDPOINT_NOT_FOUND": Kind.NOT_FOUND,
        "INBOUND_ENDPOINT_VERSION_CONFLICT": Kind.PRECONDITION,
        "INSTANCE_BEHIND": Kind.CONFLICT,
        "INSTANCE_ENDED": Kind.CONFLICT,
        "INSTANCE_NOT_FOUND": Kind.NOT_FOUND,
        "INSTANCE_NOT_PAUSED": Kind.CONFLICT,
        "INSTANCE_NOT_RUNNING": Kind.CONFLICT,
        "INSTANCE_PAUSED_BY_PERSON": Kind.CONFLICT,
        "INSTANCE_TOKEN_NOT_ADVANCEABLE": Kind.CONFLICT,
        "INSTANCE_TOKEN_NOT_CANCELLABLE": Kind.CONFLICT,
        "INSTANCE_TOKEN_NOT_FOUND": Kind.NOT_FOUND,
        "INSTANCE_VERSION_CONFLICT": Kind.PRECONDITION,
        "KEY_TAKEN": Kind.CONFLICT,
        "LAST_ADMINISTRATOR": Kind.CONFLICT,
        "MEMBER_INACTIVE": Kind.FORBIDDEN,
        "MEMBER_NOT_FOUND": Kind.NOT_FOUND,
        "METHOD_NOT_ALLOWED": Kind.METHOD,
        "NODE_NOT_FOUND": Kind.NOT_FOUND,
        "ORG_CHART_CYCLE": Kind.CONFLICT,
        "PERMISSION_CONDITION": Kind.FORBIDDEN,
        "PERMISSION_DENIED": Kind.FORBIDDEN,
        "QUOTA_EXCEEDED": Kind.TOO_MANY,
        "QUOTA_UNKNOWN": Kind.NOT_FOUND,
        "REQUEST_INVALID": Kind.INVALID,
        "REQUEST_NOT_FOUND": Kind.NOT_FOUND,
        "ROLE_BEYOND_OWN": Kind.FORBIDDEN,
        "ROLE_IN_USE": Kind.CONFLICT,
        "ROLE_NOT_FOUND": Kind.NOT_FOUND,
        "ROLE_TOO_MANY": Kind.CONFLICT,
        "ROUTE_NOT_FOUND": Kind.NOT_FOUND,
        "RULE_REJECTED": Kind.INVALID,
        "RULE_TOO_MANY": Kind.CONFLICT,
        "RULE_UNKNOWN": Kind.NOT_FOUND,
        "RULE_VERSION_CONFLICT": Kind.PRECONDITION,
        "SEPARATION_OF_DUTIES": Kind.FORBIDDEN,
        "TEMPLATE_NOT_FOUND": Kind.NOT_FOUND,
        "TENANT_INACTIVE": Kind.FORBIDDEN,
        "TENANT_NOT_FOUND": Kind.NOT_FOUND,
        "TENANT_VERSION_CONFLICT": Kind.PRECONDITION,
        "TOKEN_EXPIRED": Kind.UNAUTHENTICATED,
        "TOKEN_INVALID": Kind.UNAUTHENTICATED,
        "TOKEN_MISSING": Kind.UNAUTHENTICATED,
        "TRANSITION_NOT_POSSIBLE": Kind.CONFLICT,
        "TRANSITION_UNKNOWN": Kind.NOT_FOUND,
        "VERSION_FROZEN": Kind.CONFLICT,
        "VERSION_MISSING": Kind.PRECONDITION_MISSING,
        "WEBHOOK_SECRET_INVALID": Kind.INVALID,
        "WEBHOOK_UNSIGNED": Kind.UNAUTHENTICATED,
        "WORKFLOW_COMPILER_STALE": Kind.CONFLICT,
        "WORKFLOW_EDIT_LOCKED": Kind.LOCKED,
        "WORKFLOW_HASH_MISMATCH": Kind.CONFLICT,
        # Met on the command line, before there is an API.
        "BUNDLE_FOLDER_NOT_EMPTY": Kind.CONFLICT,
        "AUDIT_SUBJECT_NOT_FOUND": Kind.NOT_FOUND,
        "DEVELOPMENT_SECRET_TOO_SHORT": Kind.INVALID,
        "FILE_UNREADABLE": Kind.NOT_FOUND,
        "GATEWAY_HOST_NOT_LOOPBACK": Kind.INVALID,
        "GATEWAY_PORT_TAKEN": Kind.CONFLICT,
        "SETTINGS_INVALID": Kind.INVALID,
        "TENANT_INVALID": Kind.INVALID,
        "TOKEN_LIFETIME_INVALID": Kind.INVALID,
    }
)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One mistake in what was sent: where (RFC 6901 JSON pointer, "" is the whole), which, and a sentence."""

    pointer: str
    code: str
    message: str
    remedy: str = ""


class SignetError(Exception):
    """Raised only as one of its subclasses."""

    kind_of_class: ClassVar[Kind] = Kind.DEFECT

    def __init__(
        self,
        code: str,
        message: str,
        *,
        remedy: str = "",
        fields: tuple[FieldError, ...] = (),
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.fields = fields
        # For logs and for the headers of an answer; never sent as it is.
        self.details: Mapping[str, object] = dict(details or {})

    @property
    def kind(self) -> Kind:
        return self.kind_of_class

    def __str__(self) -> str:
        return self.message


class Rejected(SignetError):
    """The caller's fault: the same request will be rejected again."""

    kind_of_class = Kind.INVALID

    @property
    def kind(self) -> Kind:
        # A code without a home is still the caller's fault.
        return CODES.get(self.code, self.kind_of_class)


class Superseded(SignetError):
    """Lost a race: another writer did it, or made it pointless."""

    kind_of_class = Kind.SUPERSEDED


class Transient(SignetError):
    """Not now: the same request may succeed later."""

    kind_of_class = Kind.UNAVAILABLE


class Failed(SignetError):
    """A step that a tenant's author wrote failed by its own decision."""

    kind_of_class = Kind.FAILED


class Defect(SignetError):
    """An invariant broke. Never the caller's fault, and never shown to the caller in words."""

    kind_of_class = Kind.DEFECT
