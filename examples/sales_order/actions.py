"""The sales order's action in Python. `SIGNET_EXTENSIONS=examples.sales_order.actions` loads it."""

from signet.authoring.actions import ActionInput, ActionResult, NewDocument, action

# A warehouse gives away so much without a question.
MAX_QUANTITY_AT_ONCE = 1_000
MAX_CHECKLIST_ITEMS = 100


@action("sales_order", "reserve_inventory")
def reserve_inventory(given: ActionInput) -> ActionResult:
    """Reserve the stock in a warehouse; lines too large for that become a task."""
    order = given.document.data
    large = [line for line in order["lines"] if line["quantity"] > MAX_QUANTITY_AT_ONCE]
    if not large:
        changes = {"stock": "reserved", "warehouse": given.payload["warehouse"]}
        return ActionResult(changes=changes, output={"reserved": True})
    checklist = [{"text": f"{line['quantity']} of {line['sku']}"} for line in large[:MAX_CHECKLIST_ITEMS]]
    task = {"title": f"Find stock for order {order['number']}", "project": "stock", "checklist": checklist}
    return ActionResult(
        changes={"stock": "backordered"},
        creates=[NewDocument("project_task", task)],
        output={"reserved": False},
    )
