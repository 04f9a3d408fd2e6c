"""Canonical JSON (RFC 8785) and its SHA-256: the same content has the same bytes on every machine."""

import hashlib
from typing import Any

import rfc8785


def canonical_bytes(value: Any) -> bytes:
    """Raises ValueError for what JSON cannot say exactly: integers beyond 2^53, NaN, lone surrogates."""
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise ValueError(f"not canonical JSON: {error}") from None


def hash_bytes(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def content_hash(value: Any) -> str:
    return hash_bytes(canonical_bytes(value))
