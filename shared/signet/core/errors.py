"""The error taxonomy. Expected outcomes are returned values; these errors are for the unexpected.

    SignetError
      Rejected      the caller's fault: never retried, the answer says what to change
      Superseded    lost a race to another writer: acknowledged quietly
      Transient     the world was not ready: retried
      Failed        a step of the author's workflow failed
      Defect        an invariant broke: an alarm for us

Every error carries a stable code. Callers may act on the code, never on the message.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, Literal


class ErrorKind(StrEnum):
    """The sort of answer that a code gets at every surface; `api/http/problems.py` gives each its status."""

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
    # Each of the other classes of error has one kind for all its codes.
    SUPERSEDED = "superseded"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"
    DEFECT = "defect"


# The codes of Rejected. A new code is one line here, and a test finds one that was forgotten.
CODES: Mapping[str, ErrorKind] = MappingProxyType(
    {
        "ACTION_NOT_LOADED": ErrorKind.NOT_FOUND,
        "ACTION_UNKNOWN": ErrorKind.NOT_FOUND,
        "AMENDMENTS_TOO_MANY": ErrorKind.CONFLICT,
        "AMENDMENT_NOT_POSSIBLE": ErrorKind.CONFLICT,
        "AMENDMENT_OPEN": ErrorKind.CONFLICT,
        "AMENDMENT_UNASKED": ErrorKind.CONFLICT,
        "ANOTHER_WORKFLOW_ACTIVE": ErrorKind.CONFLICT,
        "ANSWER_UNREADABLE": ErrorKind.CONFLICT,
        "API_KEY_ENDED": ErrorKind.CONFLICT,
        "AUTOMATIONS_STOPPED": ErrorKind.CONFLICT,
        "AUTOMATIONS_TOO_MANY": ErrorKind.CONFLICT,
        "AUTOMATION_ARCHIVED": ErrorKind.CONFLICT,
        "AUTOMATION_LOOP": ErrorKind.CONFLICT,
        "AUTOMATION_NAME_TAKEN": ErrorKind.CONFLICT,
        "AUTOMATION_NOT_FOUND": ErrorKind.NOT_FOUND,
        "AUTOMATION_NOT_MANUAL": ErrorKind.CONFLICT,
        "AUTOMATION_PAUSED": ErrorKind.CONFLICT,
        "AUTOMATION_TOO_DEEP": ErrorKind.CONFLICT,
        "AUTOMATION_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "CONDITION_FALSE": ErrorKind.CONFLICT,
        "OPEN_OVER_LIMIT": ErrorKind.TOO_MANY,
        "OVERLAP_QUEUE_FULL": ErrorKind.TOO_MANY,
        "OVERLAP_SKIPPED": ErrorKind.CONFLICT,
        "STARTS_OVER_LIMIT": ErrorKind.TOO_MANY,
        "API_KEY_NOT_FOUND": ErrorKind.NOT_FOUND,
        "API_KEY_OWNER_INACTIVE": ErrorKind.CONFLICT,
        "API_KEY_OWNER_TOO_MANY": ErrorKind.CONFLICT,
        "API_KEY_TOO_MANY": ErrorKind.CONFLICT,
        "APPROVAL_CLOSED": ErrorKind.CONFLICT,
        "APPROVAL_NOT_FOUND": ErrorKind.NOT_FOUND,
        "APPROVAL_NOT_YOURS": ErrorKind.FORBIDDEN,
        "APPROVAL_SAME_PERSON": ErrorKind.FORBIDDEN,
        "APPROVAL_SEAT_TAKEN": ErrorKind.CONFLICT,
        "APPROVAL_STALE": ErrorKind.CONFLICT,
        "APPROVAL_UNPROVEN": ErrorKind.CONFLICT,
        "BATCH_TOO_LARGE": ErrorKind.TOO_LARGE,
        "BODY_MALFORMED": ErrorKind.MALFORMED,
        "BODY_TOO_DEEP": ErrorKind.MALFORMED,
        "BODY_TOO_LARGE": ErrorKind.TOO_LARGE,
        "BREAK_GLASS_EXPIRED": ErrorKind.CONFLICT,
        "BREAK_GLASS_IN_VAIN": ErrorKind.CONFLICT,
        "BREAK_GLASS_NOT_FOUND": ErrorKind.NOT_FOUND,
        "BREAK_GLASS_TOO_MANY": ErrorKind.CONFLICT,
        "CALENDAR_NOT_FOUND": ErrorKind.NOT_FOUND,
        "CALENDAR_TOO_MANY": ErrorKind.CONFLICT,
        "CALENDAR_UNNAMED": ErrorKind.CONFLICT,
        "CALENDAR_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "CALENDAR_WAITS_TOO_MANY": ErrorKind.INVALID,
        "CALENDAR_YEARS_EXCEEDED": ErrorKind.INVALID,
        "CHAIN_NOT_FOUND": ErrorKind.NOT_FOUND,
        "CONTENT_TYPE_UNSUPPORTED": ErrorKind.MEDIA_TYPE,
        "CORRECTION_NOT_POSSIBLE": ErrorKind.CONFLICT,
        "CURSOR_INVALID": ErrorKind.MALFORMED,
        "CONTROL_CHANGE_CLOSED": ErrorKind.CONFLICT,
        "CONTROL_CHANGE_HASH_MISMATCH": ErrorKind.CONFLICT,
        "CONTROL_CHANGE_ROLES_CHANGED": ErrorKind.CONFLICT,
        "CONTROL_CHANGE_NOT_FOUND": ErrorKind.NOT_FOUND,
        "CONTROL_CHANGE_TOO_MANY": ErrorKind.CONFLICT,
        "CONTROL_CHANGE_TOO_MANY_OF_PERSON": ErrorKind.CONFLICT,
        "CONTROL_CHANGE_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "DEAD_LETTER_NOT_FOUND": ErrorKind.NOT_FOUND,
        "DEFINITION_INVALID": ErrorKind.INVALID,
        "DEFINITION_NOT_COMPILED": ErrorKind.CONFLICT,
        "DEFINITION_NOT_FOUND": ErrorKind.NOT_FOUND,
        "DELEGATION_CYCLE": ErrorKind.CONFLICT,
        "DELEGATION_NOT_FOUND": ErrorKind.NOT_FOUND,
        "DELEGATION_OVERLAPS": ErrorKind.CONFLICT,
        "DELEGATION_TOO_MANY": ErrorKind.CONFLICT,
        "DELETE_NOT_POSSIBLE": ErrorKind.CONFLICT,
        "DOCUMENT_EXISTS": ErrorKind.CONFLICT,
        "DOCUMENT_NOT_FOUND": ErrorKind.NOT_FOUND,
        "DOCUMENT_TOO_LARGE": ErrorKind.TOO_LARGE,
        "DOCUMENT_TWICE_IN_BATCH": ErrorKind.INVALID,
        "DOCUMENT_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "DOCUMENT_VERSION_MISSING": ErrorKind.PRECONDITION_MISSING,
        "DONE_BEFORE": ErrorKind.CONFLICT,
        "DRAFT_EXISTS": ErrorKind.CONFLICT,
        "DRAFT_NOT_PUT_FORWARD": ErrorKind.FORBIDDEN,
        "DRAFT_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "EDIT_UNASKED": ErrorKind.CONFLICT,
        "EFFECT_ACT_NOT_POSSIBLE": ErrorKind.CONFLICT,
        "EFFECT_NOT_FOUND": ErrorKind.NOT_FOUND,
        "ENDPOINT_DISABLED": ErrorKind.CONFLICT,
        "ENDPOINT_EXISTS": ErrorKind.CONFLICT,
        "ENDPOINT_HOST_REFUSED": ErrorKind.INVALID,
        "ENDPOINT_INVALID": ErrorKind.INVALID,
        "EFFECT_LEFT_BEHIND": ErrorKind.CONFLICT,
        "ENDPOINT_NOT_FOUND": ErrorKind.NOT_FOUND,
        "ENDPOINT_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "ENTITY_TYPE_UNKNOWN": ErrorKind.NOT_FOUND,
        "EVENT_KEY_INVALID": ErrorKind.INVALID,
        "EVENT_MALFORMED": ErrorKind.MALFORMED,
        "EVENT_NOT_FOUND": ErrorKind.NOT_FOUND,
        "EVENT_PAYLOAD_INVALID": ErrorKind.INVALID,
        "EVENT_TAKEN": ErrorKind.CONFLICT,
        "EVENT_WAITS_TOO_MANY": ErrorKind.CONFLICT,
        "FIELDS_INVALID": ErrorKind.INVALID,
        "FIELD_NOT_INDEXED": ErrorKind.MALFORMED,
        "FILTER_INVALID": ErrorKind.MALFORMED,
        "FINDINGS_NOT_ACCEPTED": ErrorKind.CONFLICT,
        "FOUR_EYES_REQUIRED": ErrorKind.FORBIDDEN,
        "HEAVY_CALL_RUNNING": ErrorKind.TOO_MANY,
        "HEAVY_CALL_TOO_LARGE": ErrorKind.TOO_LARGE,
        "IDEMPOTENCY_KEY_REUSED": ErrorKind.INVALID,
        "ID_WITHOUT_TIME": ErrorKind.MALFORMED,
        "INCIDENT_CLOSED": ErrorKind.CONFLICT,
        "INCIDENT_NOT_FOUND": ErrorKind.NOT_FOUND,
        "INBOUND_ENDPOINT_EXISTS": ErrorKind.CONFLICT,
        "INBOUND_ENDPOINT_NOT_FOUND": ErrorKind.NOT_FOUND,
        "INBOUND_ENDPOINT_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "INSTANCE_APPROVAL_AHEAD": ErrorKind.CONFLICT,
        "INSTANCE_BEHIND": ErrorKind.CONFLICT,
        "INSTANCE_ENDED": ErrorKind.CONFLICT,
        "INSTANCE_MOVE_BLOCKED": ErrorKind.CONFLICT,
        "INSTANCE_NOT_FOUND": ErrorKind.NOT_FOUND,
        "INSTANCE_NOT_PAUSED": ErrorKind.CONFLICT,
        "INSTANCE_NOT_RUNNING": ErrorKind.CONFLICT,
        "INSTANCE_PAUSED": ErrorKind.CONFLICT,
        "INSTANCE_PAUSED_BY_PERSON": ErrorKind.CONFLICT,
        "INSTANCE_STEPS_DO_NOT_FIT": ErrorKind.CONFLICT,
        "INSTANCE_SEQUEL_MISSING": ErrorKind.CONFLICT,
        "INSTANCE_TARGET_NOT_POSSIBLE": ErrorKind.CONFLICT,
        "INSTANCE_TOKEN_ASKS_NOBODY": ErrorKind.CONFLICT,
        "INSTANCE_TARGET_REPEATS": ErrorKind.CONFLICT,
        "INSTANCE_TOKEN_NOT_ADVANCEABLE": ErrorKind.CONFLICT,
        "INSTANCE_TOKEN_NOT_CANCELLABLE": ErrorKind.CONFLICT,
        "INSTANCE_TOKEN_NOT_FOUND": ErrorKind.NOT_FOUND,
        "INSTANCE_TOKEN_NOT_SKIPPABLE": ErrorKind.CONFLICT,
        "INSTANCE_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "KEY_TAKEN": ErrorKind.CONFLICT,
        "LIST_TOO_LARGE": ErrorKind.INVALID,
        "LIST_TOO_LONG": ErrorKind.INVALID,
        "LAST_ADMINISTRATOR": ErrorKind.CONFLICT,
        "MEMBER_HAS_DEPENDENTS": ErrorKind.CONFLICT,
        "MEMBER_ID_LOOKS_ALIKE": ErrorKind.CONFLICT,
        "MEMBER_INACTIVE": ErrorKind.FORBIDDEN,
        "MEMBER_NOT_FOUND": ErrorKind.NOT_FOUND,
        "MEMBER_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "METHOD_NOT_ALLOWED": ErrorKind.METHOD,
        "NODE_NOT_FOUND": ErrorKind.NOT_FOUND,
        "NOT_DONE": ErrorKind.CONFLICT,
        "ORG_CHART_CYCLE": ErrorKind.CONFLICT,
        "ORIGINS_TOO_MANY": ErrorKind.CONFLICT,
        "PERMISSION_CONDITION": ErrorKind.FORBIDDEN,
        "PRECONDITION_FAILED": ErrorKind.PRECONDITION,
        "PERMISSION_DENIED": ErrorKind.FORBIDDEN,
        "QUOTA_EXCEEDED": ErrorKind.TOO_MANY,
        "QUOTA_UNKNOWN": ErrorKind.NOT_FOUND,
        "READS_ERASED": ErrorKind.CONFLICT,
        "READS_UNPINNED": ErrorKind.CONFLICT,
        "REPORTING_LINE_NOT_FOUND": ErrorKind.NOT_FOUND,
        "REFERENCES_CHANGED": ErrorKind.PRECONDITION,
        "REFERENCES_UNSEEN": ErrorKind.PRECONDITION_MISSING,
        "REPORTING_LINE_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "REQUEST_BARRED_BY_GRANT": ErrorKind.FORBIDDEN,
        "REQUEST_ENDED": ErrorKind.CONFLICT,
        "REQUEST_INVALID": ErrorKind.INVALID,
        "REQUEST_MALFORMED": ErrorKind.MALFORMED,
        "REQUEST_NOT_FOUND": ErrorKind.NOT_FOUND,
        "RESPONSIBLE_TOO_MANY": ErrorKind.CONFLICT,
        "RESTART_NOT_POSSIBLE": ErrorKind.CONFLICT,
        "ROLE_BEYOND_OWN": ErrorKind.FORBIDDEN,
        "ROLE_IN_USE": ErrorKind.CONFLICT,
        "ROLE_NOT_FOUND": ErrorKind.NOT_FOUND,
        "ROLE_TOO_MANY": ErrorKind.CONFLICT,
        "ROLE_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "ROUTE_NOT_FOUND": ErrorKind.NOT_FOUND,
        "RULE_REJECTED": ErrorKind.INVALID,
        "RULE_SETS_APPROVED": ErrorKind.CONFLICT,
        "RULE_TOO_MANY": ErrorKind.CONFLICT,
        "RULE_UNFIT": ErrorKind.CONFLICT,
        "RULE_UNKNOWN": ErrorKind.NOT_FOUND,
        "RULE_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "RUN_AS_BEYOND_OWN": ErrorKind.FORBIDDEN,
        "SECRET_IN_USE": ErrorKind.INVALID,
        "SELF_GRANT_REFUSED": ErrorKind.FORBIDDEN,
        "SEPARATION_OF_DUTIES": ErrorKind.FORBIDDEN,
        "SERVICE_ACCOUNT_NOT_FOUND": ErrorKind.NOT_FOUND,
        "SERVICE_ACCOUNT_TOO_MANY": ErrorKind.CONFLICT,
        "SERVICE_ACCOUNT_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "TEMPLATE_NOT_FOUND": ErrorKind.NOT_FOUND,
        "TEMPLATE_TOO_LARGE": ErrorKind.INVALID,
        "TENANT_INACTIVE": ErrorKind.FORBIDDEN,
        "TENANT_NOT_FOUND": ErrorKind.NOT_FOUND,
        "TENANT_VERSION_CONFLICT": ErrorKind.PRECONDITION,
        "TIMER_WITHOUT_MOMENT": ErrorKind.INVALID,
        "TOKEN_EXPIRED": ErrorKind.UNAUTHENTICATED,
        "TOKEN_INVALID": ErrorKind.UNAUTHENTICATED,
        "TOKEN_MISSING": ErrorKind.UNAUTHENTICATED,
        "TOKEN_SUBJECT_LOOKS_ALIKE": ErrorKind.FORBIDDEN,
        "TRANSITION_NOT_POSSIBLE": ErrorKind.CONFLICT,
        "TRANSITION_REFUSED": ErrorKind.CONFLICT,
        "TRANSITION_UNKNOWN": ErrorKind.NOT_FOUND,
        "VARIABLES_TOO_LARGE": ErrorKind.INVALID,
        "VERSION_FROZEN": ErrorKind.CONFLICT,
        "VERSION_MISSING": ErrorKind.PRECONDITION_MISSING,
        "VOTE_BARRED_BY_GRANT": ErrorKind.FORBIDDEN,
        "WEBHOOK_SECRET_INVALID": ErrorKind.INVALID,
        "WEBHOOK_UNSIGNED": ErrorKind.UNAUTHENTICATED,
        "WORKFLOW_COMPILER_STALE": ErrorKind.CONFLICT,
        "WORKFLOW_EDIT_LOCKED": ErrorKind.LOCKED,
        "WORKFLOW_HASH_MISMATCH": ErrorKind.CONFLICT,
        "ZONE_UNKNOWN": ErrorKind.INVALID,
        # These are met on the command line, before there is an API.
        "BUNDLE_FOLDER_NOT_EMPTY": ErrorKind.CONFLICT,
        "AUDIT_SUBJECT_NOT_FOUND": ErrorKind.NOT_FOUND,
        "DEVELOPMENT_SECRET_TOO_SHORT": ErrorKind.INVALID,
        "FILE_UNREADABLE": ErrorKind.NOT_FOUND,
        "GATEWAY_HOST_NOT_LOOPBACK": ErrorKind.INVALID,
        "GATEWAY_PORT_TAKEN": ErrorKind.CONFLICT,
        "SETTINGS_INVALID": ErrorKind.INVALID,
        "TENANT_INVALID": ErrorKind.INVALID,
        "TOKEN_LIFETIME_INVALID": ErrorKind.INVALID,
        "TOKEN_NOT_LOCAL": ErrorKind.FORBIDDEN,
    }
)


Parameter = Literal["query", "header", "path"]
Within = Literal["body", "document", "payload"] | Parameter


@dataclass(frozen=True, slots=True)
class FieldError:
    """An error in a request: its place (RFC 6901 JSON pointer, "" is the whole), its code, and a sentence."""

    pointer: str
    code: str
    message: str
    remedy: str = ""
    # What the pointer leads into. The API knows where a request holds the document, or the payload.
    within: Within = "body"
    # Of a parameter, which has no pointer.
    name: str = ""


# The next step that is true wherever a code is given, for refusals that name none themselves.
REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "APPROVAL_CLOSED": (
            "No vote is wanted any more. The view of the approval shows how it ended; the explanation of the"
            " workflow's instance says what follows."
        ),
        "APPROVAL_NOT_YOURS": (
            "Only people who hold a seat of this stage decide, and their delegates."
            " The explanation of the workflow's instance names them."
        ),
        "APPROVAL_SAME_PERSON": (
            "Leave it to another person who is asked: the explanation of the workflow's instance names them."
            " You may still reject it."
        ),
        "APPROVAL_SEAT_TAKEN": "A vote is not taken back. The approval's view shows who has decided.",
        "KEY_TAKEN": (
            "List the documents of the type by this value, where you may read them. Edit the one that is"
            " there, or use another value. A deleted document keeps none."
        ),
        "PERMISSION_CONDITION": "Let a person act that the condition allows, or change what it reads.",
        "PERMISSION_DENIED": (
            "Ask a person who may do it, or an administrator for a role with the permission."
            " Nobody gives it to themselves."
        ),
        "REQUEST_BARRED_BY_GRANT": (
            "Let another person ask for it, who may do it without that. Or a person without a part in the"
            " document gives them another role with the permission."
        ),
        "SEPARATION_OF_DUTIES": (
            "Let a person do this who has no part in the document."
            " The explanation of the workflow's instance says who may decide, and what keeps the others."
        ),
        "VOTE_BARRED_BY_GRANT": (
            "Let another person decide. The explanation of the workflow's instance says who may, and what to"
            " undo where nobody may."
        ),
    }
)


class SignetError(Exception):
    """The base of all errors of Signet. Only its subclasses are raised."""

    kind_of_class: ClassVar[ErrorKind] = ErrorKind.DEFECT

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
        self.remedy = remedy or REMEDIES.get(code, "")
        self.fields = fields
        # Details are for logs and for the headers of an answer; they are never sent as they are.
        self.details: Mapping[str, object] = dict(details or {})

    @property
    def kind(self) -> ErrorKind:
        return self.kind_of_class

    def __str__(self) -> str:
        return self.message


class Rejected(SignetError):
    """The caller's fault: the same request will be rejected again."""

    kind_of_class = ErrorKind.INVALID

    @property
    def kind(self) -> ErrorKind:
        # An unknown code is still the caller's fault.
        return CODES.get(self.code, self.kind_of_class)


class Superseded(SignetError):
    """A lost race: another writer did the same, or made it pointless."""

    kind_of_class = ErrorKind.SUPERSEDED


class Transient(SignetError):
    """A passing failure: the same request may succeed later."""

    kind_of_class = ErrorKind.UNAVAILABLE

    def __init__(
        self,
        code: str,
        message: str,
        *,
        remedy: str = "",
        details: Mapping[str, object] | None = None,
        is_brief: bool = True,
    ) -> None:
        super().__init__(code, message, remedy=remedy, details=details)
        # It may have passed already, so that work which was claimed is tried again at once.
        self.is_brief = is_brief


class Failed(SignetError):
    """A failure that a step of a tenant's author decided itself."""

    kind_of_class = ErrorKind.FAILED


class Defect(SignetError):
    """A broken invariant. It is never the caller's fault, and its message is never shown to the caller."""

    kind_of_class = ErrorKind.DEFECT
