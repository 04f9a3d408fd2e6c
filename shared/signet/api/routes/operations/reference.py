"""The API about itself: its OpenAPI document and a page to read, both made when the code is built.

The page is in no checkout: `build.renew_page` makes it.
"""

from functools import cache
from pathlib import Path

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.routing import Routes
from signet.core.errors import Rejected

OPENAPI_FILE = Path(__file__).parents[2] / "openapi" / "openapi.json"
REFERENCE_FILE = Path(__file__).parents[2] / "openapi" / "reference.html"
# They change with a deployment only.
_KEPT = {"cache-control": "public, max-age=300"}


def add_reference_routes(routes: Routes) -> None:
    @routes.get("/openapi.json", "This API, as OpenAPI 3.1", dict, is_public=True)
    def get_openapi(call: Call) -> HttpAnswer:
        return HttpAnswer(_read(OPENAPI_FILE), headers=_KEPT, is_text=True)

    @routes.get(
        "/reference", "This API, as a page", None, is_public=True, content_type="text/html; charset=utf-8"
    )
    def get_reference(call: Call) -> HttpAnswer:
        if not REFERENCE_FILE.exists():
            raise Rejected("ROUTE_NOT_FOUND", "The page was not made with this installation: make openapi.")
        return HttpAnswer(_read(REFERENCE_FILE), headers=_KEPT, is_text=True)


@cache
def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")
