"""Routes of templates: contracts, patches and automations to begin with."""

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.cursors import Page, cut_page
from signet.api.http.parameters import PAGE, Cursor, Limit, PathName
from signet.api.http.routing import Routes
from signet.engine.definitions.templates import TemplateRecord, UsedTemplate


def add_template_routes(routes: Routes) -> None:
    @routes.get("/v1/templates", "The templates", Page[TemplateRecord])
    def list_templates(call: Call, limit: Limit = PAGE, cursor: Cursor = None) -> Page[TemplateRecord]:
        records = call.use.templates.list(call.principal)
        return cut_page(records, limit, cursor, lambda record: record.name, "templates")

    @routes.post("/v1/templates/<template>/use", "Save a template as drafts", UsedTemplate, status=201)
    def use_template(call: Call, template: PathName) -> HttpAnswer:
        """Save a template: its contract as the next version of its type, its patch pinned to that version."""
        used = call.use.templates.use(call.caller, template)
        return HttpAnswer(used, 201, location=_location_of(used))


def _location_of(used: UsedTemplate) -> str:
    """Return the place of the contract, or of the first definition where there is none."""
    if used.contract is not None:
        return f"/v1/contracts/{used.contract.entity_type}/versions/{used.contract.version}"
    return f"/v1/definitions/{used.definitions[0].id}"
