"""What is made of the routes when the code is built: the OpenAPI document and the page to read."""

from signet.api.application import make_resolver
from signet.api.openapi import make_openapi, write_openapi
from signet.api.reference_page import write_reference_page
from signet.api.routes.reference import OPENAPI_FILE, REFERENCE_FILE


def main() -> None:
    document = make_openapi(*make_resolver())
    OPENAPI_FILE.write_text(write_openapi(document), encoding="utf-8")
    REFERENCE_FILE.write_text(write_reference_page(document), encoding="utf-8")


if __name__ == "__main__":
    main()
