"""Content types of bodies: JSON in UTF-8, and where a route says so a merge patch (RFC 7396)."""

from collections.abc import Mapping

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from signet.api.http.routing import Declared
from signet.core.errors import Rejected

JSON, MERGE_PATCH = "application/json", "application/merge-patch+json"
_PATCHES = (MERGE_PATCH, "application/json-patch+json")
_MEMBER = "/patch"


def list_accepted(methods: Mapping[str, bool]) -> dict[str, str]:
    """List the headers that say what each method takes; true is a method that takes a merge patch, too."""
    headers = {}
    if "POST" in methods:
        headers["accept-post"] = JSON
    if "PATCH" in methods:
        headers["accept-patch"] = f"{MERGE_PATCH}, {JSON}" if methods["PATCH"] else JSON
    return headers


def check_content_type(event: APIGatewayProxyEventV2, declared: Declared) -> None:
    """Require a type that the route takes, of a request that has a body."""
    if not declared.takes_body or not event.body:
        return
    media_type, charset = _parse(event.headers.get("content-type") or "")
    is_patch = media_type == MERGE_PATCH and declared.takes_merge_patch
    is_json = media_type == JSON or (media_type.endswith("+json") and media_type not in _PATCHES)
    if (is_json or is_patch) and charset in ("", "utf-8"):
        return
    accepted = list_accepted({declared.method: declared.takes_merge_patch}) or {"accept": JSON}
    raise Rejected(
        "CONTENT_TYPE_UNSUPPORTED",
        "The body is not of a type that this route takes.",
        remedy=f"Send it in UTF-8 as {' or '.join(accepted.values())}.",
        details={"accept": accepted},
    )


def is_merge_patch(event: APIGatewayProxyEventV2, declared: Declared) -> bool:
    return declared.takes_merge_patch and _parse(event.headers.get("content-type") or "")[0] == MERGE_PATCH


def wrap_merge_patch(event: APIGatewayProxyEventV2) -> APIGatewayProxyEventV2:
    """Return the event with the patch as a member of its body, as the route takes it."""
    body = f'{{"patch": {event.decoded_body}}}'
    headers = {**event.headers, "content-type": JSON}
    wrapped = {**event.raw_event, "body": body, "isBase64Encoded": False, "headers": headers}
    return APIGatewayProxyEventV2(wrapped, event._json_deserializer)


def unwrap_pointer(pointer: str) -> str:
    return pointer.removeprefix(_MEMBER)


def _parse(header: str) -> tuple[str, str]:
    media_type, *parameters = header.lower().split(";")
    pairs = (parameter.partition("=") for parameter in parameters)
    charsets = [value.strip(' "') for name, _, value in pairs if name.strip() == "charset"]
    return media_type.strip(), charsets[0] if charsets else ""
