"""A `claude` that says pieces of text as fast as it can: what a host is measured with.

Its prompt is ``PIECES FILE``: so many pieces, and a file that it writes first ("-" for none). It
speaks the part of Claude Code's stream-json that a turn needs.
"""

import json
import sys
from io import FileIO
from pathlib import Path
from typing import Any


def pieces_of(number: int) -> list[bytes]:
    """Return so many lines, each a piece of a text."""
    return [
        line_of(
            {
                "type": "stream_event",
                "event": {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "text_delta", "text": f"word {each} "},
                },
                "parent_tool_use_id": None,
            }
        )
        for each in range(number)
    ]


def line_of(said: dict[str, Any]) -> bytes:
    return json.dumps(said).encode() + b"\n"


def serve() -> None:
    with open(1, "wb", buffering=0) as out:
        _serve(out)


def _serve(out: FileIO) -> None:
    for line in sys.stdin.buffer:
        said = json.loads(line)
        if said["type"] == "control_request":
            response = {"subtype": "success", "request_id": said["request_id"], "response": {}}
            out.write(line_of({"type": "control_response", "response": response}))
        elif said["type"] == "user":
            number, name = said["message"]["content"][0]["text"].split()
            if name != "-":
                Path(name).write_text(said["uuid"])
            out.write(line_of({"type": "system", "subtype": "init", "session_id": "measured"}))
            out.write(line_of({**said, "isReplay": True}))
            for piece in pieces_of(int(number)):
                out.write(piece)
            usage = {"input_tokens": 1, "output_tokens": 1}
            out.write(line_of({"type": "result", "subtype": "success", "usage": usage}))


if __name__ == "__main__":
    serve()
