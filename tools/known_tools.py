"""Write what `siding mcp` always answers at an agent's start, as its library answers it now.

    .venv/bin/python -m tools.known_tools

`ground/process/broker/tools_front.py` answers from the file, so that the library is loaded when a
tool is called. Run it when the tools, their descriptions or the versions of the protocol have
changed: a test compares, and fails until then.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from siding import __version__

KNOWN = Path(__file__).parents[1] / "src" / "siding" / "broker" / "known_tools.json"
NEW_VERSION = "2026-07-28"
OLD_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_SERVER = "from siding.broker.tools import tools; tools(lambda: None, patience_s=1).run()"
_META = "io.modelcontextprotocol/"
_ABOUT = {"name": "somebody", "version": "1"}
_LISTS = ("prompts/list", "resources/list", "resources/templates/list", "tools/list")


def known() -> dict[str, Any]:
    """Return the answers of both eras."""
    return {
        "new version": NEW_VERSION,
        "old versions": list(OLD_VERSIONS),
        "new": new_era(),
        "old": old_era(OLD_VERSIONS[-1]),
    }


def new_era() -> dict[str, Any]:
    """Return what is answered where each request names the version."""
    meta = {
        f"{_META}protocolVersion": NEW_VERSION,
        f"{_META}clientInfo": _ABOUT,
        f"{_META}clientCapabilities": {},
    }
    changes = dict.fromkeys(
        ("toolsListChanged", "promptsListChanged", "resourcesListChanged"), True
    )
    asked: list[tuple[str, dict[str, Any]]] = [
        ("server/discover", {}),
        ("subscriptions/listen", {"notifications": changes}),
        *((method, {}) for method in _LISTS),
    ]
    return _answers([(method, {"_meta": meta, **params}) for method, params in asked])


def old_era(version: str) -> dict[str, Any]:
    """Return what is answered after a handshake."""
    first = {"protocolVersion": version, "capabilities": {}, "clientInfo": _ABOUT}
    asked = [("initialize", first), ("notifications/initialized", {})]
    asked += [(method, {}) for method in (*_LISTS, "ping")]
    return {"notifications/initialized": {}, **_answers(asked)}


def _answers(asked: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        found: dict[str, Any] = {}
        for method, params in asked:
            request = {"jsonrpc": "2.0", "id": f"@ID@{method}", "method": method, "params": params}
            if method.startswith("notifications/"):
                del request["id"]
            server.stdin.write(json.dumps(request).encode() + b"\n")
            server.stdin.flush()
            if "id" in request:
                found[method] = _told(server.stdout.readline(), method)
        server.stdin.close()
        server.stdout.read()  # it ends what is still open
    return found


def _told(line: bytes, method: str) -> dict[str, Any]:
    text = line.decode().replace(f"@ID@{method}", "@ID@")
    message = json.loads(text.replace(f'"version":"{__version__}"', '"version":"@VERSION@"'))
    if "method" in message:
        return {"notification": message}
    return {"result": message["result"]}


if __name__ == "__main__":
    KNOWN.write_text(json.dumps(known(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
