"""The emulator's own parts that need no ministack; `make e2e` tries the whole."""

import json
import socket
import ssl
import threading
from http.client import HTTPConnection
from pathlib import Path
from uuid import UUID

import pytest

from infra.emulator.certificates import issue, make_authority
from infra.emulator.deploy import zip_folder
from infra.emulator.issuer import AUDIENCE, running_issuer
from infra.emulator.plan import EmulatorPlan, read_plan
from infra.emulator.runtime_api import InitFailed, Invocation, InvocationAnswer, Ready, RuntimeApi
from infra.emulator.state_folder import open_state_folder
from signet.api.auth.tokens import make_tokens
from signet.core.errors import Rejected
from signet.settings import ClaimNames, IssuerSettings

TENANT = UUID("018f2c8e-0000-7000-8000-00000000000a")
INVOCATION = Invocation("r-1", b'{"a": 1}', 1_800_000_000_000, "arn:aws:lambda:f", None)


def test_the_issuers_tokens_are_those_that_the_api_takes() -> None:
    with running_issuer() as issuer, running_issuer() as other:
        settings = IssuerSettings(issuer.url, (AUDIENCE,), issuer.keys_url, ClaimNames())
        tokens = make_tokens(issuer=settings)
        token = issuer.mint(subject="anna", tenant_id=str(TENANT), roles=["clerk"])
        principal = tokens.verify(token).principal
        assert (principal.tenant_id, principal.roles) == (TENANT, ("clerk",))
        with pytest.raises(Rejected, match="does not verify"):
            tokens.verify(other.mint(subject="anna", tenant_id=str(TENANT)))


def test_whoever_asks_the_issuer_gets_a_token() -> None:
    with running_issuer() as issuer:
        connection = HTTPConnection(issuer.url.removeprefix("http://"))
        asked = {"sub": "anna", "tenant_id": str(TENANT)}
        connection.request("POST", "/token", json.dumps(asked))
        answer = json.loads(connection.getresponse().read())
        connection.request("POST", "/token", b"{}")
        refused = connection.getresponse()
        assert (refused.status, answer["token_type"]) == (400, "Bearer")
        connection.close()


def test_the_authority_stands_for_the_names_that_it_signed(tmp_path: Path) -> None:
    authority, key = tmp_path / "authority.pem", tmp_path / "authority.key"
    make_authority(authority, key)
    name = "a.cluster-b.us-east-1.rds.amazonaws.com"
    there = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    there.load_cert_chain(issue(authority, key, name, tmp_path))
    here = ssl.create_default_context(cafile=str(authority))
    assert shake_hands(there, here, name) is None
    assert "mismatch" in str(shake_hands(there, here, "another.example"))


def shake_hands(there: ssl.SSLContext, here: ssl.SSLContext, name: str) -> Exception | None:
    one, other = socket.socketpair()

    def answer() -> None:
        try:
            there.wrap_socket(one, server_side=True).close()
        except OSError:
            one.close()

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        here.wrap_socket(other, server_hostname=name).close()
    except ssl.SSLCertVerificationError as error:
        return error
    else:
        return None
    finally:
        other.close()
        thread.join()


def test_a_process_asks_and_answers() -> None:
    api = RuntimeApi()
    connection = HTTPConnection(api.address)
    api.give(INVOCATION)
    connection.request("GET", "/2018-06-01/runtime/invocation/next")
    given = connection.getresponse()
    assert (given.read(), given.headers["Lambda-Runtime-Aws-Request-Id"]) == (b'{"a": 1}', "r-1")
    assert api.reports.get() == Ready()
    for path, report in {
        "invocation/r-1/response": InvocationAnswer("r-1", False, {"b": 2}),
        "invocation/r-1/error": InvocationAnswer("r-1", True, {"b": 2}),
        "init/error": InitFailed({"b": 2}),
    }.items():
        connection.request("POST", f"/2018-06-01/runtime/{path}", b'{"b": 2}')
        assert connection.getresponse().read() == b'{"status":"OK"}'
        assert api.reports.get() == report
    connection.request("GET", "/elsewhere")
    assert connection.getresponse().status == 404
    connection.close()
    api.close()


def test_the_plan_is_what_was_written(tmp_path: Path) -> None:
    place = tmp_path / "a"
    plan = EmulatorPlan("us-east-1", 1, place, place, place, place, place, place, 2, 3)
    plan.write(tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == plan


def test_the_same_folder_is_the_same_archive(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.py").write_text("c = 1\n")
    assert zip_folder(tmp_path) == zip_folder(tmp_path)


def test_what_a_killed_run_left_is_removed_and_what_runs_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / "signet-emulator-left"
    left.mkdir()
    (left / "lock").touch()
    with open_state_folder() as first:
        assert not left.exists()
        with open_state_folder() as second:
            assert first.is_dir()
        assert not second.exists()
