"""The label of a machine: what people call a key or a service account, and the person who owns it."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class MachineLabel:
    """A key or a service account as people read of it; acts name it by `subject`."""

    subject: str
    kind: Literal["key", "service_account"]
    name: str
    owner_id: str

    def describe(self) -> str:
        what = "key" if self.kind == "key" else "service account"
        return f'the {what} "{self.name}" (owned by {self.owner_id})'
