"""Authors and publishers of the control, and the people who could have changed it alone.

The control is what decides who must approve: contracts, definitions and approval chains. Other parts of it
take effect at once: calendars, endpoints, rules, service accounts and settings.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from signet.core.tenants.principal import Principal
from signet.core.tenants.responsible import ResponsiblePersons


@dataclass(frozen=True, slots=True)
class Authorship:
    """The persons behind a text and behind its publication; null where it is not on record.

    `published_by` may be a key: `publishers` are the persons behind it.
    """

    authors: Sequence[str] | None
    published_by: str | None
    publishers: Sequence[str] | None

    def list_single_authors(self) -> list[str]:
        """List the persons who stand behind both the text and its publication."""
        return sorted(set(self.authors or ()) & set(self.publishers or ()))


UNKNOWN = Authorship(None, None, None)


@dataclass(frozen=True, slots=True)
class ChangedAlone:
    """A part of the control in force that these persons changed last, without another one's consent.

    A rule is named with its entity type; the settings have no name.
    """

    kind: Literal["calendar", "endpoint", "rule", "service_account", "settings"]
    name: str
    persons: Sequence[str]


@dataclass(frozen=True, slots=True)
class ControlAuthors:
    """The authors of the control in force; `single_author` names people who changed a part of it alone.

    `moved_by` names those who moved the instance to where other approvals are asked, also alone.
    `changed_alone` lists what takes effect at once and was last changed by one side.
    """

    definition: Authorship | None
    contract: Authorship | None
    # By the name of the chain.
    chains: Mapping[str, Authorship]
    single_author: Sequence[str]
    moved_by: Sequence[str] = ()
    changed_alone: Sequence[ChangedAlone] = ()

    def list_alone(self) -> list[str]:
        """List everybody who alone chose some of the control."""
        changed = {person for change in self.changed_alone for person in change.persons}
        return sorted({*self.single_author, *self.moved_by, *changed})


def make_control(
    definition: Authorship | None,
    contract: Authorship | None,
    chains: Mapping[str, Authorship],
    moved_by: Sequence[str] = (),
    changed_alone: Sequence[ChangedAlone] = (),
) -> ControlAuthors:
    parts = [part for part in (definition, contract, *chains.values()) if part is not None]
    single = {person for part in parts for person in part.list_single_authors()}
    return ControlAuthors(definition, contract, chains, sorted(single), moved_by, changed_alone)


def list_seated_authors(control: ControlAuthors, people: Collection[str]) -> list[str]:
    """List the people who changed the control alone and are asked to decide under it."""
    return [person for person in control.list_alone() if person in people]


def list_persons(principal: Principal) -> ResponsiblePersons:
    """Return the persons behind a principal, or its own name where nobody is known to stand behind it."""
    return principal.responsible or frozenset((principal.subject,))


def find_shared_persons(authors: Iterable[str], responsible: Iterable[str]) -> list[str]:
    """Find the persons on both sides; where there are none, two people made the change."""
    return sorted(set(authors) & set(responsible))
