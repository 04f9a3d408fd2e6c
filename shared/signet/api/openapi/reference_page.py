"""The OpenAPI document as one page of HTML that loads nothing from anywhere."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import orjson

_METHODS = ("get", "post", "put", "patch", "delete")
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; color: #1c2430; background: #fff; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 6rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid #d8dee6; }
details { border: 1px solid #d8dee6; border-radius: 6px; margin: .5rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { background: #f4f6f8; padding: .8rem; overflow: auto; border-radius: 6px; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 600; }
.note { color: #55606e; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .2rem .6rem .2rem 0; vertical-align: top; border-top: 1px solid #eef1f4; }
@media (prefers-color-scheme: dark) {
  body { color: #e4e9f0; background: #12161c; }
  h2, details { border-color: #303a46; } pre { background: #1b222b; } .note { color: #9aa7b6; }
  td, th { border-color: #232b35; } a { color: #7db4ff; }
}
"""


def write_reference_page(document: Mapping[str, Any]) -> str:
    info = document["info"]
    tags = _group(document)
    contents = " · ".join(f'<a href="#{_anchor(tag)}">{escape(tag)}</a>' for tag in tags)
    body = "\n".join(
        f'<h2 id="{_anchor(tag)}">{escape(tag)}</h2>\n' + "\n".join(operations)
        for tag, operations in tags.items()
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(info["title"])} '
        f'API</title>\n<meta name="viewport" content="width=device-width">\n'
        f"<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{escape(info['title'])} API</h1>\n<p>{escape(info['description'])}</p>\n"
        f'<p><a href="/openapi.json">openapi.json</a></p>\n<p>{contents}</p>\n{body}\n'
        f'<h2 id="schemas">Schemas</h2>\n{_write_schemas(document)}\n</main>\n</body>\n</html>\n'
    )


def _group(document: Mapping[str, Any]) -> dict[str, list[str]]:
    tags: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                tags.setdefault(methods[method]["tags"][0], []).append(
                    _write_operation(path, method, methods[method])
                )
    return tags


def _write_operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    parts = [f"<p>{escape(operation['description'])}</p>"] if operation.get("description") else []
    parts += _write_parameters(operation.get("parameters", ()))
    body = operation.get("requestBody")
    if body is not None:
        parts.append(f"<p>Body: {_write_content(body['content'])}</p>")
    rows = "".join(
        f"<tr><td><code>{status}</code></td><td>{_write_response(response)}</td></tr>"
        for status, response in sorted(operation["responses"].items())
    )
    parts.append(f"<table>{rows}</table>")
    return (
        f'<details id="{escape(operation["operationId"])}"><summary><code><span class="method">'
        f'{method.upper()}</span>{escape(path)}</code> <span class="note">'
        f"{escape(operation['summary'])}</span></summary>"
        f"{''.join(parts)}</details>"
    )


def _write_parameters(parameters: Any) -> Iterator[str]:
    if not parameters:
        return
    rows = "".join(
        f"<tr><td><code>{escape(one['name'])}</code></td><td>{escape(one['in'])}"
        f"{', required' if one.get('required') else ''}</td><td>{_write_schema(one.get('schema', {}))} "
        f"{escape(one.get('description', ''))}</td></tr>"
        for one in parameters
    )
    yield f"<table>{rows}</table>"


def _write_response(response: Mapping[str, Any]) -> str:
    reference = response.get("$ref")
    if reference is not None:
        return '<a href="#schema-Problem">Problem</a>'
    return f"{escape(response['description'])} {_write_content(response.get('content', {}))}"


def _write_content(content: Mapping[str, Any]) -> str:
    return ", ".join(
        f"<code>{escape(kind)}</code> {_write_schema(one.get('schema', {}))}" for kind, one in content.items()
    )


def _write_schema(schema: Mapping[str, Any]) -> str:
    reference = schema.get("$ref")
    if reference is not None:
        name = reference.rsplit("/", 1)[1]
        return f'<a href="#schema-{escape(name)}">{escape(name)}</a>'
    if schema.get("type") == "array":
        return f"list of {_write_schema(schema.get('items', {}))}"
    if "anyOf" in schema:
        return " or ".join(_write_schema(one) for one in schema["anyOf"])
    kind = schema.get("format") or schema.get("type") or "any"
    return escape(kind if isinstance(kind, str) else " or ".join(kind))


def _write_schemas(document: Mapping[str, Any]) -> str:
    return "\n".join(
        f'<details id="schema-{escape(name)}"><summary><code>{escape(name)}</code></summary>'
        f"<pre>{escape(_write_json(schema))}</pre></details>"
        for name, schema in sorted(document["components"]["schemas"].items())
    )


def _write_json(schema: Any) -> str:
    return orjson.dumps(schema, option=orjson.OPT_INDENT_2).decode()


def _anchor(tag: str) -> str:
    return escape(tag.lower().replace(" ", "-"))
