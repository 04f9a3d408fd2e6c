"""Ids of people, as the issuer's tokens name them."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from signet.core.tenants.principal import is_reserved
from signet.core.tenants.skeleton import has_invisible, write_skeleton


def _check_user_id(user_id: str) -> str:
    if not user_id.isprintable() or is_reserved(user_id):
        raise ValueError("wants a person's name, without the beginnings that machines have")
    return user_id


UserId = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_user_id)]


def find_id_problem(user_id: str) -> str | None:
    """Return why no new member may have this id. Members from before keep theirs."""
    if user_id != user_id.strip():
        return "begins or ends with a blank"
    if has_invisible(user_id):
        return "holds a character that nobody sees"
    return None


def find_alike(user_ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Find ids that look like an earlier one of the list; yield each with that one."""
    known: dict[str, str] = {}
    for user_id in user_ids:
        first = known.setdefault(write_skeleton(user_id), user_id)
        if first != user_id:
            yield user_id, first
