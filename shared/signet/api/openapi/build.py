"""What is made of the routes when the code is built: their index, the OpenAPI document, the page to read."""

from typing import Any

from signet.api.application import make_resolver
from signet.api.http.routing import Declared
from signet.api.openapi.document import make_openapi, write_openapi
from signet.api.openapi.reference_page import write_reference_page
from signet.api.routes.index import INDEX_FILE, RouteEntry, make_index, write_index
from signet.api.routes.operations.reference import OPENAPI_FILE, REFERENCE_FILE
from signet.api.routes.table import load_all_groups


def describe_all() -> tuple[dict[str, Any], list[Declared], list[RouteEntry]]:
    """The OpenAPI document, what its routes declare, and their index."""
    resolver = make_resolver()
    resolver.describes_answers = True
    load_all_groups(resolver)
    declared = [one for ones in resolver.declared.values() for one in ones]
    return make_openapi(resolver, declared), declared, make_index(resolver.declared)


def main() -> None:
    document, _, index = describe_all()
    INDEX_FILE.write_text(write_index(index), encoding="utf-8")
    OPENAPI_FILE.write_text(write_openapi(document), encoding="utf-8")
    REFERENCE_FILE.write_text(write_reference_page(document), encoding="utf-8")


if __name__ == "__main__":
    main()
