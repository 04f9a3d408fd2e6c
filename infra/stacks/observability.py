"""Alarms, and a dashboard each for the engine and for effects.

A dead letter of the engine stops an instance and raises an alarm. One of an effect waits for an operator to
send it again, because its receiver is the one in trouble.
"""

from collections.abc import Sequence

from aws_cdk import Duration, aws_cloudwatch, aws_rds, aws_sqs
from aws_cdk.aws_cloudwatch import IMetric, MathExpression, Metric
from constructs import Construct

from infra.constructs.alarms import Alarms, Trouble
from infra.constructs.http_front import HttpFront
from infra.constructs.signet_function import SignetFunction
from infra.constructs.signet_stack import SignetStack
from infra.constructs.work_queue import WorkQueue
from infra.settings import EnvironmentSettings
from infra.stacks.app import AppStack, Neighbours

_PERIOD = Duration.minutes(5)
_NEAR_TIMEOUT = 0.9
_MILLISECONDS = 1_000
_FULL_PERCENT = 90
_SERVER_ERRORS = 5
_DEADLOCKS = 5
# A few are a tenant's own matter. So many at once mean that people or roles were changed wrongly.
_LAPSED_VOTES = 10
_PAUSES_FOR_PEOPLE = 10
_UNATTENDED_INCIDENTS = 10
# The number of missed starts of a schedule.
_MISSED_STARTS = 3
_LEAST_SILENCE_MINUTES = 15
_WIDTH = 24
_COLUMNS = 3


