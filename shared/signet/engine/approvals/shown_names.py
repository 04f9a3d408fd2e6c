"""Names in the view of a request: of people as the tenant shows them, of keys and accounts by labels."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from signet.core.tenants.machine_label import MachineLabel
from signet.store.database import Connection
from signet.store.tenants.machine_labels import read_machine_labels
from signet.store.tenants.people import read_display_names


@dataclass(frozen=True, slots=True)
class NamedPerson:
    """A person with the name that the tenant shows; null where they are no member. A key has its label."""

    user_id: str
    display_name: str | None


@dataclass(frozen=True, slots=True)
class ShownNames:
    """The names of everybody in a view."""

    people: Mapping[str, str]
    machines: Mapping[str, MachineLabel]

    def name(self, user_id: str) -> NamedPerson:
        return NamedPerson(user_id, self.people.get(user_id) or self.label_of(user_id))

    def label_of(self, subject: str) -> str | None:
        machine = self.machines.get(subject)
        return None if machine is None else machine.describe()

    def owner_of(self, subject: str) -> NamedPerson | None:
        machine = self.machines.get(subject)
        return None if machine is None else self.name(machine.owner_id)


def read_names(
    connection: Connection, tenant_id: UUID, people: Collection[str], actors: Collection[str]
) -> ShownNames:
    """Read the names of people, and the labels of those among them and of these actors that are machines."""
    machines = read_machine_labels(connection, tenant_id, {*people, *actors})
    owners = {machine.owner_id for machine in machines.values()}
    return ShownNames(read_display_names(connection, tenant_id, owners.union(people)), machines)
