"""One seat of a stage: whose vote it takes, and how it was filled."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

Origin = Literal["resolved", "escalated"]
SeatStatus = Literal["open", "approved", "rejected", "abstained", "closed"]


@dataclass(frozen=True, slots=True)
class Seat:
    """Exactly one of `holder_user_id` and `holder_role` is set."""

    stage: int
    position: int
    holder_user_id: str | None = None
    holder_role: str | None = None
    origin: Origin = "resolved"
    status: SeatStatus = "open"
    decided_by: str | None = None
    on_behalf_of: str | None = None

    def belongs_to(self, user_id: str, roles: Collection[str]) -> bool:
        return self.holder_user_id == user_id if self.holder_role is None else self.holder_role in roles
