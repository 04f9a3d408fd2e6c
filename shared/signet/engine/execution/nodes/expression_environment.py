"""The values that expressions of one instance can read, made once for each version of its document."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.documents.personal_data import mask_variables
from signet.core.documents.rules import CompiledRule, RejectAction
from signet.core.errors import Rejected
from signet.core.expressions import Environment, FollowedField
from signet.core.expressions.actors import PersonsBehind, find_person_against
from signet.core.runtime.graph.guarded_gates import may_be_decided
from signet.core.runtime.projection import Actor
from signet.core.runtime.workflow import Workflow
from signet.core.runtime.workflow_reads import deciding_fields_of, followed_fields, sources_of
from signet.core.tenants.caller import Caller
from signet.engine.documents.change import format_moment
from signet.engine.documents.decisions.record import DocumentDecisions
from signet.engine.documents.references import RefQuery
from signet.engine.documents.unit_of_work import DocumentUnitOfWork
from signet.store.documents.write import DocumentRow


@dataclass(slots=True, eq=False)
class ExpressionEnvironment:
    """The document, what it refers to, the organisation and the time; actor and variables are given."""

    documents: DocumentUnitOfWork
    # The documents that a ref leads to are read as the system.
    caller: Caller
    # What has started an automation brings this.
    payload: Mapping[str, Any] | None = None
    # Other documents are read: any step of the wave may change what they say.
    follows_refs: bool = False
    # The variables that were older than an edit when the wave began, with the fields that differ.
    outdated: Mapping[str, Sequence[str]] | None = None
    _shared: dict[str, Any] | None = None

    def make(
        self, workflow: Workflow, document: DocumentRow | None, actor: Actor, variables: Mapping[str, Any]
    ) -> Environment:
        """Return the environment for an actor; its part that all actors share is made once."""
        if self._shared is None:
            given = {} if self.payload is None else {"payload": self.payload}
            self._shared = {**self._make_shared(workflow, document), **given}
        described = {"user_id": actor.id, "roles": list(actor.roles)}
        return {**self._shared, "actor": described, "context": variables}

    def clear(self) -> None:
        """Forget what was made of the document as it was."""
        self._shared = None

    def has_deciders(self, workflow: Workflow, document: DocumentRow | None) -> bool:
        """Return whether people decide about it by requests, have decided about it or its origin, or read it.

        What they decide about another document may rest on what the workflow here has left as it was.
        """
        if document is None:
            return False
        if may_be_decided(workflow.content, self.documents.contract_of(document).contract):
            return True
        record = DocumentDecisions(self.documents.connection, self.caller.principal.tenant_id, document.id)
        return bool(record.given) or self.documents.refs.is_read(document.entity_type)

    def list_ref_queries(self, workflow: Workflow, document: DocumentRow | None) -> Iterator[RefQuery]:
        """Yield what the expressions ask of other documents, so that a wave reads all of it at once."""
        if document is not None:
            contract = self.documents.contract_of(document)
            if followed := followed_fields(workflow, contract):
                self.follows_refs = True
                yield RefQuery(contract, followed, document.data)
                for node in workflow.nodes.values():
                    if sources := sources_of(workflow, contract, node):
                        yield RefQuery(contract, sources, document.data)
                    if deciding := deciding_fields_of(workflow, contract, node):
                        yield RefQuery(contract, deciding, document.data)

    def ask_rules(
        self,
        workflow: Workflow,
        document: DocumentRow | None,
        actor: Actor,
        variables: Mapping[str, Any],
        names: Sequence[str],
    ) -> tuple[bool, Mapping[str, Any]]:
        """Return whether no rule rejects, with evidence. Other actions of a rule are for mutations only."""
        if document is None:
            raise Rejected("RULE_UNKNOWN", "rules are about documents, and there is none")
        contract = self.documents.contract_of(document)
        rules = {rule.rule.name: rule for rule in self.documents.rules_of(contract)}
        evidence: dict[str, Any] = {}
        has_passed = True
        for name in names:
            if name not in rules:
                raise Rejected("RULE_UNKNOWN", f"the tenant has no rule '{name}'")
            env = self.make(workflow, document, actor, variables)
            list_behind = self.documents.persons.behind(actor.behind) if actor.is_key else None
            env = self._add_refs(env, document, contract, rules[name])
            rejects, of_rule = _ask(rules[name], env, list_behind)
            of_rule["variables"] = mask_variables(of_rule["variables"], contract.personal_fields)
            evidence[name] = {**of_rule, "rejects": rejects}
            has_passed = has_passed and not rejects
        return has_passed, evidence

    def _make_shared(self, workflow: Workflow, document: DocumentRow | None) -> dict[str, Any]:
        if document is None:
            now = format_moment(self.documents.transaction.now)
            return {"entity": None, "refs": {}, "org": self.documents.org, "now": now}
        contract = self.documents.contract_of(document)
        return self._read(document, contract, followed_fields(workflow, contract))

    def _add_refs(
        self, env: Environment, document: DocumentRow, contract: CompiledContract, rule: CompiledRule
    ) -> Environment:
        if not rule.followed:
            return env
        followed = self._read(document, contract, rule.followed)
        return {**env, "refs": {**env["refs"], **followed["refs"]}}

    def _read(
        self, document: DocumentRow, contract: CompiledContract, followed: frozenset[FollowedField]
    ) -> dict[str, Any]:
        context = self.documents.make_context(self.caller, contract, document, followed)
        return context.env(context.data, status=document.status, version=document.version)


def _ask(
    rule: CompiledRule, env: Environment, list_behind: PersonsBehind | None
) -> tuple[bool, dict[str, Any]]:
    """Ask the rule of the actor, and of the persons behind a key."""
    if list_behind is not None:
        env = find_person_against(rule.condition, env, list_behind, wanted=False) or env
    evaluation = rule.condition.evaluate(env)
    can_reject = any(isinstance(action, RejectAction) for action in rule.rule.actions)
    return can_reject and evaluation.value is True, dict(evaluation.evidence)
