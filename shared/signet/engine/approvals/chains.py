"""Chains of approvals from draft to published: a request that runs keeps the version that it began with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.approvals.policy import check_seats_of, parse_chain, policy_of_chain
from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.control.authorship import ControlAuthors, make_control
from signet.core.control.change import ControlKind
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.validation.finding import Finding
from signet.engine.access.admin import AdminTransaction, administering, require_revision
from signet.engine.access.named_things import check_chain_names
from signet.engine.access.read import bound_page, reading
from signet.engine.control.changes import change_is_stale
from signet.engine.control.drafts import (
    PutForward,
    WrittenDraft,
    put_forward,
    require_another_publisher,
)
from signet.engine.control.four_eyes import join_authors, make_authorship, wants_two_people
from signet.engine.control.proposals import ControlChange, ControlProposal, propose
from signet.store.approvals import chains as store
from signet.store.approvals.chains import ChainRecord as ChainRecord
from signet.store.approvals.chains import ChainSummary as ChainSummary
from signet.store.audit.write import lock_administration
from signet.store.control.authorship import DraftName
from signet.store.database import Connection, Database

MANAGE = "approval:manage"
# The kind of a proposed change, and that of a draft.
KIND: ControlKind = "approval_chain"
DRAFT = KIND
# After every version.
END = 2**31 - 1
# What is in a version of a chain never changes: its revision says how far it has come.
_STATUSES = ("draft", "published", "archived")


@dataclass(frozen=True, slots=True)
class ChainVersion:
    name: str
    version: int
    hash: str


@dataclass(frozen=True, slots=True)
class PublishedChain(ChainVersion):
    """A version that new requests take from now on, with its authors."""

    control: ControlAuthors


class ApprovalChains:
    """The use case, one in each process. Mistakes of an author come back as findings."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, caller: Caller, document: Any) -> ChainVersion | tuple[Finding, ...]:
        """Save a draft of the next version. A document equal to the newest version makes none."""
        chain, findings = parse_chain(document)
        with administering(self._database, caller) as act:
            act.require(MANAGE)
            if chain is None:
                return findings
            tenant_id, body = caller.principal.tenant_id, chain.to_json()
            digest = hash_bytes(canonical_bytes(body))
            # Two people who save at once take two numbers.
            lock_administration(act.connection, tenant_id)
            version, newest = store.find_newest(act.connection, tenant_id, chain.name) or (0, "")
            if newest == digest:
                return ChainVersion(chain.name, version, digest)
            authors = join_authors(act, _name_drafts(chain.name), ())
            store.insert_chain(
                act.connection,
                tenant_id,
                name=chain.name,
                version=version + 1,
                label=chain.label,
                digest=digest,
                steps=body["steps"],
                same_person=chain.same_person,
                permission=chain.permission,
                created_by=caller.principal.subject,
                authors=authors,
                now=act.now,
            )
            _note(act, chain.name, "save_chain", version + 1, digest)
        return ChainVersion(chain.name, version + 1, digest)

    def put_forward(
        self, caller: Caller, name: str, version: int, expected_revision: int | None = None
    ) -> PutForward:
        """Put a draft forward, as one of its authors: another person may publish exactly this version."""
        with administering(self._database, caller) as act:
            act.require(MANAGE)
            lock_administration(act.connection, caller.principal.tenant_id)
            chain = _require_chain(
                act.connection, caller.principal.tenant_id, name, version, expected_revision
            )
            if chain.status != "draft":
                raise _frozen(chain)
            return put_forward(act, _describe_draft(chain), ("approval_chain", name))

    def publish(
        self, caller: Caller, name: str, version: int, expected_revision: int | None = None
    ) -> PublishedChain | tuple[Finding, ...]:
        """Freeze a version. New requests take the newest version that is published."""
        tenant_id = caller.principal.tenant_id
        with administering(self._database, caller) as act:
            act.require(MANAGE)
            lock_administration(act.connection, tenant_id)
            chain = _require_chain(act.connection, tenant_id, name, version, expected_revision)
            policy, findings = policy_of_chain(
                chain.steps, same_person=chain.same_person, permission=chain.permission
            )
            if policy is None:
                return findings
            findings = (
                *check_seats_of(policy.stages),
                *check_chain_names(act.connection, tenant_id, policy.stages),
            )
            if findings:
                return findings
            draft = _describe_draft(chain)
            require_another_publisher(act, draft)
            authorship = make_authorship(act, sorted(draft.authors))
            if not store.publish_chain(act.connection, tenant_id, name, version, authorship, act.now):
                raise _frozen(chain)
            _note(act, name, "publish_chain", version, chain.hash)
        return PublishedChain(name, version, chain.hash, make_control(None, None, {name: authorship}))

    def archive(
        self, caller: Caller, name: str, version: int, expected_revision: int | None = None
    ) -> ControlChange | None:
        """Keep new requests from a version. Running requests go on.

        An older published version is in force again, so where the tenant wants two people this proposes it.
        """
        with administering(self._database, caller) as act:
            act.require(MANAGE)
            tenant_id = caller.principal.tenant_id
            lock_administration(act.connection, tenant_id)
            chain = _require_chain(act.connection, tenant_id, name, version, expected_revision)
            if chain.status != "published":
                raise _not_published(chain)
            if wants_two_people(act):
                body = {"version": version, "hash": chain.hash, "status": "archived"}
                return propose(act, ControlProposal(KIND, name, "archive", body, version, MANAGE))
            _archive(act, chain)
            return None

    # --- changes that wait for another person ---

    read_control_permission = change_control_permission = MANAGE

    def read_in_force(self, connection: Connection, tenant_id: UUID, change: ControlChange) -> dict[str, Any]:
        chain = store.read_chain(connection, tenant_id, change.name, change.base_version)
        if chain is None:
            return {}
        return {"version": chain.version, "hash": chain.hash, "status": chain.status}

    def apply_change(self, act: AdminTransaction, change: ControlChange) -> None:
        act.require(MANAGE)
        tenant_id = act.caller.principal.tenant_id
        chain = _require_chain(act.connection, tenant_id, change.name, change.base_version)
        if chain.status != "published":
            raise change_is_stale(change, store.find_published(act.connection, tenant_id, change.name) or 0)
        _archive(act, chain)

    def read(self, caller: Caller, name: str, version: int | None = None) -> ChainRecord:
        """Read a version, or the newest published one when none is named."""
        with reading(self._database, caller.principal) as read:
            read.require(MANAGE)
            tenant_id = caller.principal.tenant_id
            if version is None:
                version = store.find_published(read.connection, tenant_id, name)
            if version is None:
                raise Rejected("CHAIN_NOT_FOUND", f"no version of a chain '{name}' is published")
            return _require_chain(read.connection, tenant_id, name, version)

    def list(self, caller: Caller, *, limit: int = 50, after: str | None = None) -> Sequence[ChainSummary]:
        """List the newest published version of each chain, by name."""
        with reading(self._database, caller.principal) as read:
            read.require(MANAGE)
            tenant_id = caller.principal.tenant_id
            return store.list_published(
                read.connection, tenant_id, after=after or "", limit=bound_page(limit)
            )

    def list_versions(
        self, caller: Caller, name: str, *, limit: int = 50, before: int | None = None
    ) -> Sequence[ChainSummary]:
        """List the versions of one chain, the newest first, drafts and archived ones too."""
        with reading(self._database, caller.principal) as read:
            read.require(MANAGE)
            tenant_id = caller.principal.tenant_id
            return store.list_versions(
                read.connection, tenant_id, name, before=before or END, limit=bound_page(limit)
            )


