"""Canonical JSON (RFC 8785) and its SHA-256: the same content has the same bytes on every machine."""

import hashlib
from typing import Any

import orjson
import rfc8785

MAX_FAST_DEPTH = 60
_FAST = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_PLAIN_KINDS = frozenset((str, int, bool, type(None)))
_KEY_KINDS = frozenset((str,))


def canonical_bytes(value: Any) -> bytes:
    """Return the canonical bytes of the value.

    Raise ValueError for what JSON cannot say exactly: integers beyond 2^53, NaN, lone surrogates. For values
    without floats and with ASCII keys orjson writes the same bytes twenty times faster, and a test holds the
    two equal. All other values go to the reference implementation.

    >>> canonical_bytes({"b": 1, "a": [True, None]})
    b'{"a":[true,null],"b":1}'
    """
    try:
        if _is_plain(value, 0):
            return orjson.dumps(value, option=_FAST)
        return rfc8785.dumps(value)
    except (
        rfc8785.CanonicalizationError,
        orjson.JSONEncodeError,
        UnicodeEncodeError,
        RecursionError,
    ) as error:
        raise ValueError(f"not canonical JSON: {error}") from None


def _is_plain(value: Any, depth: int) -> bool:
    """Return whether orjson's order of keys (by UTF-8) and its numbers are those of the RFC."""
    kind = type(value)
    if kind in _PLAIN_KINDS:
        return True
    if depth > MAX_FAST_DEPTH:
        return False
    if kind is dict:
        if not _KEY_KINDS.issuperset(map(type, value)) or not "".join(value).isascii():
            return False
        inner = value.values()
    elif kind is list or kind is tuple:
        inner = value
    else:
        return False
    for item in inner:
        if type(item) not in _PLAIN_KINDS and not _is_plain(item, depth + 1):
            return False
    return True


def hash_bytes(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def content_hash(value: Any) -> str:
    return hash_bytes(canonical_bytes(value))
