"""Signet deployed on the emulator: bundles, templates, stacks, and the example tenant.

with running_stack(say=print) as stack: ...
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from infra.emulator.deploy import Deployment, Outputs
from infra.emulator.emulator import ROOT, Emulator, EmulatorFailed, running_emulator
from infra.emulator.issuer import AUDIENCE
from infra.emulator.plan import ACCOUNT
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import TenantFile
from signet.engine.tenants.install import install_tenant
from signet.local.tenant_file import read_tenant_file
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import act_as, use_database

PREFIX = "signet-local"
DATABASE = "signet"
OPERATOR_ROLE = "signet:operator"
EXAMPLE_TENANT = ROOT / "examples" / "tenant.yaml"
Say = Callable[[str], None]


@dataclass(frozen=True)
class EmulatedStack:
    emulator: Emulator
    outputs: Outputs
    tenant: TenantFile

    @property
    def api_url(self) -> str:
        return self._find_url("ApiUrl")

    @property
    def machine_url(self) -> str:
        """Return the URL for callers with an API key instead of a token."""
        return self._find_url("MachinesUrl")

    @property
    def owner_url(self) -> str:
        """Return the owner's URL of the database, past the door. The owner may do everything."""
        return use_database(self.emulator.postgres.url, DATABASE)

    @cached_property
    def tokens(self) -> Mapping[str, str]:
        """Return a token of each member of the example tenant."""
        return {
            member.user_id: self.emulator.issuer.mint(
                subject=member.user_id, tenant_id=str(self.tenant.tenant_id), roles=member.roles
            )
            for member in self.tenant.members
        }

    def client(self, service: str) -> Any:
        return self.emulator.session.client(service, endpoint_url=self.emulator.plan.gateway_url)

    def _find_url(self, name: str) -> str:
        """Return the local URL of an API.

        The template's output is a name of AWS whose first part is the API.
        """
        address = self.outputs[f"{PREFIX}-app"][name]
        return self.emulator.make_api_url(str(urlsplit(address).hostname).partition(".")[0])


@contextmanager
def running_stack(say: Say, environment: Mapping[str, str] | None = None) -> Iterator[EmulatedStack]:
    """Deploy and run the stack, with `environment` added to that of the functions.

    Call it from the main thread only.
    """
    with running_emulator() as emulator:
        state = emulator.plan.state
        say("Building the bundle")
        _run("infra.bundle", "--target", "local", "--into", str(state / "bundles"))
        say("Synthesizing the templates")
        settings = {
            "jwt_issuer": emulator.issuer.url,
            "jwt_audiences": [AUDIENCE],
            "jwt_keys_url": emulator.issuer.keys_url,
            "operator_role": OPERATOR_ROLE,
            "environment": dict(environment or {}),
        }
        assembly = state / "cdk.out"
        _run("infra.emulator.assembly", str(assembly), str(state / "bundles"), json.dumps(settings))
        say("Deploying")
        deployment = Deployment(assembly, emulator.session, emulator.plan.gateway_url, ACCOUNT)
        outputs = deployment.run(lambda text: say(f"  {text}"))
        tenant = read_tenant_file(EXAMPLE_TENANT)
        stack = EmulatedStack(emulator, outputs, tenant)
        _install(stack, tenant)
        yield stack


def _run(module: str, *arguments: str) -> None:
    """Run a module in a process of its own, because CDK keeps Node running as long as its process lives."""
    command = [sys.executable, "-m", module, *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise EmulatorFailed(f"{module} failed:\n{ended.stdout}{ended.stderr}")


def _install(stack: EmulatedStack, tenant: TenantFile) -> None:
    database = Database(act_as(stack.owner_url, "signet_api"), PoolSettings())
    try:
        install_tenant(database, tenant, COMMAND_LINE)
    finally:
        database.close()
