"""The tenant of the examples with its own people, workflows, a worker, and the record of their acts."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID

import psycopg

from signet.authoring.files import read_document
from signet.core.compiler.node_configurations import Vote
from signet.core.explain.instance import InstanceExplanation, write_instance
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.engine.approvals.chains import ApprovalChains, ChainVersion, PublishedChain
from signet.engine.approvals.decide import VoteResult
from signet.engine.approvals.inbox import Approvals
from signet.engine.audit.verify import verify_tenant
from signet.engine.definitions.definitions import Definitions
from signet.engine.documents.commands import Amend, Applied, Create, Operation, RequestTransition, Update
from signet.engine.documents.mutate import Documents
from signet.engine.instances.explain import explain
from signet.engine.tenants.install import install_tenant, read_principal
from signet.local.tenant_file import read_tenant_file
from signet.store.database import Database, PoolSettings
from tests.support.company import EXAMPLES, Company
from tests.support.database.runtime_roles import as_role
from tests.support.document_records import AMENDED, DOCUMENT, ON_RECORD, OPENED, PENDING_CALL, REQUESTS
from tests.support.named_things import supply_mentioned
from tests.support.shared_company import CompanyWithWorkers
from tests.support.workflow_stage import CallAnswer, WorkflowStage

GOLDEN = Path(__file__).parents[1] / "scenarios" / "use_cases" / "golden"
_HASH = re.compile(r"\b[0-9a-f]{64}\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?(?: UTC|\+00:00)")
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


@dataclass(frozen=True)
class Story:
    """A company whose people act with the roles of the tenant's file."""

    stage: WorkflowStage
    approvals: Approvals

    @property
    def company(self) -> Company:
        return self.stage.standing.company

    def author(self, user_id: str) -> Caller:
        return Caller(read_principal(self.company.database, self.company.tenant_id, user_id), via="test")

    def publish(self, folder: str, *, replaces: str | None = None) -> None:
        """Publish the contract, chain and patch that are in an example's folder."""
        definitions, writer, publisher = self.company.definitions, self.author("sam"), self.author("ada")
        if (contract := _read(folder, "contract")) is not None:
            saved = definitions.create_contract(writer, contract)
            definitions.put_contract_forward(writer, saved.entity_type, saved.version, saved.revision)
            definitions.publish_contract(publisher, saved.entity_type, saved.version)
        if (chain := _read(folder, "chain")) is not None:
            chains = ApprovalChains(self.company.database)
            made = chains.save(writer, chain)
            assert isinstance(made, ChainVersion), made
            chains.put_forward(writer, made.name, made.version)
            published = chains.publish(publisher, made.name, made.version)
            assert isinstance(published, PublishedChain), published
        if (patch := _read(folder, "patch")) is not None:
            supply_mentioned(self.company.database, self.company.tenant_id, patch)
            draft = definitions.create(writer, "org_patch", patch)
            definitions.put_forward(writer, draft.id, draft.revision)
            definitions.publish(publisher, draft.id, replaces=replaces)

    # --- acts of people; the worker follows at once unless `then_works` is false ---

    def mutate(self, user_id: str, operation: Operation, *, then_works: bool = True) -> Applied:
        applied = self.company.documents.mutate(self.author(user_id), operation)
        if then_works:
            self.work()
        return applied

    def create(self, user_id: str, entity_type: str, **data: Any) -> UUID:
        return self.mutate(user_id, Create(entity_type, data)).document_id

    def ask(self, user_id: str, document_id: UUID, transition: str, reason: str | None = None) -> None:
        version = self.stage.version_of(document_id)
        self.mutate(user_id, RequestTransition(document_id, version, transition, reason))

    def edit(self, user_id: str, document_id: UUID, *, then_works: bool = True, **patch: Any) -> Applied:
        operation = Update(document_id, self.stage.version_of(document_id), patch)
        return self.mutate(user_id, operation, then_works=then_works)

    def amend(self, user_id: str, document_id: UUID, reason: str, **patch: Any) -> Applied:
        return self.mutate(user_id, Amend(document_id, self.stage.version_of(document_id), patch, reason))

    def decide(
        self,
        user_id: str,
        document_id: UUID,
        vote: Vote = "approved",
        reason: str | None = None,
        *,
        then_works: bool = True,
    ) -> VoteResult:
        """Decide the one request about the document that waits for the person."""
        (request_id,) = self.waits_for(user_id, document_id)
        decided = self.approvals.decide(self.author(user_id), request_id, vote, reason)
        if then_works:
            self.work()
        return decided

    def waits_for(self, user_id: str, document_id: UUID) -> list[UUID]:
        inbox = self.approvals.inbox(self.author(user_id), limit=200)
        return [item.request_id for item in inbox if item.document_id == document_id]

    def work(self) -> None:
        self.stage.drain()

    def answer(self, document_id: UUID, node: str, answer: CallAnswer) -> None:
        """Deliver or give up the call of this step, and wake its instance as a delivery does."""
        (step_id,) = self.stage.standing.row(
            PENDING_CALL,
            document_id,
            len(node) + 1,
            f":{node}",
        )
        self.stage.answer_steps({step_id: answer})
        self.work()

    # --- the record ---

    def check(self, name: str, *document_ids: UUID) -> None:
        """Compare the whole history word by word; check the rebuilt rows and the audit trail."""
        for instance_id in self._list_instances(*document_ids):
            self.stage.check_rebuild(instance_id)
        assert verify_tenant(self.company.database, self.company.tenant_id).is_sound
        lines = [line for document_id in document_ids for line in self._tell(document_id)]
        assert_golden(name, "\n".join(lines).strip() + "\n")

    def explain(self, name: str, document_id: UUID) -> InstanceExplanation:
        """Compare the approvals of the document's newest workflow word by word; return the explanation."""
        contracts, instance_id = self.stage.caches().contracts, self.stage.instance_of(document_id)
        explained = explain(self.company.database, contracts, self.company.tenant_id, instance_id)
        text = "\n".join(write_instance(explained))
        assert_golden(name, text[text.index("Its approvals") : text.index("\n\nIts life")] + "\n")
        return explained

    def _list_instances(self, *document_ids: UUID) -> list[UUID]:
        query: LiteralString = "SELECT id FROM workflow_instances WHERE entity_id = ANY (%s) ORDER BY id"
        return [instance_id for (instance_id,) in self.stage.standing.rows(query, list(document_ids))]

    def _tell(self, document_id: UUID) -> Iterator[str]:
        rows = self.stage.standing.rows
        yield "Document"
        yield from _say(rows(DOCUMENT, document_id))
        yield from ("", "Requests")
        yield from _say(rows(REQUESTS, document_id))
        if told := list(_say(rows(OPENED, str(document_id)))):
            yield from ("", "Amendment opened: by, at version, reason, diff", *told)
        if told := list(_say(rows(AMENDED, str(document_id)))):
            yield from ("", "Amended: by, at version, reason, diff", *told)
        for instance_id in self._list_instances(document_id):
            yield from self._tell_instance(instance_id)
        yield ""

    def _tell_instance(self, instance_id: UUID) -> Iterator[str]:
        rows = self.stage.standing.rows
        for title, query in ON_RECORD.items():
            told = list(_say(rows(query, instance_id)))
            if told:
                yield from ("", title, *told)


