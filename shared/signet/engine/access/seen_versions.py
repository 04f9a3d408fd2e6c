"""The version that a caller has seen of what they change, where there is one already."""

from signet.core.errors import Rejected


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
