"""A door that stands for Aurora's endpoint and for RDS Proxy, with TLS and tokens that IAM signed.

Behind it is a real Postgres that trusts its own socket. The door passes accepted connections on unchanged.
The proxy's pooling has no stand-in here.
"""

import asyncio
import functools
import logging
import ssl
import struct
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

from ministack.core import iam_evaluator, rds_iam
from ministack.core.responses import request_scope
from ministack.services import rds

from infra.emulator.certificates import issue
from infra.emulator.plan import ACCOUNT, EmulatorPlan

_SSL_REQUEST = 80_877_103
_CANCEL_REQUEST = 80_877_102
_PROTOCOL_3 = 196_608
_ASK_FOR_PASSWORD = b"R" + struct.pack("!II", 8, 3)
_MAX_STARTUP_BYTES = 10_000
_MAX_PASSWORD_BYTES = 65_536
_PART_BYTES = 65_536
_OPEN_SECONDS = 10.0
_LOG = logging.getLogger("signet.database_door")


class Refused(Exception):
    """A refused connection, with the code that Postgres has for it."""

    def __init__(self, message: str, code: str = "28P01") -> None:
        super().__init__(message)
        self.code = code


def open_door(plan: EmulatorPlan) -> None:
    """Open the door in a thread of its own, so that queries do not wait for ministack."""
    is_open = threading.Event()
    threading.Thread(target=lambda: asyncio.run(_serve(plan, is_open)), daemon=True).start()
    if not is_open.wait(_OPEN_SECONDS):
        raise SystemExit("the door to the database does not open")


async def _serve(plan: EmulatorPlan, is_open: threading.Event) -> None:
    context = _make_context(plan)

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _let_in(plan, context, reader, writer)
        except Refused as refused:
            _LOG.warning("refused: %s", refused)
            writer.write(_describe(refused))
        except (OSError, EOFError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(receive, "127.0.0.1", plan.door_port)
    is_open.set()
    async with server:
        await server.serve_forever()


def _make_context(plan: EmulatorPlan) -> ssl.SSLContext:
    """Return a context that gives a client the certificate of the name it asks for."""

    @functools.cache
    def choose(name: str) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(issue(plan.authority, plan.authority_key, name, plan.state))
        return context

    def show(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        connection.context = choose(name or "127.0.0.1")

    context = choose("127.0.0.1")
    context.sni_callback = show
    return context


async def _let_in(
    plan: EmulatorPlan, context: ssl.SSLContext, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    code, message = await _read_startup(reader)
    if code == _SSL_REQUEST:
        writer.write(b"S")
        await writer.drain()
        await writer.start_tls(context)
        code, message = await _read_startup(reader)
    elif code != _CANCEL_REQUEST:
        raise Refused("this endpoint speaks TLS only", "28000")
    if code != _CANCEL_REQUEST:
        role = _read_role(code, message)
        writer.write(_ASK_FOR_PASSWORD)
        await writer.drain()
        check_password(plan, role, await _read_password(reader))
    inner_reader, inner_writer = await asyncio.open_unix_connection(str(plan.database_socket))
    inner_writer.write(message)
    try:
        await asyncio.gather(_pass_on(reader, inner_writer), _pass_on(inner_reader, writer))
    finally:
        inner_writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while part := await reader.read(_PART_BYTES):
        writer.write(part)
        await writer.drain()
    writer.close()


async def _read_startup(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readexactly(8)
    length, code = struct.unpack("!II", head)
    if not 8 <= length <= _MAX_STARTUP_BYTES:
        raise Refused("no Postgres client", "08P01")
    return code, head + await reader.readexactly(length - 8)


def _read_role(code: int, message: bytes) -> str:
    parts = message[8:].split(b"\0")
    named = dict(zip(parts[::2], parts[1::2], strict=False))
    if code >> 16 != _PROTOCOL_3 >> 16 or b"user" not in named:
        raise Refused("no Postgres client", "08P01")
    return named[b"user"].decode(errors="replace")


async def _read_password(reader: asyncio.StreamReader) -> str:
    kind, length = struct.unpack("!cI", await reader.readexactly(5))
    if kind != b"p" or not 5 <= length <= _MAX_PASSWORD_BYTES:
        raise Refused("no password was sent")
    return (await reader.readexactly(length - 4)).rstrip(b"\0").decode(errors="replace")


def check_password(plan: EmulatorPlan, role: str, password: str) -> None:
    """Accept the master's password, or a token for an endpoint on which its signer may be this role."""
    if any(_is_master(cluster, role, password) for cluster in rds._clusters._data.values()):
        return
    target = urlsplit(f"//{password}")
    resource = dict(_list_endpoints()).get(target.hostname or "")
    if resource is None:
        raise Refused(f'password authentication failed for user "{role}"')
    verified = rds_iam.verify_rds_iam_token(
        password,
        hostname=target.hostname,
        port=target.port or 5432,
        db_user=role,
        region=plan.region,
        account_id=ACCOUNT,
    )
    if isinstance(verified, rds_iam.RdsIamTokenError):
        raise Refused(f'PAM authentication failed for user "{role}" ({verified.code})')
    arn = f"arn:aws:rds-db:{plan.region}:{ACCOUNT}:dbuser:{resource}/{role}"
    _check_policies(plan, verified.access_key_id, arn)


def _is_master(cluster: dict[str, object], role: str, password: str) -> bool:
    return cluster.get("MasterUsername") == role and cluster.get("_MasterUserPassword") == password


def _list_endpoints() -> Iterator[tuple[str, str]]:
    """Yield each endpoint with the id that a policy names it by."""
    for cluster in rds._clusters._data.values():
        yield cluster["Endpoint"].lower(), cluster["DbClusterResourceId"]
        yield cluster["ReaderEndpoint"].lower(), cluster["DbClusterResourceId"]
    for proxy in rds._db_proxies._data.values():
        yield proxy["Endpoint"].lower(), proxy["DBProxyArn"].rpartition(":")[2]


def _check_policies(plan: EmulatorPlan, key_id: str, arn: str) -> None:
    with request_scope(ACCOUNT, plan.region):
        principal = iam_evaluator.resolve_principal(key_id, ACCOUNT)
        if isinstance(principal, iam_evaluator.AuthError):
            raise Refused(f"PAM authentication failed: {principal.message}")
        if principal.policies is None:  # the account's root
            return
        request = iam_evaluator.EvalContext(
            principal_arn=principal.arn,
            principal_type=principal.type,
            principal_account=ACCOUNT,
            action="rds-db:connect",
            resource_arn=arn,
            region=plan.region,
            principal_keys=principal.keys,
        )
        decision = iam_evaluator.evaluate(request, principal.policies, *principal.limits)
        if decision.decision != "Allow":
            raise Refused(f"PAM authentication failed: {principal.arn} may not rds-db:connect to {arn}")


def _describe(refused: Refused) -> bytes:
    fields = b"SFATAL\0VFATAL\0C" + refused.code.encode() + b"\0M" + str(refused).encode() + b"\0\0"
    return b"E" + struct.pack("!I", len(fields) + 4) + fields
