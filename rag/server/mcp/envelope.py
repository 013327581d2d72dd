"""What is answered to messages that are no JSON-RPC 2.0, over stdio and HTTP alike."""

from __future__ import annotations

import json

from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError


def refusal(found: JSONRPCMessage | Exception) -> JSONRPCError | None:
    """The error of JSON-RPC 2.0 (section 5.1) for what the protocol library parsed, or could not; None for a
    message.

    The library takes a request whose id is neither a string nor an integer for a notification, which is not
    answered, and the client waits.
    """
    if isinstance(found, JSONRPCNotification) and not found.method.startswith("notifications/"):
        return _error(INVALID_REQUEST, "Invalid Request: the id of a request is a string or an integer")
    if not isinstance(found, Exception):
        return None
    details = found.errors(include_url=False) if isinstance(found, ValidationError) else []
    if details and details[0]["type"] != "json_invalid":
        return _error(INVALID_REQUEST, "Invalid Request: this is no JSON-RPC 2.0 message")
    asked = _readable_id(details[0]["input"]) if details else None
    if asked is not None:
        return _error(PARSE_ERROR, "Parse error: this is JSON, but not of valid Unicode", asked)
    return _error(PARSE_ERROR, "Parse error: this is not JSON")


def _readable_id(text: str | bytes) -> str | int | None:
    """The id of a request that Python reads as JSON, as one with half a surrogate pair; None where it is
    no number or ASCII text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    asked = found.get("id") if isinstance(found, dict) else None
    if isinstance(asked, str):
        return asked if asked.isascii() else None
    return asked if type(asked) is int else None


def refusal_of_body(body: bytes) -> JSONRPCError | None:
    """As `refusal`, of the body of a request over HTTP."""
    try:
        return refusal(jsonrpc_message_adapter.validate_json(body, by_name=False))
    except ValidationError as error:
        return refusal(error)


def _error(code: int, message: str, asked: str | int | None = None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=asked, error=ErrorData(code=code, message=message))
