"""The English of every finding: code → (severity, sentence, remedy), with its parameters in braces."""

from collections.abc import Mapping
from types import MappingProxyType

from signet.core.validation.messages.authority import AUTHORITY
from signet.core.validation.messages.automations import AUTOMATION
from signet.core.validation.messages.calendars import CALENDAR, ICS
from signet.core.validation.messages.contracts import CONTRACT
from signet.core.validation.messages.documents import DOCUMENT, EXPRESSION, RULE
from signet.core.validation.messages.times import TIME
from signet.core.validation.messages.weaker_terms import WEAKENING
from signet.core.validation.messages.workflows import GRAPH, SLOT, SOUNDNESS

TEXTS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        **DOCUMENT,
        **EXPRESSION,
        **RULE,
        **CONTRACT,
        **GRAPH,
        **SLOT,
        **SOUNDNESS,
        **AUTHORITY,
        **AUTOMATION,
        **TIME,
        **WEAKENING,
        **CALENDAR,
        **ICS,
    }
)
