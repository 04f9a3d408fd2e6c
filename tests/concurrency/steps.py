"""Two transactions by explicit steps: one holds locks, the other is seen to wait, then the first goes on."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from signet.core.errors import SignetError
from signet.engine.documents.commands import Operation, Outcome
from tests.engine.standing_company import WAIT_SECONDS, CompanyWithWorkers


class LetGo(Exception):
    """An exception that ends the holder's transaction without a commit."""


@dataclass
class Second:
    """A call in a thread of its own, and its outcomes."""

    act: Callable[[], list[Outcome]]
    came: list[Outcome | SignetError] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.came += self.act()
        except SignetError as error:
            self.came.append(error)

    def result(self) -> Outcome | SignetError:
        """Return the first outcome."""
        self._thread.join(WAIT_SECONDS)
        assert self.came, "it did not end"
        return self.came[0]


@contextmanager
def holding(
    standing: CompanyWithWorkers, operations: list[Operation], *, commits: bool = True
) -> Iterator[None]:
    """Apply the operations, and keep their transaction open until the block ends."""
    company = standing.company
    try:
        with company.database.transaction(company.tenant_id) as connection:
            company.documents.apply(connection, company.caller("first"), operations)
            yield
            if not commits:
                raise LetGo
    except LetGo:
        pass


def second(standing: CompanyWithWorkers, *operations: Operation) -> Second:
    company = standing.company
    return Second(lambda: company.documents.mutate_many(company.caller("second"), operations))