class ObservabilityStack(SignetStack):
    def __init__(
        self, scope: Construct, settings: EnvironmentSettings, others: Neighbours, app: AppStack
    ) -> None:
        super().__init__(scope, "observability", settings)
        self._others = others
        self._app = app
        self.alarms = Alarms(self, "Alarms", settings)
        self._watch_engine()
        self._watch_approvals()
        self._watch_queues()
        for function in app.functions:
            # CloudFormation itself reports a failure of the migrator.
            if function is not app.migrator:
                self._watch_function(function)
        self._watch_front("api", app.front)
        self._watch_front("machines", app.machines)
        self._watch_database()
        self._watch_clock()
        self._show_engine()
        self._show_effects()

    def _own(self, name: str, statistic: str, *functions: SignetFunction) -> IMetric:
        """Return a metric of `signet.telemetry.metrics`, summed over these functions."""
        metrics = {
            f"m{number}": Metric(
                namespace=self.settings.metrics_namespace,
                metric_name=name,
                dimensions_map={"service": function.service},
                statistic=statistic,
                period=_PERIOD,
            )
            for number, function in enumerate(functions)
        }
        if len(functions) == 1:
            return metrics["m0"]
        # A function that reports nothing counts as 0.
        summed = " + ".join(f"FILL({key}, 0)" for key in metrics)
        return MathExpression(expression=summed, using_metrics=metrics, label=name, period=_PERIOD)

    def _by_effect_type(self, name: str, statistic: str) -> IMetric:
        return self._by("effect_type", name, statistic)

    def _by(self, dimension: str, name: str, statistic: str) -> IMetric:
        """Return a metric with a dimension of its own: one line for each value, such as an effect's type."""
        schema = f"{{{self.settings.metrics_namespace},{dimension},service}}"
        expression = f"SEARCH('{schema} MetricName=\"{name}\"', '{statistic}', {_PERIOD.to_seconds()})"
        return MathExpression(expression=expression, label="", period=_PERIOD)

    def _dead_letters(self) -> IMetric:
        app = self._app
        return self._own("DeadLetters", "Sum", app.node_execution, app.janitor)

    def _watch_engine(self) -> None:
        settings = self.settings
        words = "Triggers failed for the last time; their instances are paused."
        self.alarms.add(Trouble("engine-dead-letters", "engine-dead-letters", words, 1), self._dead_letters())
        self.alarms.add(
            Trouble(
                "late-triggers",
                "late-triggers",
                f"5 in 100 triggers waited for {settings.alarm_wait_seconds} s or longer.",
                settings.alarm_wait_seconds * _MILLISECONDS,
                periods=3,
            ),
            self._own("TriggerWait", "p95", self._app.node_execution),
        )
        words = "Triggers have been given back for 15 minutes: an outage, or one that nothing lets be done."
        self.alarms.add(Trouble("given-back", "given-back", words, 1, periods=3), self._given_back())
        words = "Something of the housekeeping is not done: see which task."
        self.alarms.add(
            Trouble("housekeeping-failures", "housekeeping-failures", words, 1),
            self._own("HousekeepingFailures", "Sum", self._app.janitor),
        )
        words = "Incidents have been open for an hour, and nobody has acknowledged them."
        self.alarms.add(
            Trouble("incidents-unattended", "incidents-unattended", words, _UNATTENDED_INCIDENTS, periods=2),
            self._own("IncidentsUnattended", "Maximum", self._app.janitor),
        )
        for name in ("events", "effects"):
            words = f"Something of {name} has been due for {settings.alarm_overdue_seconds} s or longer."
            self.alarms.add(
                Trouble(f"{name}-overdue", "overdue", words, settings.alarm_overdue_seconds, periods=2),
                self._oldest_due(name),
            )

    def _watch_approvals(self) -> None:
        """Watch what gates and waves find about approvals, and whether people are left who may decide."""
        troubles = [
            ("ApprovalsUnproven", "approvals-unproven", "Approvals were written past the API.", 1),
            (
                "VotesLapsed",
                "votes-lapsed",
                "Many voters have left or lost what their votes need.",
                _LAPSED_VOTES,
            ),
            (
                "PausesForPeople",
                "paused-for-people",
                "Many instances are held, because nobody is left who may decide or act.",
                _PAUSES_FOR_PEOPLE,
            ),
        ]
        for metric, name, words, threshold in troubles:
            self.alarms.add(
                Trouble(name, name, words, threshold), self._own(metric, "Sum", self._app.node_execution)
            )

    def _given_back(self) -> IMetric:
        """Return how many triggers outages gave back without an attempt."""
        return Metric(
            namespace=self.settings.metrics_namespace,
            metric_name="GivenBack",
            dimensions_map={"service": self._app.node_execution.service, "queue": "events"},
            statistic="Sum",
            period=_PERIOD,
        )

    def _oldest_due(self, queue: str) -> IMetric:
        """Return the age of the oldest due row, as the relay measured it with each sweep."""
        return Metric(
            namespace=self.settings.metrics_namespace,
            metric_name="OldestDue",
            dimensions_map={"service": self._app.outbox_relay.service, "queue": queue},
            statistic="Maximum",
            period=_PERIOD,
        )

    def _watch_queues(self) -> None:
        messaging = self._others.messaging
        for name, queue in (("events", messaging.events), ("effects", messaging.effects)):
            words = f"Messages of {name} came again and again, and were set aside."
            self.alarms.add(Trouble(f"{name}-set-aside", "set-aside", words, 1), _depth(queue.dead))
            self.alarms.add(
                Trouble(
                    f"{name}-waiting", "waiting", f"Nobody takes the messages of {name}.", 600, periods=2
                ),
                _age(queue),
            )
        self.alarms.add(
            Trouble("missed-starts", "missed-starts", "A schedule could not start its function.", 1),
            _depth(messaging.missed),
        )

    def _watch_function(self, function: SignetFunction) -> None:
        name, lambda_function = function.name.replace("_", "-"), function.function
        self.alarms.add(
            Trouble(f"{name}-errors", "errors", f"{function.full_name} fails.", 1, periods=2),
            lambda_function.metric_errors(period=_PERIOD, statistic="Sum"),
        )
        self.alarms.add(
            Trouble(f"{name}-throttles", "throttles", f"{function.full_name} is not let run.", 1, periods=2),
            lambda_function.metric_throttles(period=_PERIOD, statistic="Sum"),
        )
        self.alarms.add(
            Trouble(
                f"{name}-slow",
                "near-its-timeout",
                f"{function.full_name} takes almost the {function.seconds} s that it has.",
                function.seconds * _MILLISECONDS * _NEAR_TIMEOUT,
            ),
            lambda_function.metric_duration(period=_PERIOD, statistic="Maximum"),
        )

    def _watch_front(self, name: str, front: HttpFront) -> None:
        limit = self.settings.alarm_api_milliseconds
        self.alarms.add(
            Trouble(
                f"{name}-server-errors", "server-errors", f"{front.name} answers with 5xx.", _SERVER_ERRORS
            ),
            front.api.metric_server_error(period=_PERIOD, statistic="Sum"),
        )
        self.alarms.add(
            Trouble(
                f"{name}-latency",
                "latency",
                f"5 in 100 requests to {front.name} took {limit} ms or longer.",
                limit,
                periods=3,
            ),
            front.api.metric_latency(period=_PERIOD, statistic="p95"),
        )

    def _watch_database(self) -> None:
        cluster, settings = self._others.data.cluster, self.settings
        watched = [
            (
                "capacity",
                "The database has no more capacity to take.",
                _FULL_PERCENT,
                3,
                "ACUUtilization",
                "Average",
            ),
            ("cpu", "The database computes all the time.", _FULL_PERCENT, 3, "CPUUtilization", "Average"),
            (
                "connections",
                "The database has many connections.",
                settings.alarm_connections,
                2,
                "DatabaseConnections",
                "Maximum",
            ),
            ("deadlocks", "Transactions of the database stop each other.", _DEADLOCKS, 1, "Deadlocks", "Sum"),
        ]
        for name, words, threshold, periods, metric, statistic in watched:
            self.alarms.add(
                Trouble(f"database-{name}", f"database-{name}", words, threshold, periods=periods),
                cluster.metric(metric, period=_PERIOD, statistic=statistic),
            )

    def _watch_clock(self) -> None:
        """Watch for missing starts: a function that does not run reports no failure."""
        silence = Duration.minutes(max(_LEAST_SILENCE_MINUTES, _MISSED_STARTS * self.settings.sweep_minutes))
        for function in (self._app.janitor, self._app.outbox_relay):
            name = function.name.replace("_", "-")
            self.alarms.add(
                Trouble(
                    f"{name}-silent",
                    "silent",
                    f"{function.full_name} has not been started for {silence.to_minutes():.0f} minutes.",
                    1,
                    is_less=True,
                    is_silence=True,
                ),
                function.function.metric_invocations(period=silence, statistic="Sum"),
            )

    def _show_engine(self) -> None:
        app, messaging, cluster = self._app, self._others.messaging, self._others.data.cluster
        worker = app.node_execution
        self._show(
            "engine",
            [
                ("Dead letters: these paused instances", [self._dead_letters()]),
                (
                    "Triggers: from due to done (ms)",
                    [self._own("TriggerWait", s, worker) for s in ("p50", "p95")],
                ),
                ("Steps", [self._own("Steps", "Sum", worker)]),
                (
                    "Approvals: unproven, votes that lapsed, pauses for people",
                    [
                        self._own(name, "Sum", worker)
                        for name in ("ApprovalsUnproven", "VotesLapsed", "PausesForPeople")
                    ],
                ),
                (
                    "Incidents: open by code, not acknowledged for an hour",
                    [
                        self._by("code", "Incidents", "Maximum"),
                        self._own("IncidentsUnattended", "Maximum", app.janitor),
                    ],
                ),
                ("Housekeeping that failed", [self._own("HousekeepingFailures", "Sum", app.janitor)]),
                ("Waves", [self._own(name, "Sum", worker) for name in ("Waves", "TriggersRetried")]),
                ("Waves: size", [self._own("WaveSize", s, worker) for s in ("Average", "Maximum")]),
                ("Waves: duration (ms)", [self._own("WaveDuration", s, worker) for s in ("p50", "p95")]),
                ("Wake-ups of events", _both(messaging.events)),
                ("Requests", [front.api.metric_count(period=_PERIOD) for front in (app.front, app.machines)]),
                (
                    "Requests: duration, 95 in 100 (ms)",
                    [
                        front.api.metric_latency(period=_PERIOD, statistic="p95")
                        for front in (app.front, app.machines)
                    ],
                ),
                *self._show_functions([app.api, app.outbox_relay, worker, app.janitor]),
                ("Database: capacity, CPU (%)", _database(cluster, "ACUUtilization", "CPUUtilization")),
                ("Database: connections", _database(cluster, "DatabaseConnections")),
                ("Database: deadlocks", [cluster.metric("Deadlocks", period=_PERIOD, statistic="Sum")]),
            ],
        )

    def _show_effects(self) -> None:
        app, messaging = self._app, self._others.messaging
        self._show(
            "effects",
            [
                (
                    "Dead letters: these wait for somebody to send them again",
                    [self._by_effect_type("EffectDeadLetters", "Sum")],
                ),
                ("Failed attempts", [self._by_effect_type("EffectFailures", "Sum")]),
                ("Attempts", [self._by_effect_type("EffectAttempts", "Sum")]),
                ("Enqueued", [self._by_effect_type("Effects", "Sum")]),
                ("Duration, 95 in 100 (ms)", [self._by_effect_type("EffectDuration", "p95")]),
                ("Wake-ups of effects", _both(messaging.effects)),
                *self._show_functions([app.side_effect_io]),
            ],
        )

    def _show_functions(self, functions: Sequence[SignetFunction]) -> list[tuple[str, list[IMetric]]]:
        lambdas = [function.function for function in functions]
        return [
            ("Functions: errors", [function.metric_errors(period=_PERIOD) for function in lambdas]),
            ("Functions: throttles", [function.metric_throttles(period=_PERIOD) for function in lambdas]),
            (
                "Functions: duration (ms)",
                [function.metric_duration(period=_PERIOD, statistic="p95") for function in lambdas],
            ),
        ]

    def _show(self, name: str, graphs: Sequence[tuple[str, list[IMetric]]]) -> None:
        widgets = [
            aws_cloudwatch.GraphWidget(title=title, left=metrics, width=_WIDTH // _COLUMNS)
            for title, metrics in graphs
        ]
        rows = [widgets[first : first + _COLUMNS] for first in range(0, len(widgets), _COLUMNS)]
        aws_cloudwatch.Dashboard(
            self,
            name.title(),
            dashboard_name=f"{self.settings.prefix}-{name}",
            widgets=rows,
        )


def _depth(queue: aws_sqs.IQueue) -> IMetric:
    return queue.metric_approximate_number_of_messages_visible(period=_PERIOD, statistic="Maximum")


def _age(queue: WorkQueue) -> IMetric:
    return queue.queue.metric_approximate_age_of_oldest_message(period=_PERIOD, statistic="Maximum")


def _both(queue: WorkQueue) -> list[IMetric]:
    return [_depth(queue.queue), _depth(queue.dead)]


def _database(cluster: aws_rds.DatabaseCluster, *names: str) -> list[IMetric]:
    return [cluster.metric(name, period=_PERIOD, statistic="Average") for name in names]