def assert_golden(name: str, text: str) -> None:
    """Compare with the file: ids numbered in order of appearance, times and hashes masked."""
    ids = {found: f"<id {number}>" for number, found in enumerate(dict.fromkeys(_ID.findall(text)), 1)}
    masked = _HASH.sub("<sha-256>", _TIME.sub("<time>", _ID.sub(lambda found: ids[found[0]], text)))
    file = GOLDEN / name
    if os.environ.get("SIGNET_WRITE_GOLDEN"):
        file.write_text(masked, encoding="utf-8")
    assert masked == file.read_text(encoding="utf-8")


def _say(rows: list[tuple[Any, ...]]) -> Iterator[str]:
    for row in rows:
        yield "  " + ", ".join(str(value) for value in row if value is not None and value != "")


def _read(folder: str, name: str) -> Any:
    file = EXAMPLES / folder / f"{name}.yaml"
    if not file.exists():
        return None
    document, findings = read_document(file)
    assert findings == ()
    return document


@contextmanager
def tell_story(
    database: Database, admin: psycopg.Connection[tuple[Any, ...]], owner_url: str
) -> Iterator[Story]:
    tenant = read_tenant_file(EXAMPLES / "tenant.yaml")
    install_tenant(database, tenant, COMMAND_LINE)
    company = Company(database, tenant.tenant_id, Documents(database), Definitions(database))
    workers = Database(as_role(owner_url, "signet_worker"), PoolSettings(size=4))
    stage = WorkflowStage(CompanyWithWorkers(company, admin, owner_url), workers)
    try:
        yield Story(stage, Approvals(database, stage.caches()))
    finally:
        workers.close()
