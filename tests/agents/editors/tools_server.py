"""A server of tools (MCP) over its streams: one tool, `whisper`.

What it was started with it notes in the file that its first argument names: its variable `SECRET`.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "whisper",
    "description": "Whisper a word",
    "inputSchema": {"type": "object", "properties": {}},
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            about = {"serverInfo": {"name": "whispers", "version": "1"}}
            can: dict[str, Any] = {"tools": {}}
            return {"protocolVersion": params["protocolVersion"], "capabilities": can, **about}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            return {"content": [{"type": "text", "text": "rhubarb"}]}
        case "ping":
            return {}
    return None


def serve() -> None:
    with Path(sys.argv[1]).open("a") as notes:
        notes.write(f"{os.environ.get('SECRET')}\n")
    for line in sys.stdin:
        said = json.loads(line)
        if "id" in said and "method" in said:
            found = answer(said["method"], said.get("params") or {})
            fault = {"error": {"code": -32601, "message": "unknown"}}
            result = fault if found is None else {"result": found}
            print(json.dumps({"jsonrpc": "2.0", "id": said["id"], **result}), flush=True)


if __name__ == "__main__":
    serve()
