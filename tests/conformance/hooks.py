"""Limits for Schemathesis: the gateway refuses longer queries before the API is asked."""

from typing import Any
from urllib.parse import urlencode

import schemathesis

# The rest beside a token of API Gateway's 10,240 bytes for the request line and all headers.
MAX_QUERY_BYTES = 8_000


@schemathesis.hook
def filter_query(context: Any, query: Any) -> bool:
    return not query or len(urlencode(query, doseq=True, errors="replace")) <= MAX_QUERY_BYTES
