"""Authors' files: they mean what JSON would mean, and everything else in them is a finding."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from signet.authoring import yaml_text
from signet.authoring.files import MAX_FILE_BYTES, parse_text, read_document


@pytest.fixture(params=["CSafeLoader", "SafeLoader"], autouse=True)
def both_parsers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "LOADER", getattr(yaml, request.param))


def codes(text: str, name: str = "contract.yaml") -> list[str]:
    document, findings = parse_text(text, name)
    assert document is None or not findings
    return [finding.code for finding in findings]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on: 1", {"on": 1}),
        ("no: yes", {"no": "yes"}),
        ("a: [True, off, y, NULL]", {"a": ["True", "off", "y", "NULL"]}),
        ("a: [true, false, null, ~, ]", {"a": [True, False, None, None]}),
        ("a:\nb: ''", {"a": None, "b": ""}),
        ("a: 2026-01-01", {"a": "2026-01-01"}),
        ("a: 2026-01-01T10:00:00Z", {"a": "2026-01-01T10:00:00Z"}),
        ("a: [010, 0o10, 0x1F, 0b1, 1_000, +1, 12:30]", {"a": "010 0o10 0x1F 0b1 1_000 +1 12:30".split()}),
        ("a: [0, -7, 1.5, 1e3, -0.5E-1]", {"a": [0, -7, 1.5, 1000.0, -0.05]}),
        ("a: [.5, 1., .inf, .nan]", {"a": [".5", "1.", ".inf", ".nan"]}),
        ("a: ['1', \"true\", '<<']", {"a": ["1", "true", "<<"]}),
        ("a: =", {"a": "="}),
        ("'1': x\n'<<': y", {"1": "x", "<<": "y"}),
        ("a: |\n  two\n  lines\n", {"a": "two\nlines\n"}),
        ("---\n[1, {a: []}]\n...\n", [1, {"a": []}]),
        ("\ufeffa: é😀", {"a": "é😀"}),
    ],
)
def test_plain_words_mean_what_json_could_say(text: str, value: Any) -> None:
    assert parse_text(text, "contract.yaml") == (value, ())


@pytest.mark.parametrize(
    ("text", "code", "place", "line", "column"),
    [
        ("a: 1\nb:\n  a: 1\n  a: 2\n", "DOCUMENT_KEY_TWICE", "/b/a", 4, 3),
        ("a: 1\n'a': 2\n", "DOCUMENT_KEY_TWICE", "/a", 2, 1),
        ("a: !!python/object/apply:os.system [id]", "DOCUMENT_TAG", "/a", 1, 4),
        ("- !!str 1", "DOCUMENT_TAG", "/0", 1, 3),
        ("a: &x [1]", "DOCUMENT_ANCHOR", "/a", 1, 4),
        ("a:\n  <<: {b: 1}", "DOCUMENT_MERGE_KEY", "/a", 2, 3),
        ("a: 1\n2: 3", "DOCUMENT_KEY_NOT_TEXT", "", 2, 1),
        ("true: 3", "DOCUMENT_KEY_NOT_TEXT", "", 1, 1),
        ("[{~: 3}]", "DOCUMENT_KEY_NOT_TEXT", "/0", 1, 3),
        ("? [a]\n: b", "DOCUMENT_KEY_NOT_TEXT", "", 1, 3),
        ("? " + "k" * 300 + "\n: b", "DOCUMENT_KEY_TOO_LONG", "", 1, 3),
        ("a: 1\n---\nb: 2", "DOCUMENT_SEVERAL", "", 2, 1),
        ("a: 9007199254740992", "DOCUMENT_NUMBER_INVALID", "/a", 1, 4),
        ("a: 1e400", "DOCUMENT_NUMBER_INVALID", "/a", 1, 4),
        ("a: " + "9" * 5000, "DOCUMENT_NUMBER_INVALID", "/a", 1, 4),
        ('a: "\\0"', "DOCUMENT_TEXT_INVALID", "/a", 1, 4),
        ("a: 1\nb: \0", "DOCUMENT_CHARACTER_INVALID", "", 2, 4),
        ("a: \ud800", "DOCUMENT_CHARACTER_INVALID", "", 1, 4),
        ("a: 1\n\tb: 2", "DOCUMENT_SYNTAX", "", 2, 1),
        ("[" * 51 + "]" * 51, "DOCUMENT_TOO_DEEP", "/0" * 50, 1, 51),
    ],
)
def test_what_is_wrong_with_yaml_is_said_with_its_place(
    text: str, code: str, place: str, line: int, column: int
) -> None:
    document, findings = parse_text(text, "contract.yaml")
    assert document is None
    [finding] = findings
    assert (finding.code, finding.place) == (code, place)
    assert (finding.parameters["line"], finding.parameters["column"]) == (line, column)
    assert finding.sentence.startswith(f"contract.yaml, line {line}, column {column}: ")


def test_several_mistakes_are_reported_at_once() -> None:
    text = "a: &x 1\nb: *x\nc: !!int 1\na: 2\nd: {e: 1, e: 2}\n"
    assert codes(text) == [
        "DOCUMENT_ANCHOR",
        "DOCUMENT_ANCHOR",
        "DOCUMENT_TAG",
        "DOCUMENT_KEY_TWICE",
        "DOCUMENT_KEY_TWICE",
    ]
    assert len(codes("a: 1\n" * 1000)) == 200


@pytest.mark.parametrize("text", ["", "  \n", "# nothing\n", "\ufeff"])
def test_an_empty_file(text: str) -> None:
    assert codes(text) == ["DOCUMENT_EMPTY"]


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x,x]\n" + "".join(f"b{n}: &b{n} [*a,*a,*a,*a,*a,*a]\n" for n in range(9)),
        "&a " * 100_000,
        "[" * 200_000,
        "{a: " * 100_000,
        "- " * 300_000,
        "? " * 300_000,
        "a: [" + "[1]," * 20_000,
        '"' + "x" * 500_000,
        "!" * 300_000,
        "%" * 300_000,
        "%YAML 9.9\n---\na: 1",
        "a: 1\n... x",
        "}",
    ],
    ids=lambda text: str(text[:12]),
)
def test_bombs_are_findings_and_quick(text: str) -> None:
    begin = time.thread_time()
    assert codes(text)
    assert time.thread_time() - begin < 20, "it is bounded by its own work, and not by the clock"


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ('{"a": 1, "a": 2}', "DOCUMENT_KEY_TWICE", "/a"),
        ('{"a": [NaN]}', "DOCUMENT_NUMBER_INVALID", "/a/0"),
        ("-Infinity", "DOCUMENT_NUMBER_INVALID", ""),
        ('{"a": 1e400}', "DOCUMENT_NUMBER_INVALID", "/a"),
        ('{"a": 9007199254740992}', "DOCUMENT_NUMBER_INVALID", "/a"),
        ("9" * 5000, "DOCUMENT_NUMBER_INVALID", ""),
        ('{"a": "\\u0000"}', "DOCUMENT_TEXT_INVALID", "/a"),
        ('{"\\ud800": 1}', "DOCUMENT_TEXT_INVALID", ""),
        (f'{{"{"k" * 300}": 1}}', "DOCUMENT_KEY_TOO_LONG", ""),
        ("[" * 51 + "]" * 51, "DOCUMENT_TOO_DEEP", "/0" * 50),
        ("[" * 200_000 + "]" * 200_000, "DOCUMENT_TOO_DEEP", ""),
        ("  ", "DOCUMENT_EMPTY", ""),
    ],
    ids=lambda text: str(text[:20]),
)
def test_what_is_wrong_with_json(text: str, code: str, place: str) -> None:
    document, findings = parse_text(text, "contract.json")
    assert document is None
    assert [(finding.code, finding.place) for finding in findings] == [(code, place)]


def test_json_is_read_and_its_syntax_mistakes_have_a_line() -> None:
    text = '{"a": [1, -2.5, "x", true, null, {}], "b": 12}'
    assert parse_text(text, "C.JSON") == ({"a": [1, -2.5, "x", True, None, {}], "b": 12}, ())
    [finding] = parse_text('{"a": 1,\n "b": "\t"}', "c.json")[1]
    assert finding.sentence == "c.json, line 2, column 8: invalid control character."
    assert len(codes("[" + "NaN," * 500 + "[1]]", "c.json")) == 500


def test_a_name_without_a_known_ending() -> None:
    assert codes("a: 1", "contract") == ["DOCUMENT_FORMAT_UNKNOWN"]
    assert codes("a: 1", "contract.YML") == []


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "contract.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_document(path) == ({"a": 1}, ())
    for content, code in [
        (b"a: 1\nb: \xff", "DOCUMENT_NOT_UTF8"),
        ("a: 1".encode("utf-16"), "DOCUMENT_NOT_UTF8"),
        (b"a: " + b"x" * 2 * MAX_FILE_BYTES, "DOCUMENT_TOO_LARGE"),
        (b"a: \x00", "DOCUMENT_CHARACTER_INVALID"),
    ]:
        path.write_bytes(content)
        document, findings = read_document(path)
        assert document is None
        assert [finding.code for finding in findings] == [code]
    path.write_bytes(b"a: 1\nb: \xff")
    assert read_document(path)[1][0].sentence == f"{path}, line 2, column 4: the byte 0xFF is not UTF-8."


def test_text_larger_than_a_file_may_be() -> None:
    assert codes("é" * (MAX_FILE_BYTES // 2 + 1)) == ["DOCUMENT_TOO_LARGE"]


def test_what_is_no_readable_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    for path in (
        tmp_path,
        tmp_path / "none.yaml",
        tmp_path / "pipe.yaml",
        Path("/dev/zero"),
        Path("a\0.yaml"),
    ):
        assert [finding.code for finding in read_document(path)[1]] == ["DOCUMENT_UNREADABLE"]


@given(
    st.text(
        alphabet=st.sampled_from(list("ab:-[]{}?&*!|>'\"%@`#, \n\t01.~<\\u0é\x85\u2028\ufeff")), max_size=60
    )
)
def test_any_text_gets_an_answer(text: str) -> None:
    for name in ("a.yaml", "a.json"):
        document, findings = parse_text(text, name)
        assert document is None or not findings
