"""The names of operators' acts: in permissions, in the history, and in the audit trail."""

from collections.abc import Mapping

# The subject types of the audit rows.
INSTANCE = "instance"
DEAD_LETTER = "dead_letter"
# The word of the history for each act; the audit row and the permission name the act itself.
ENTRIES: Mapping[str, str] = {
    "pause": "paused",
    "resume": "resumed",
    "cancel": "cancelled",
    "cancel_token": "token_cancelled",
    "advance": "advanced",
    "retry": "retried",
    "skip": "skipped",
    "go_to": "gone_to",
    "fail": "failed",
    "wake": "woken",
    "rebuild": "rebuilt",
    "requeue": "requeued",
    "discard": "discarded",
    "try_now": "tried_now",
    "withdraw": "effect_withdrawn",
    "move": "moved",
    "correct": "corrected",
    "ask_again": "renewed",
}


def permission_of(act: str) -> str:
    """Return the permission for an act; `workflow:*` grants all of them."""
    return f"workflow:{act}"
