"""The rules of prose for docstrings, comments and pages."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

MAX_WORDS = 25
# A docstring begins with a verb or a noun phrase. These words begin a fragment.
OPENERS = frozenset(
    "what who whose whom of which where when whether how why by as in with for until unless once since is"
    " does can are do from to without only none nobody nothing after before at if else also not inside"
    " outside so because all those whatever whoever another".split()
)
BANNED = re.compile(r"\b(?:whoever|whatever|whom|anew|somebody|he|his|him)\b", re.IGNORECASE)
_CODE = re.compile(r"`[^`]*`")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')*]*\s+")
# Comments for tools say nothing to a reader.
_DIRECTIVE = re.compile(r"#(?:!| *(?:noqa|type:|pragma|fmt:))")
# A text that begins with its code is kept in rows, and stays as it is.
_KEPT_TEXT = re.compile(r"[A-Z]+(?:_[A-Z]+)+: ")
_LIST_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+", re.MULTILINE)


def find_faults(text: str) -> Iterator[str]:
    """Yield each banned word and each long sentence of one paragraph or more."""
    for paragraph in re.split(r"\n\s*\n", text):
        for part in _LIST_ITEM.split(paragraph):
            yield from _find_faults_of_block(part)


def _find_faults_of_block(block: str) -> Iterator[str]:
    words = " ".join(_CODE.sub("x", block).split())
    if match := BANNED.search(words):
        yield f"says '{match[0]}'"
    for sentence in _SENTENCE_END.split(words):
        count = len(sentence.split())
        if count > MAX_WORDS:
            yield f"has {count} words in one sentence, at most {MAX_WORDS}: {sentence[:50]}…"


def find_docstring_faults(docstring: str) -> Iterator[str]:
    opening = re.match(r"[A-Za-z]+", docstring)
    if opening is not None and opening[0].lower() in OPENERS:
        yield f"opens with '{opening[0]}'"
    yield from find_faults(_drop_examples(docstring))


def find_source_faults(source: str) -> Iterator[str]:
    """Yield the faults of all docstrings and comments, each with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for fault in find_docstring_faults(ast.get_docstring(node) or ""):
                yield f"{getattr(node, 'lineno', 1)}: {fault}"
    for line, comment in list_comments(source):
        for fault in find_faults(comment):
            yield f"{line}: {fault}"


def find_text_faults(source: str) -> Iterator[str]:
    """Yield the banned words of string literals, because problems, findings and explanations are literals."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            match = None if _KEPT_TEXT.match(node.value) else BANNED.search(_CODE.sub("x", node.value))
            if match:
                yield f"{node.lineno}: says '{match[0]}'"


def list_comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments with their line; those on lines of their own that follow each other are one."""
    first, last, lines = 0, 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or _DIRECTIVE.match(token.string):
            continue
        is_alone = not token.line[: token.start[1]].strip()
        if not (is_alone and lines and token.start[0] == last + 1):
            if lines:
                yield first, "\n".join(lines)
            first, lines = token.start[0], []
        lines.append(token.string.lstrip("#").removeprefix(" "))
        last = token.start[0] if is_alone else 0
    if lines:
        yield first, "\n".join(lines)


def find_page_faults(page: str) -> Iterator[str]:
    """Yield the faults of a Markdown page: its code, tables' rules and links' targets are no prose."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)|\n(?=#)", text):
        cells = [cell for row in block.split("\n") for cell in row.split("|")] if "|" in block else [block]
        for cell in cells:
            yield from _find_faults_of_block(cell)


def _drop_examples(docstring: str) -> str:
    """Return the docstring without its indented lines and doctests, which are code."""
    return "\n".join("" if re.match(r"(?: {4}|>>>|\t)", line) else line for line in docstring.split("\n"))
