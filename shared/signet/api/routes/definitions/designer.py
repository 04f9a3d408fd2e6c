"""Routes of the designer: node types, actions, names in scope, and checks of expressions."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from pydantic import Field

from signet.api.http.call import Call
from signet.api.http.cursors import Page, cut_page, make_page, parse_cursor
from signet.api.http.parameters import MAX_VERSION, PAGE, Cursor, Id, Limit, Named, PathId
from signet.api.http.routing import Routes
from signet.core.errors import FieldError, Rejected
from signet.core.validation.strict_model import ExpressionText, Strict
from signet.core.validation.text import NAME_PATTERN
from signet.engine.definitions.designer.expressions import (
    CheckedExpression,
    NamesInScope,
    NodeLocation,
    OfContract,
)
from signet.engine.definitions.designer.palette import ActionRecord, NodeTypeRecord

NODE_PATTERN = r"^[!-.0-~]{1,300}$"
NodeId = Annotated[str, Field(pattern=NODE_PATTERN)]


class NewExpression(Strict):
    """An expression at a node, or about the documents of a type; else it may read no document."""

    text: ExpressionText
    is_condition: Annotated[bool, Field(description="Whether the expression must be true or false.")] = True
    definition_id: Annotated[Id | None, Field(strict=False)] = None
    node_id: NodeId | None = None
    is_after: Annotated[
        bool, Field(description="Whether the expression stands on an edge that leaves the node.")
    ] = False
    entity_type: Named | None = None
    version: Annotated[int | None, Field(ge=1, le=MAX_VERSION)] = None


def add_designing_routes(routes: Routes) -> None:
    @routes.get("/v1/node_types", "The types of nodes", Page[NodeTypeRecord])
    def list_node_types(call: Call, limit: Limit = PAGE, cursor: Cursor = None) -> Page[NodeTypeRecord]:
        """List all node types: those with a group are in the palette, the others are the compiler's."""
        records = call.use.palette.list_node_types(call.principal)
        return cut_page(records, limit, cursor, lambda record: record.name, "node_types")

    @routes.get("/v1/actions", "The actions that workflows may run", Page[ActionRecord])
    def list_actions(
        call: Call,
        entity_type: Annotated[str | None, Query(pattern=NAME_PATTERN)] = None,
        limit: Limit = PAGE,
        cursor: Cursor = None,
    ) -> Page[ActionRecord]:
        """List the actions of each type's newest published contract."""
        filters = ["actions", entity_type]
        place = parse_cursor(cursor, filters, str, str)
        after = (place[0], place[1]) if place else None
        records = call.use.palette.list_actions(
            call.principal, entity_type=entity_type, after=after, limit=limit + 1
        )
        return make_page(records, limit, lambda record: [record.entity_type, record.name], filters)

    @routes.post("/v1/expressions/check", "Check an expression", CheckedExpression, writes_nothing=True)
    def check_expression(call: Call, new: Annotated[NewExpression, Body()]) -> CheckedExpression:
        """Check an expression; its errors are answered with their places in the text."""
        where = _parse_location(new)
        return call.use.expressions.check(call.principal, new.text, where, is_condition=new.is_condition)

    @routes.get(
        "/v1/definitions/<definition_id>/nodes/<node_id>/scope",
        "The names that expressions at a node may read",
        NamesInScope,
    )
    def list_names(
        call: Call,
        definition_id: PathId,
        node_id: Annotated[str, Path(pattern=NODE_PATTERN)],
        is_after: Annotated[bool, Query(description="The names on the edges that leave the node.")] = False,
    ) -> NamesInScope:
        """List the names in scope at a node, also of a broken draft, as far as its graph goes."""
        return call.use.expressions.list_names(call.principal, NodeLocation(definition_id, node_id, is_after))


def _parse_location(new: NewExpression) -> NodeLocation | OfContract:
    if (new.definition_id is None) != (new.node_id is None):
        raise _refuse("/node_id", "must be sent together with definition_id")
    if new.version is not None and new.entity_type is None:
        raise _refuse("/version", "needs an entity_type beside it")
    if new.definition_id is None or new.node_id is None:
        return OfContract(new.entity_type, new.version)
    if new.entity_type is not None:
        raise _refuse("/entity_type", "must not be sent with a definition_id, which has its own")
    return NodeLocation(new.definition_id, new.node_id, new.is_after)


def _refuse(pointer: str, sentence: str) -> Rejected:
    field = FieldError(pointer, "COMBINATION", sentence)
    return Rejected(
        "REQUEST_INVALID", "The request does not have the form that this route needs.", fields=(field,)
    )
