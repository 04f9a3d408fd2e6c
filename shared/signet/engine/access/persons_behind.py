"""The persons behind a key, as conditions about the actor are asked of them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from signet.core.expressions import Compiled, Environment
from signet.core.expressions.actors import (
    PersonsBehind,
    make_envs_behind,
    reads_actor,
    reads_roles,
)
from signet.core.tenants.responsible import ResponsiblePersons
from signet.store.approvals.voters import read_people
from signet.store.database import Connection


@dataclass(slots=True)
class PersonsBehindKeys:
    """Reads the roles of persons once in a transaction, and only where a condition reads them."""

    connection: Connection
    tenant_id: UUID
    _roles: dict[str, list[str]] = field(default_factory=dict)

    def behind(self, persons: ResponsiblePersons) -> PersonsBehind:
        """Return how a condition is asked of the persons behind a key."""
        return partial(self._list_envs, persons)

    def _list_envs(
        self, behind: ResponsiblePersons, condition: Compiled, env: Environment
    ) -> Iterable[Environment]:
        if not reads_actor(condition):
            return ()
        if reads_roles(condition):
            self._read(behind)
        return make_envs_behind(env, behind, self._roles)

    def _read(self, persons: ResponsiblePersons) -> None:
        unknown = persons - self._roles.keys()
        if unknown:
            people = read_people(self.connection, self.tenant_id, unknown)
            self._roles |= {name: people[name].roles if name in people else [] for name in unknown}
