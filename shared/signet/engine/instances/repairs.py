"""Repairs by operators: to skip a node that cannot act, to send an instance back, to ask people again.

Neither replaces a decision of people. What was approved on the way that is left counts no more.
"""

from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from signet.core.repair.restart_check import list_repeated
from signet.core.runtime.document_changes import take_drift
from signet.core.runtime.done_before import hash_said
from signet.core.runtime.go_to_targets import check_go_to, has_lasting_effect
from signet.core.runtime.hand_answers import describe_answer
from signet.core.runtime.operator_actions import check_ask_again, check_skip, decide_skip
from signet.core.tenants.caller import Caller
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import ConcludeTransition
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.decided_way import read_document_state
from signet.engine.instances.act_checks import (
    has_drifted,
    raise_if,
    require_current,
    require_live,
    require_reason,
    require_repairable,
    require_token,
    require_version,
)
from signet.engine.instances.act_reports import InstanceState, state_of
from signet.engine.instances.hand_answers import refuse_part_behind_gate, require_answer, take_part_in_answer
from signet.engine.instances.operator_transaction import OperatorTransaction, operating
from signet.store.database import Database


class Repairs:
    """The use case with the caches of a process."""

    def __init__(self, database: Database, caches: DocumentCaches, compiled: CompiledCache) -> None:
        self._database = database
        self._caches = caches
        self._compiled = compiled

    def skip(
        self,
        caller: Caller,
        instance_id: UUID,
        expected_version: int,
        token: str,
        reason: str,
        payload: Any = None,
        *,
        dry_run: bool = False,
    ) -> InstanceState:
        """Skip the node of a held token, as if it had acted with this answer.

        What it would have done is left undone. Who gives the answer counts as an editor of the document.
        """
        with self._locked(caller, instance_id, "skip", dry_run) as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            require_repairable(context)
            require_reason(reason)
            chosen, execution = require_token(context, token), context.execution
            node = execution.workflow.nodes[chosen.node]
            raise_if(check_skip(execution.workflow, chosen))
            answer = require_answer(context, node, payload)
            require_current(context)
            take_part_in_answer(transaction, context, caller)
            decision_input = transaction.decision_input(context, chosen)
            said = None
            if has_lasting_effect(execution.workflow, node.id):
                said = hash_said(node, decision_input.env)
            person = caller.principal.subject
            decision = decide_skip(execution.workflow, node, decision_input, answer, person, said)
            execution.skip(chosen, decision, reason, transaction.actor, caller.claimed)
            transaction.wake(context)
            noted = {"token": chosen.id, "node": chosen.node, **describe_answer(node, answer)}
            transaction.note(instance_id, "skip", reason, noted)
        return state_of(context, transaction.report)

    def go_to(
        self,
        caller: Caller,
        instance_id: UUID,
        expected_version: int,
        node: str,
        reason: str,
        *,
        dry_run: bool = False,
    ) -> InstanceState:
        """Send the instance back, or to the state of its document; all of its tokens are withdrawn.

        One that was paused because its document was changed where nobody may takes that in. An amendment
        that begins again gets the status that it began in.
        """
        with self._locked(caller, instance_id, "go_to", dry_run) as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            drifted = has_drifted(transaction, context)
            if not drifted:
                require_repairable(context)
            require_reason(reason)
            if not drifted:
                require_current(context)
            status = context.document.status if context.document is not None else ""
            raise_if(check_go_to(context.execution, status, node))
            refuse_part_behind_gate(transaction, context, caller)
            acted = transaction.read_acted(context)
            transaction.report.repeats = list_repeated(context.execution.workflow, acted, node)
            version = _give_back(transaction, context, node, reason)
            state = read_document_state(context) if drifted else None
            if state is not None:
                take_drift(context.execution, state, node, reason, transaction.actor)
            else:
                context.execution.go_to(node, reason, transaction.actor, version)
            context.adopt_changes()
            transaction.wake(context)
            transaction.note(instance_id, "go_to", reason, {"node": node})
        return state_of(context, transaction.report)

    def ask_again(
        self,
        caller: Caller,
        instance_id: UUID,
        expected_version: int,
        token: str,
        reason: str,
        *,
        dry_run: bool = False,
    ) -> InstanceState:
        """Void what people are asked at a node, and ask again by the chain and the roles of today.

        Nobody is seated by force: the policy and separation of duties decide as at the first asking. What is
        paused stays so, and may be moved meanwhile to a definition that asks others.
        """
        with self._locked(caller, instance_id, "ask_again", dry_run) as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            require_live(context)
            require_reason(reason)
            chosen = require_token(context, token)
            raise_if(check_ask_again(context.execution, chosen))
            require_current(context)
            context.execution.ask_again(chosen, reason, transaction.actor)
            if context.execution.is_running:
                transaction.wake(context)
            transaction.note(instance_id, "ask_again", reason, {"token": chosen.id, "node": chosen.node})
        return state_of(context, transaction.report)

    def _locked(
        self, caller: Caller, instance_id: UUID, act: str, dry_run: bool
    ) -> AbstractContextManager[OperatorTransaction]:
        return operating(
            self._database, self._caches, self._compiled, caller, instance_id, act, dry_run=dry_run
        )


def _give_back(
    transaction: OperatorTransaction, context: InstanceContext, node: str, reason: str
) -> int | None:
    """Give the document the status of the state that it is sent to; return its version, where it is new."""
    workflow, document = context.execution.workflow, context.document
    status = workflow.nodes[node].config.get("state")
    if document is None or status in (None, document.status):
        return None
    transition = workflow.nodes[_find_refused_gate(context)].config["transition"]
    operation = ConcludeTransition(document.id, transition, status, "refused", reason)
    return transaction.conclude(context.row.id, operation).version


def _find_refused_gate(context: InstanceContext) -> str:
    """Find the gate that is not passed: it holds a token itself, or lies behind the node that does."""
    workflow = context.execution.workflow
    held = [token.node for token in context.execution.projection.position.held()]
    gates = [node for node in held if workflow.nodes[node].type.name == "lifecycle_gate"]
    behind = [gate for node in held for gate in workflow.list_gates_of_slot(node)]
    return [*gates, *behind][0]
