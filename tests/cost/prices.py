"""List prices of us-east-1 in dollars, each with its page and the day of reading; the length of a month."""

from dataclasses import dataclass

HOURS = 730
MINUTES = HOURS * 60
SECONDS = MINUTES * 60
MILLION = 1_000_000
GIGABYTE = 1_000_000_000
UNDATED = "no dated page found"
UNDATED_COPY = "the same worked example, in a copy without a date"


@dataclass(frozen=True)
class Price:
    what: str
    dollars: float
    unit: str
    # AWS's own page, and the dated page or copy in which the figure was read.
    page: str
    read: str

    def of(self, count: float) -> float:
        return self.dollars * count


_LAMBDA = "aws.amazon.com/lambda/pricing"
_STATES = "aws.amazon.com/step-functions/pricing"
_CLOUDWATCH = "aws.amazon.com/cloudwatch/pricing"
_AURORA = "aws.amazon.com/rds/aurora/pricing"
_VPC = "aws.amazon.com/vpc/pricing"
_ARM = "2026-05-11 (git.mcrn.ar/mariano/lambda_local_runner, lambda-13-cost.md)"
_QUOTED = "2026-09-20 (AWS's worked example, as github.com/api-evangelist/aws-lambda quotes it)"
_NAT = "2026-02-24 (cloudburn.io/blog/aws-nat-gateway-pricing)"

API_REQUEST = Price(
    "HTTP API, a request",
    1.00 / MILLION,
    "$1.00 a million",
    "aws.amazon.com/api-gateway/pricing",
    "2025-05-19 (awsforengineers.com/blog/aws-api-gateway-pricing-explained)",
)
CALL = Price("Lambda, a call", 0.20 / MILLION, "$0.20 a million", _LAMBDA, _ARM)
GB_SECOND = Price("Lambda on arm64, a GB-second", 0.0000133334, "$0.0000133334", _LAMBDA, _ARM)
QUEUE_REQUEST = Price(
    "SQS standard, a request",
    0.40 / MILLION,
    "$0.40 a million",
    "aws.amazon.com/sqs/pricing",
    "2026-06-13 (factualminds.com/blog/amazon-sqs-pricing-64kb-rule-fifo-vs-standard)",
)
START = Price(
    "EventBridge Scheduler, a start",
    1.00 / MILLION,
    "$1.00 a million",
    "aws.amazon.com/eventbridge/pricing",
    "2026-03-13 (cloudburn.io/blog/amazon-eventbridge-pricing)",
)
LOG_BYTE = Price(
    "CloudWatch Logs, taken in",
    0.50 / GIGABYTE,
    "$0.50 a GB",
    _CLOUDWATCH,
    "2026-06-13 (factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards)",
)
METRIC = Price(
    "a custom metric, a month",
    0.30,
    "$0.30",
    _CLOUDWATCH,
    "2026-02-15 (signoz.io/guides/cloudwatch-pricing)",
)
DASHBOARD = Price("a dashboard, a month", 3.00, "$3.00", _CLOUDWATCH, LOG_BYTE.read)
ALARM = Price("a metric of an alarm, a month", 0.10, "$0.10", _CLOUDWATCH, UNDATED)
TRANSITION = Price(
    "Step Functions Standard, a transition",
    0.025 / 1_000,
    "$0.025 a thousand",
    _STATES,
    "2026-03-14 (wring.co/blog/aws-step-functions-pricing-guide)",
)
OPERATION = Price("durable functions, an operation", 8.00 / MILLION, "$8.00 a million", _LAMBDA, _QUOTED)
WRITTEN = Price("durable functions, written", 0.25 / GIGABYTE, "$0.25 a GB", _LAMBDA, UNDATED_COPY)
RETAINED = Price("durable functions, kept a month", 0.15 / GIGABYTE, "$0.15 a GB", _LAMBDA, UNDATED_COPY)
CAPACITY = Price(
    "Aurora Serverless v2, an ACU-hour",
    0.12,
    "$0.12",
    _AURORA,
    "2026-05 (awsnegotiations.com/blog/aurora-serverless-v2-pricing.html)",
)
PROXY = Price(
    "RDS Proxy, an ACU-hour (at least 8)", 0.015, "$0.015", "aws.amazon.com/rds/proxy/pricing", UNDATED
)
NAT = Price("a NAT gateway, an hour", 0.045, "$0.045", _VPC, _NAT)
ADDRESS = Price("a public IPv4 address, an hour", 0.005, "$0.005", _VPC, _NAT)
SNAPSHOT = Price(
    "SnapStart, a GB kept for a second",
    0.0000015046,
    "$0.0000015046",
    _LAMBDA,
    "2026-05 (awsnegotiations.com/blog/lambda-snapstart-cost-impact)",
)
SECRET = Price("a secret, a month", 0.40, "$0.40", "aws.amazon.com/secrets-manager/pricing", UNDATED)
KEY = Price("a key of KMS, a month", 1.00, "$1.00", "aws.amazon.com/kms/pricing", UNDATED)

PRICES = [
    *(API_REQUEST, CALL, GB_SECOND, SNAPSHOT, QUEUE_REQUEST, START, LOG_BYTE, METRIC, ALARM, DASHBOARD),
    *(TRANSITION, OPERATION, WRITTEN, RETAINED, CAPACITY, PROXY, NAT, ADDRESS, SECRET, KEY),
]