def _archive(act: AdminTransaction, chain: ChainRecord) -> None:
    tenant_id = act.caller.principal.tenant_id
    if not store.archive_chain(act.connection, tenant_id, chain.name, chain.version):
        raise _not_published(chain)
    _note(act, chain.name, "archive_chain", chain.version, chain.hash)


def _describe_draft(chain: ChainRecord) -> WrittenDraft:
    authors = [chain.created_by] if chain.authors is None else chain.authors
    what = f"version {chain.version} of the chain '{chain.name}'"
    return WrittenDraft(_name_drafts(chain.name), what, chain.hash, authors, MANAGE)


def _name_drafts(name: str) -> DraftName:
    return DraftName(DRAFT, "", name)


def _frozen(chain: ChainRecord) -> Rejected:
    return Rejected(
        "VERSION_FROZEN", f"version {chain.version} of the chain '{chain.name}' is {chain.status}"
    )


def _not_published(chain: ChainRecord) -> Rejected:
    return Rejected("VERSION_FROZEN", f"only a published version can be archived; this is {chain.status}")


def revision_of(status: str) -> int:
    """Return the revision of a version of a chain: 1 for a draft, 2 and 3 for what follows."""
    return _STATUSES.index(status) + 1


def _require_chain(
    connection: Connection, tenant_id: UUID, name: str, version: int, expected_revision: int | None = None
) -> ChainRecord:
    chain = store.read_chain(connection, tenant_id, name, version)
    if chain is None:
        raise Rejected("CHAIN_NOT_FOUND", f"there is no version {version} of a chain '{name}'")
    if expected_revision is not None:
        require_revision(revision_of(chain.status), expected_revision)
    return chain


def _note(act: AdminTransaction, name: str, action: str, version: int, digest: str) -> None:
    act.note(("approval_chain", name), action, {"version": version, "hash": digest})
