"""What the proxy answers by itself."""

import json
from http import HTTPStatus


def plain_answer(status: int, why: str) -> bytes:
    """Return a whole answer, in the form of errors that clients of models can read."""
    phrase = HTTPStatus(status).phrase
    error = {"type": "siding_proxy", "message": f"siding: {why}"}
    body = json.dumps({"type": "error", "error": error}).encode()
    head = (
        f"HTTP/1.1 {status} {phrase}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
