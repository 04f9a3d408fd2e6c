"""Files made from the routes: their index, the OpenAPI document, and the page to read.

Git keeps the first two. The page is made where it is served: on one machine, and for a bundle.
"""

import os
from collections.abc import Mapping
from typing import Any

from signet.api.application import make_resolver
from signet.api.http.routing import Declared
from signet.api.openapi.document import make_openapi, openapi_text
from signet.api.openapi.reference_page import write_reference_page
from signet.api.routes.index import INDEX_FILE, RouteEntry, make_index, write_index
from signet.api.routes.operations.reference import OPENAPI_FILE, REFERENCE_FILE
from signet.api.routes.table import load_all_groups


def describe_all() -> tuple[dict[str, Any], list[Declared], list[RouteEntry]]:
    """Return the OpenAPI document, the declarations of its routes, and their index."""
    resolver = make_resolver()
    resolver.describes_answers = True
    load_all_groups(resolver)
    declared = [route for routes in resolver.declared.values() for route in routes]
    return make_openapi(resolver, declared), declared, make_index(resolver.declared)


def main() -> None:
    document, _, index = describe_all()
    INDEX_FILE.write_text(write_index(index), encoding="utf-8")
    OPENAPI_FILE.write_text(openapi_text(document), encoding="utf-8")
    _write_page(document)


def renew_page() -> None:
    """Write the page where it is missing, or older than what it is made of."""
    sources = (OPENAPI_FILE, *OPENAPI_FILE.parent.glob("*.py"))
    newest = max(source.stat().st_mtime for source in sources)
    if not REFERENCE_FILE.exists() or REFERENCE_FILE.stat().st_mtime < newest:
        _write_page(describe_all()[0])


def _write_page(document: Mapping[str, Any]) -> None:
    """Replace the page as a whole, because other processes may write or read it at the same time."""
    written = REFERENCE_FILE.with_suffix(f".html.{os.getpid()}")
    written.write_text(write_reference_page(document), encoding="utf-8")
    written.replace(REFERENCE_FILE)


if __name__ == "__main__":
    main()
