"""The version that a caller has seen of what they change, where there is one already."""

from signet.core.errors import Rejected

# For callers that hold what they change themselves; no request can say it.
ANY_VERSION = -1


def require_seen_or_new(what: str, code: str, current: int | None, expected: int | None) -> None:
    """Require the version that was seen, or none of what is not there yet."""
    if expected == ANY_VERSION:
        return
    if current is not None:
        require_seen(what, code, current, expected)
    elif expected is not None:
        raise Rejected(code, f"{what} is not there, and version {expected} was seen", remedy="Read it again.")


def require_seen(what: str, code: str, current: int, expected: int | None) -> None:
    """Require the version that was seen; `what` is the thing in a sentence, `code` is of another version."""
    details = {"current_version": current}
    if expected is None:
        raise Rejected(
            "VERSION_MISSING",
            f"{what} exists: the request does not say which version was seen",
            remedy="Read it first, and send the ETag of that answer as If-Match.",
            details=details,
        )
    if current != expected:
        raise Rejected(
            code,
            f"{what} is at version {current}, not {expected}",
            remedy="Read it again, and decide on what it says now.",
            details=details,
        )
