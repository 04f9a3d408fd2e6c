"""`signet contract check`, `signet compile`, `signet diff`: their output and their exit codes."""

import copy
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from signet.authoring.artifact_file import MAX_DEPTH, read_artifact_file
from signet.cli.console import paint_marks, uses_colours, write
from signet.cli.main import app
from signet.core.canonical_json import canonical_bytes
from tests.support.core.golden_files import assert_golden
from tests.support.core.small_workflows import AUTOMATION, CONTRACT, PATCH, change_node, compile_patch

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FOLDERS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
TENANT = {
    "tenant_id": "01900000-0000-7000-8000-000000000001",
    "name": "acme",
    "settings": {"custom": {"trusted_vendors": {"type": "list of string", "value": ["V-1"]}}},
}


def signet(*words: object) -> Result:
    """Run the command line. No words give a traceback: only exits come back."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def put(file: Path, document: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document) if file.suffix == ".json" else yaml.safe_dump(document, sort_keys=False)
    file.write_text(document if isinstance(document, str) else text, encoding="utf-8")
    return file


@pytest.fixture
def invoice(tmp_path: Path) -> Path:
    put(tmp_path / "tenant.yaml", TENANT)
    put(tmp_path / "invoice" / "contract.yaml", CONTRACT)
    put(tmp_path / "invoice" / "patch.yaml", PATCH)
    return tmp_path / "invoice"


@pytest.fixture
def compiled(invoice: Path, tmp_path: Path) -> Path:
    file = tmp_path / "compiled.json"
    assert signet("compile", invoice, "--json", "--output", file).exit_code == 0
    return file


# Files that no command may fail on, and the exit code that follows.
NONSENSE = {
    "empty.yaml": (b"", 1),
    "list.yaml": (b"- 1\n- 2\n", None),
    "number.json": (b"7", None),
    "broken.yaml": (b"a: [", 1),
    "broken.json": (b'{"a":', 1),
    "tags.yaml": (b"!!python/object/apply:os.system ['true']", 1),
    "twice.yaml": (b"a: 1\na: 2\n", 1),
    "deep.json": (b"[" * 100_000, 1),
    "deep.yaml": (b"[" * 100_000, 1),
    "binary.yaml": (bytes(range(256)), 2),
    "utf16.json": ("{}".encode("utf-16"), 2),
    "nul.yaml": (b"a: \x00", 1),
    "huge.yaml": (b"a" * 2_000_000, 1),
    "program.exe": (b"MZ", 2),
    "image.png": (b"\x89PNG\r\n", 2),
}


@pytest.mark.parametrize("name", NONSENSE)
@pytest.mark.parametrize("command", [["contract", "check"], ["compile"], ["diff"]])
def test_nonsense_files(tmp_path: Path, name: str, command: list[str]) -> None:
    content, expected = NONSENSE[name]
    file = tmp_path / name
    file.write_bytes(content)
    # A readable file that is neither contract nor patch is a contract with errors, or nothing to compile.
    code = expected or (1 if command[0] == "contract" else 2)
    result = signet(*command, file)
    assert result.exit_code == code, result.output
    assert result.output


@pytest.mark.parametrize("command", [["contract", "check"], ["compile"], ["diff"]])
@pytest.mark.parametrize("name", ["nothing.yaml", "no/where.json", "", "x" * 5_000, "a\x00b"])
def test_missing_files_and_folders_without_anything(tmp_path: Path, command: list[str], name: str) -> None:
    assert signet(*command, tmp_path / name).exit_code == 2


@pytest.mark.parametrize(
    "words",
    [
        ["compile"],
        ["diff"],
        ["contract", "check"],
        ["contract", "unknown"],
        ["compile", ".", "--json", "--mermaid"],
        ["diff", ".", "--json", "--mermaid"],
        ["compile", ".", "--unknown"],
    ],
)
def test_wrong_use(words: list[str]) -> None:
    assert signet(*words).exit_code == 2


@pytest.mark.parametrize("words", [["compile"], ["diff"], ["contract", "check"]])
def test_help_has_examples(words: list[str]) -> None:
    result = signet(*words, "--help")
    assert result.exit_code == 0
    assert "Examples:" in result.output and f"signet {' '.join(words)} " in result.output


class TestContractCheck:
    def test_a_good_one(self, invoice: Path) -> None:
        result = signet("contract", "check", invoice / "contract.yaml")
        assert result.exit_code == 0
        assert result.output == f"{invoice / 'contract.yaml'}: no findings\n"

    def test_every_mistake_of_every_file(self, invoice: Path, tmp_path: Path) -> None:
        bad = put(tmp_path / "bad.yaml", {**CONTRACT, "states": {"draft": {"edit": "sometimes"}}, "extra": 1})
        result = signet("contract", "check", invoice / "contract.yaml", bad)
        assert result.exit_code == 1
        assert f"error {bad} /extra: " in result.output
        assert f"error {bad} /states/draft/edit: " in result.output
        assert "(FIELD_INVALID)" in result.output
        assert f"{bad}: 2 errors" in result.output
        assert "\x1b" not in result.output

    def test_as_json(self, tmp_path: Path) -> None:
        bad = put(tmp_path / "bad.json", {"contract": "x"})
        result = signet("contract", "check", "--json", bad)
        assert result.exit_code == 1
        findings = json.loads(result.stdout)["findings"]
        assert {finding["file"] for finding in findings} == {str(bad)}
        assert all(
            {"code", "severity", "place", "sentence", "remedy"} <= finding.keys() for finding in findings
        )

    def test_one_unreadable_among_others(self, invoice: Path, tmp_path: Path) -> None:
        assert signet("contract", "check", invoice / "contract.yaml", tmp_path / "none.yaml").exit_code == 2


class TestCompile:
    def test_the_summary(self, invoice: Path) -> None:
        result = signet("compile", invoice)
        assert result.exit_code == 0
        assert_golden("summary.txt", result.stdout.replace(str(invoice), "invoice"))

    def test_json_holds_what_was_hashed(self, invoice: Path) -> None:
        shown = json.loads(signet("compile", invoice, "--json").stdout)
        assert shown["hash"] == compile_patch(PATCH).hash
        assert hashlib.sha256(canonical_bytes(shown["artifact"])).hexdigest() == shown["hash"]
        assert shown["findings"] == [] or shown["findings"][0]["severity"] == "warning"

    def test_explain_and_mermaid(self, invoice: Path) -> None:
        assert signet("compile", invoice, "--explain").stdout.startswith("1. What this statement is about\n")
        assert signet("compile", invoice, "--mermaid").stdout.startswith("flowchart TD\n")

    def test_it_writes_files(self, invoice: Path, tmp_path: Path) -> None:
        file = tmp_path / "out.mmd"
        result = signet("compile", invoice, "--mermaid", "--output", file)
        assert (result.exit_code, result.stdout) == (0, "")
        assert file.read_text(encoding="utf-8") == signet("compile", invoice, "--mermaid").stdout

    @pytest.mark.parametrize("output", ["", "no/such/folder/out.txt"])
    def test_it_cannot_write_everywhere(self, invoice: Path, tmp_path: Path, output: str) -> None:
        result = signet("compile", invoice, "--output", tmp_path / output)
        assert result.exit_code == 2
        assert "cannot be written" in result.stderr

    def test_the_envelope_alone(self, invoice: Path) -> None:
        result = signet("compile", invoice / "contract.yaml")
        assert result.exit_code == 0
        assert result.stdout.startswith("envelope invoice\n") and "none filled" in result.stdout

    def test_a_patch_finds_its_contract(self, invoice: Path, tmp_path: Path) -> None:
        expected = signet("compile", invoice, "--json").stdout
        assert signet("compile", invoice / "patch.yaml", "--json").stdout == expected
        beside = put(tmp_path / "another" / "patch.yml", PATCH)
        assert signet("compile", beside, "--json").stdout == expected
        assert signet("compile", beside.parent, "--json").stdout == expected
        assert signet("compile", invoice / "contract.yaml", "--patch", beside, "--json").stdout == expected

    def test_a_patch_without_its_contract(self, tmp_path: Path) -> None:
        result = signet("compile", put(tmp_path / "alone" / "patch.yaml", PATCH))
        assert result.exit_code == 2
        assert "whose contract.yaml is neither" in result.stderr

    def test_errors(self, invoice: Path) -> None:
        bad = put(invoice / "bad.yaml", change_node("approvals", "fork", type="condition"))
        result = signet("compile", invoice, "--patch", bad)
        assert result.exit_code == 1
        assert result.stdout == ""
        assert f"error {bad} usr:approvals:" in result.stderr and "does not compile" in result.stderr
        as_json = signet("compile", invoice, "--patch", bad, "--json")
        shown = json.loads(as_json.stdout)
        assert as_json.exit_code == 1
        assert shown["artifact"] is shown["hash"] is None and shown["findings"]

    @pytest.mark.parametrize("broken", [{**PATCH, "extra": 1}, "a: ["])
    def test_a_patch_that_cannot_be_read(self, invoice: Path, broken: Any) -> None:
        assert signet("compile", invoice, "--patch", put(invoice / "bad.yaml", broken)).exit_code == 1
        assert signet("compile", invoice, "--patch", invoice / "none.yaml").exit_code == 2

    def test_the_tenant_that_was_named(self, invoice: Path, tmp_path: Path) -> None:
        other = put(tmp_path / "other" / "tenant.yaml", {**TENANT, "settings": {}})
        assert "trusted_vendors" in signet("compile", invoice, "--tenant", other).stderr
        assert signet("compile", invoice, "--tenant", put(other, {"name": 1})).exit_code == 1
        assert signet("compile", invoice, "--tenant", put(other, "a: [")).exit_code == 1
        assert signet("compile", invoice, "--tenant", tmp_path / "none.yaml").exit_code == 2

    def test_the_tenants_file_gives_the_names(self, invoice: Path, tmp_path: Path) -> None:
        """Refuse roles and users that a file with people does not have; no file, no question."""
        roles: list[dict[str, Any]] = [
            {"role": name, "permissions": []} for name in ("finance_manager", "budget_owner")
        ]
        members = [{"user_id": "ada", "display_name": "Ada"}]
        file = put(tmp_path / "people" / "tenant.yaml", {**TENANT, "roles": roles, "members": members})
        refused = signet("compile", invoice, "--tenant", file)
        assert refused.exit_code == 1
        assert "names the role 'clerk', which the tenant does not have" in refused.stderr
        put(file, {**TENANT, "roles": [*roles, {"role": "clerk", "permissions": []}], "members": members})
        assert signet("compile", invoice, "--tenant", file).exit_code == 0

    def test_without_a_tenant(self, invoice: Path) -> None:
        (invoice.parent / "tenant.yaml").unlink()
        assert signet("compile", invoice / "contract.yaml").exit_code == 0
        assert signet("compile", invoice).exit_code == 1

    def test_an_automation(self, tmp_path: Path, invoice: Path) -> None:
        alone = put(tmp_path / "cycle" / "automation.yaml", AUTOMATION)
        assert signet("compile", alone).stdout.startswith("automation reminder\n")
        assert signet("compile", alone.parent, "--explain").exit_code == 0
        assert signet("compile", alone, "--patch", invoice / "patch.yaml").exit_code == 2
        assert signet("compile", put(tmp_path / "bad.yaml", {**AUTOMATION, "nodes": []})).exit_code == 1
        about = put(tmp_path / "about" / "automation.yaml", {**AUTOMATION, "entity_type": "invoice"})
        assert signet("compile", about).exit_code == 0
        unknown = put(tmp_path / "about" / "automation.yaml", {**AUTOMATION, "entity_type": "nothing"})
        assert signet("compile", unknown).exit_code == 0

    def test_a_folder_with_both_compiles_the_patch_and_says_so(self, invoice: Path) -> None:
        put(invoice / "automation.yaml", AUTOMATION)
        result = signet("compile", invoice)
        assert result.stdout.startswith("effective standard\n")
        assert "automation.yaml is not part of this" in result.stderr
        assert "automation.yaml is not part of this" in signet("diff", invoice).stderr


class TestDiff:
    def test_a_patch_against_its_bare_envelope(self, invoice: Path) -> None:
        result = signet("diff", invoice)
        assert result.exit_code == 0
        assert "slot approvals: filled" in result.stdout and "\x1b" not in result.stdout
        assert signet("diff", invoice, "--exit-code").exit_code == 1
        assert json.loads(signet("diff", invoice, "--json").stdout)["counts"]["added"] > 0
        assert "classDef added" in signet("diff", invoice, "--mermaid").stdout

    def test_what_was_compiled_is_the_same(self, invoice: Path, compiled: Path, tmp_path: Path) -> None:
        result = signet("diff", compiled, invoice, "--exit-code")
        assert result.exit_code == 0
        assert "The two are the same." in result.stdout
        stored = put(tmp_path / "stored.json", compile_patch(PATCH).text)
        assert signet("diff", stored, compiled, "--exit-code").exit_code == 0

    def test_two_versions(self, invoice: Path, compiled: Path, tmp_path: Path) -> None:
        put(invoice / "patch.yaml", change_node("approvals", "finance", label="Head of finance"))
        file = tmp_path / "diff.txt"
        assert signet("diff", compiled, invoice, "--output", file).exit_code == 0
        assert '~ /label: "Finance" → "Head of finance"' in file.read_text(encoding="utf-8")

    def test_errors(self, invoice: Path, tmp_path: Path) -> None:
        bad = put(invoice / "bad.yaml", change_node("approvals", "fork", type="condition"))
        result = signet("diff", invoice, bad)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "does not compile" in result.stderr
        assert signet("diff", invoice, tmp_path / "none.yaml").exit_code == 2

    def test_nothing_to_compare_with(self, compiled: Path, tmp_path: Path) -> None:
        assert "name two" in signet("diff", compiled).stderr
        alone = put(tmp_path / "cycle" / "automation.yaml", AUTOMATION)
        result = signet("diff", alone)
        assert result.exit_code == 2 and "name two" in result.stderr
        assert signet("diff", alone, alone).exit_code == 0

    def test_an_altered_artifact_is_refused(self, invoice: Path, compiled: Path) -> None:
        document = json.loads(compiled.read_text(encoding="utf-8"))
        document["artifact"]["name"] = "forged"
        result = signet("diff", put(compiled, document), invoice)
        assert result.exit_code == 2
        assert "does not match its hash" in result.stderr


def _break(content: Any, *path: Any, to: Any) -> Any:
    content = copy.deepcopy(content)
    here = content
    for key in path[:-1]:
        here = here[key]
    if to is None:
        del here[path[-1]]
    else:
        here[path[-1]] = to
    return content


GOOD = json.loads(compile_patch(PATCH).text)
EDGE = next(iter(GOOD["edges"]))
DEEP: Any = []
for _ in range(MAX_DEPTH):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (_break(GOOD, "nodes", to=None), "at /nodes"),
        (_break(GOOD, "nodes", "sys:end", "type", to="magic"), "unknown type 'magic'"),
        (_break(GOOD, "nodes", "sys:end", "config", to={"x": 1}), "configuration of 'sys:end'"),
        (_break(GOOD, "edit_windows", "sys:end", to=None), "no edit window"),
        (_break(GOOD, "edges", EDGE, "target", to="nowhere"), "not there"),
        (_break(GOOD, "edges", EDGE, "on", to="luck"), "unknown outcome 'luck'"),
        (_break(GOOD, "topological_order", to=[]), "its order"),
        (_break(GOOD, "adjacency", to={}), "its adjacency"),
        (_break(GOOD, "slot_map", "sys:end", to="ghost"), "the slot 'ghost'"),
        (_break(GOOD, "extra", to=DEEP), "nested deeper"),
        (_break(GOOD, "extra", to=2**60), "not canonical JSON"),
    ],
)
def test_broken_artifacts(tmp_path: Path, content: Any, problem: str) -> None:
    artifact, found = read_artifact_file(put(tmp_path / "a.json", content))
    assert artifact is None
    assert found is not None and problem in found
    assert signet("diff", tmp_path / "a.json", tmp_path / "a.json").exit_code == 2


@pytest.mark.parametrize("key", sorted(GOOD))
def test_no_part_of_an_artifact_can_be_missing_or_nonsense(tmp_path: Path, key: str) -> None:
    values: list[Any] = [None, 7, [], {}, {"a": 1}, {"sys:end": []}]
    for value in values:
        file = put(tmp_path / "a.json", _break(GOOD, key, to=value))
        good = put(tmp_path / "good.json", GOOD)
        for words in (["diff", file, good], ["diff", good, file], ["diff", good, file, "--mermaid"]):
            # Without a compiler's version the file is taken for a contract.
            assert signet(*words).exit_code in (0, 2) or (key, value) == ("compiler_version", None)


class _Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class _Ascii(io.StringIO):
    encoding = "ascii"


def test_colours_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert uses_colours(_Terminal()) and not uses_colours(io.StringIO())
    painted = list(paint_marks(["  + a", "  - b", "  ~ c", "d", ""], _Terminal()))
    assert [line.startswith("\x1b") for line in painted] == [True, True, True, False, False]
    monkeypatch.setenv("NO_COLOR", "1")
    assert not uses_colours(_Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not uses_colours(_Terminal())


def test_a_narrow_encoding_does_not_fail() -> None:
    stream = _Ascii()
    write("a → b", stream)
    assert stream.getvalue() == "a \\u2192 b\n"


@pytest.mark.parametrize("name", FOLDERS)
def test_the_examples(name: str) -> None:
    for option in ([], ["--json"], ["--mermaid"], ["--explain"]):
        result = signet("compile", EXAMPLES / name, *option)
        assert result.exit_code == 0, result.output
    is_automation = (EXAMPLES / name / "automation.yaml").exists()
    assert signet("diff", EXAMPLES / name).exit_code == (2 if is_automation else 0)


def test_a_scenario_that_answers_a_call_as_nobody_could_is_found(tmp_path: Path) -> None:
    scenario = {"name": "paid", "outputs": {"bank": {"reference": "P-1"}}}
    file = put(tmp_path / "scenarios.yaml", {"scenarios": [scenario]})
    refused = signet("simulate", EXAMPLES / "sales_order_calls", "--scenarios", file)
    assert refused.exit_code == 1
    assert "paid: /outputs/bank/status is no answer" in refused.output
