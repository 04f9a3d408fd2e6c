"""The route of this deployment's metrics, in Prometheus' format."""

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.routing import Routes
from signet.api.prometheus import CONTENT_TYPE, describe_incidents, describe_queues, write_figures


def add_metrics_routes(routes: Routes) -> None:
    @routes.get(
        "/metrics",
        "Figures of this deployment, as Prometheus reads them",
        None,
        wants_metrics_token=True,
        content_type=CONTENT_TYPE,
    )
    def get_metrics(call: Call) -> HttpAnswer:
        """List metrics: outboxes and incidents of all tenants from the database, else from this process."""
        queues = describe_queues(call.use.operations.measure_queues())
        incidents = describe_incidents(call.use.operations.measure_incidents())
        figures = [*queues, *incidents, *call.use.telemetry.list_figures()]
        return HttpAnswer(write_figures(figures), is_text=True)
