"""What Schemathesis is not to send: the gateway refuses it before the API is asked."""

from typing import Any
from urllib.parse import urlencode

import schemathesis

# Of API Gateway's 10,240 bytes for the request line and all headers, what is left beside a token.
MAX_QUERY_BYTES = 8_000


@schemathesis.hook
def filter_query(context: Any, query: Any) -> bool:
    return not query or len(urlencode(query, doseq=True, errors="replace")) <= MAX_QUERY_BYTES
