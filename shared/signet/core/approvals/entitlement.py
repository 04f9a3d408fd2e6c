"""The permissions that a voter needs beside a seat, when the vote is cast and again when a gate uses it.

The permission of an automatic transition, with its condition, belongs to each voter whose vote leads there:
only the system passes its gate. The permission of a requested one belongs to its requester. A policy may name
one more for its voters.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from signet.core.approvals.eligibility import ConflictCheck
from signet.core.approvals.policy import Policy
from signet.core.contracts.compiled_contract import CompiledContract, Denial
from signet.core.expressions import Environment
from signet.core.runtime.workflow import Workflow

MakeEnvironment = Callable[[str], Environment]


def list_voter_permissions(workflow: Workflow, node_id: str, policy: Policy) -> tuple[str, ...]:
    """List what voters of an approval node need: of the automatic gate behind it, and of its policy."""
    gate = workflow.exit_gate_of(node_id)
    is_automatic = gate is not None and gate.config["kind"] == "automatic"
    of_gate = (gate.config["permission"],) if gate is not None and is_automatic else ()
    of_policy = (policy.permission,) if policy.permission is not None else ()
    return tuple(dict.fromkeys((*of_gate, *of_policy)))


@dataclass(frozen=True, slots=True)
class Entitlement:
    """The permissions that voters need, and those that each person has by the member tables."""

    contract: CompiledContract
    needed: Sequence[str]
    # By person, for active members only.
    permissions: Mapping[str, Sequence[str]]
    # Makes the environment of a condition, with the person as actor.
    make_env: MakeEnvironment

    def find_denial(self, person: str) -> Denial | None:
        """Return why the person may not vote from any seat."""
        held = self.permissions.get(person, ())
        for permission in self.needed:
            # The environment is made only where a condition reads it.
            env = self.make_env(person) if permission in self.contract.conditions else {}
            denial = self.contract.authorize(permission, held, env)
            if denial is not None:
                return denial
        return None


def check_all(*checks: ConflictCheck) -> ConflictCheck:
    """Return the check that gives the first denial of these."""

    def find_denial(person: str) -> Denial | None:
        denials = (check(person) for check in checks)
        return next((denial for denial in denials if denial is not None), None)

    return find_denial
