"""Definitions, chains and steps that explain requests for approval which tests write themselves.

A vote believes no request that no definition of its instance asks.
"""

import json
from typing import Any, LiteralString
from uuid import UUID, uuid4

from signet.core.approvals.policy import Policy
from signet.core.canonical_json import canonical_bytes, hash_bytes
from tests.support.shared_company import Admin

CHAIN, NODE = "asked", "usr:approval:finance"
_BASE: LiteralString = (
    "SELECT d.compiled_json FROM workflow_instances i"
    " JOIN workflow_definitions d ON d.tenant_id = i.tenant_id AND d.id = i.definition_id WHERE i.id = %s"
)
_DEFINITION: LiteralString = (
    "INSERT INTO workflow_definitions (tenant_id, id, definition_kind, entity_type, name, version, status,"
    " body_patches_json, compiled_json, compiled_hash, compiler_version, created_by, published_at)"
    " VALUES (%s, %s, 'automation', 'invoice', %s, 1, 'published', '{}', %s, %s, %s, 'mia', now())"
)
_STEP: LiteralString = (
    "INSERT INTO workflow_step_executions (tenant_id, created_at, id, instance_id, seq, end_seq, node_id,"
    " node_type, token_id, entity_version, version_after, status, idempotency_key, started_at, output_json,"
    " actor_user_id) VALUES (%s, now(), %s, %s, 0, 0, %s, %s, 'T', 1, 1, 'completed',"
    " sha256(%s::text::bytea), now(), %s, 'mia')"
)
_CHAIN: LiteralString = (
    "INSERT INTO approval_chains (tenant_id, name, version, hash, created_by, same_person, permission)"
    " SELECT %s, %s, coalesce(max(version), 0) + 1, repeat('0', 64), 'mia', %s, %s FROM approval_chains"
    " WHERE name = %s RETURNING version"
)
_CHAIN_STEP: LiteralString = "INSERT INTO approval_chain_steps VALUES (%s, %s, %s, %s, %s)"
_PUBLISH: LiteralString = (
    "UPDATE approval_chains SET status = 'published', published_at = now() WHERE name = %s AND version = %s"
)


def ask_by_definition(admin: Admin, tenant_id: UUID, instance_id: UUID, step_id: UUID) -> str:
    """Write a definition with an approval node, from which the instance was moved, and the node's step.

    Return the hash of the definition. The instance itself stays as it is.
    """
    (stored,) = admin.execute(_BASE, (instance_id,)).fetchall()
    content = json.loads(stored[0])
    content["nodes"][NODE] = {"type": "approval", "config": {"chain": CHAIN}, "label": "Finance"}
    for name, empty in (("adjacency", []), ("reverse_adjacency", []), ("edit_windows", "locked")):
        content[name][NODE] = empty
    definition_id, text = uuid4(), canonical_bytes(content).decode()
    digest = hash_bytes(text.encode())
    name = f"asked_{definition_id.hex}"
    values = (tenant_id, definition_id, name, text, digest, content["compiler_version"])
    admin.execute(_DEFINITION, values)
    moved = json.dumps({"from": {"id": str(definition_id)}})
    for node_id, node_type, row_id, output in (
        ("sys:control:moved", "control", uuid4(), moved),
        (NODE, "approval", step_id, None),
    ):
        admin.execute(_STEP, (tenant_id, row_id, instance_id, node_id, node_type, row_id, output))
    return digest


def publish_policy(admin: Admin, tenant_id: UUID, policy: Policy) -> int:
    """Publish the policy as the next version of the chain; return that version."""
    terms: tuple[Any, ...] = (tenant_id, CHAIN, policy.same_person, policy.permission, CHAIN)
    (row,) = admin.execute(_CHAIN, terms).fetchall()
    for position, stage in enumerate(policy.stages, 1):
        admin.execute(_CHAIN_STEP, (tenant_id, CHAIN, row[0], position, json.dumps(stage.to_json())))
    admin.execute(_PUBLISH, (CHAIN, row[0]))
    return int(row[0])
