"""`siding mcp`: what a client of the Model Context Protocol gets in a run."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tools import known_tools

from sandbox import SIDING, Sandbox
from siding.ground.process.broker import tools_front
from siding.ground.process.broker.place import SOCKET_VARIABLE

from .inside import until

# A client in a run: it reads lines for the server from one pipe, and writes what the server says
# into another. The server has no more of the environment than Codex gives it.
CLIENT = """
import os, subprocess, sys, threading
env = {name: os.environ[name] for name in ("PATH", "HOME", "SIDING_SOCKET")}
server = subprocess.Popen(
    [*sys.argv[1:]], env=env, stdin=subprocess.PIPE, stdout=open("said", "wb", buffering=0)
)
with open("typed", "rb") as typed:
    for line in typed:
        server.stdin.write(line)
        server.stdin.flush()
server.stdin.close()
server.wait()
"""


class Client:
    """A client that speaks lines of JSON-RPC with the server."""

    def __init__(self, workspace: Path) -> None:
        self._typed = (workspace / "typed").open("wb", buffering=0)
        self._said = workspace / "said"
        self._number = 0

    def sends(self, method: str, **fields: object) -> int:
        """Send a request; return its number."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": fields}
        self._typed.write(json.dumps(message).encode() + b"\n")
        return self._number

    def begins(self) -> dict[str, Any]:
        """Do the handshake of the older era."""
        about = {"name": "a test", "version": "1"}
        number = self.sends(
            "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=about
        )
        found = self.answer(number)
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self._typed.write(json.dumps(ready).encode() + b"\n")
        return found

    def answer(self, number: int) -> dict[str, Any]:
        """Wait for the answer to a request."""
        until(lambda: number in self._answers())
        found = self._answers()[number]
        assert isinstance(found, dict)
        return found

    def calls(self, tool: str, **fields: object) -> dict[str, Any]:
        """Call a tool; return the result."""
        found = self.answer(self.sends("tools/call", name=tool, arguments=fields))["result"]
        assert isinstance(found, dict)
        return found

    def _answers(self) -> dict[Any, Any]:
        if not self._said.exists():
            return {}
        lines = self._said.read_bytes().split(b"\n")[:-1]
        return {message.get("id"): message for message in map(json.loads, lines)}

    def close(self) -> None:
        self._typed.close()


def words(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


@pytest.fixture
def client(sandbox: Sandbox) -> Iterator[Client]:
    sandbox.siding("task", "start", "tools")
    workspace = sandbox.workspace()
    os.mkfifo(workspace / "typed")
    server = [*SIDING, "-q", "mcp", "--patience", "1s"]
    sandbox.siding("run", "--detach", "--", sys.executable, "-c", CLIENT, *server)
    found = Client(workspace)
    yield found
    found.close()
    sandbox.siding("stop", "--all", status=None)


def test_it_names_its_tools_and_says_what_they_are_for(client: Client) -> None:
    assert "ask_person" in client.begins()["result"]["instructions"]
    listed = client.answer(client.sends("tools/list"))["result"]["tools"]
    assert {each["name"] for each in listed} == {
        "ask_person",
        "checkpoint",
        "phase",
        "task",
        "note",
        "workflow",
        "workflow_status",
        "workflow_cancel",
        "workflow_guide",
    }
    assert not any("\n  " in each["description"] for each in listed)


def test_a_question_outlives_the_patience_of_a_client(client: Client, sandbox: Sandbox) -> None:
    client.begins()
    asked = {"question": "Which colour?", "options": ["red", "blue"], "context": "The *door*."}
    later = words(client.calls("ask_person", **asked))
    assert "No answer yet" in later
    session = later.split("session=")[1].split()[0]
    shown = sandbox.siding("decide", "show", session).stdout.decode()
    assert "Which colour?" in shown
    number = client.sends("tools/call", name="ask_person", arguments={**asked, "session": session})
    sandbox.siding("decide", "answer", session, "-c", "1=blue", "-n", "1=as the house")
    said = words(client.answer(number)["result"])
    if "No answer yet" in said:  # the person was slower than a second
        said = words(client.calls("ask_person", **asked, session=session))
    assert said == "blue\n\nThe person adds: as the house"


def test_the_others_do_what_the_verbs_do(client: Client, sandbox: Sandbox) -> None:
    client.begins()
    (sandbox.workspace() / "a.txt").write_text("a\n")
    assert "recorded as step 0001" in words(client.calls("checkpoint", message="half"))
    assert words(client.calls("note", text="tried it")) == "noted"
    assert client.calls("task")["structuredContent"]["task"]["name"] == "tools"
    assert sandbox.steps()[0]["message"] == "half"
    assert "# Writing a workflow" in words(client.calls("workflow_guide"))
    begun = words(client.calls("workflow", script="return args", args={"n": 1}))
    assert begun.startswith("Workflow started (running in the background).\nrun_id: w")


def test_what_is_refused_is_told_to_the_model(client: Client) -> None:
    client.begins()
    refused = client.calls("ask_person", question="One?", options=["only"])
    assert refused["isError"] is True
    assert "at least 2" in words(refused)
    wrong = client.calls("phase", move="sideways", summary="x")
    assert wrong["isError"] is True
    assert "one of start" in words(wrong)


def test_outside_a_run_it_says_so(sandbox: Sandbox) -> None:
    done = sandbox.siding("mcp", status=2)
    assert b"this is no part of a run" in done.stderr


BAD_ID = b'{"id": [], "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}\n'


class TestTheFront:
    """What answers for the server until a tool is used."""

    def test_it_says_what_the_server_would(self) -> None:
        told = json.loads(known_tools.KNOWN.read_text(encoding="utf-8"))
        assert told == known_tools.known(), "python -m tools.known_tools writes it anew"

    @pytest.mark.parametrize("version", known_tools.OLD_VERSIONS[:-1])
    def test_so_it_does_in_each_version_of_the_older_era(self, version: str) -> None:
        told = json.loads(known_tools.KNOWN.read_text(encoding="utf-8"))["old"]
        told["initialize"]["result"]["protocolVersion"] = version
        assert told == known_tools.old_era(version)

    def front(self, tmp_path: Path, server: str) -> "subprocess.Popen[bytes]":
        front = tools_front.__file__
        socket = tmp_path / "socket"
        socket.touch()
        alone = [sys.executable, "-S", "-E", "-I", front, str(known_tools.KNOWN), "1.2.3"]
        return subprocess.Popen(
            [*alone, "--", sys.executable, "-c", server],
            env={**os.environ, SOCKET_VARIABLE: str(socket)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def test_the_server_is_not_started_for_what_is_known(self, tmp_path: Path) -> None:
        asked: list[dict[str, Any]] = [
            {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
            {"method": "notifications/initialized"},
            {"id": "b", "method": "tools/list", "params": {"_meta": {"progressToken": 0}}},
            {"id": 2, "method": "ping"},
        ]
        process = self.front(tmp_path, "open('started', 'w')")
        lines = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in asked)
        said = process.communicate(lines.encode(), timeout=60)[0]
        first, second, third = map(json.loads, said.splitlines())
        assert first["result"]["serverInfo"]["version"] == "1.2.3"
        assert first["result"]["protocolVersion"] == "2025-06-18"
        assert (second["id"], len(second["result"]["tools"])) == ("b", 9)
        assert third == {"jsonrpc": "2.0", "id": 2, "result": {}}
        assert process.returncode == 0

    def test_the_server_hears_all_and_says_nothing_twice(self, tmp_path: Path) -> None:
        """It is one that gives each request back, and ends as it is told."""
        server = (
            "import sys, json\n"
            "for line in sys.stdin:\n"
            "    said = json.loads(line)\n"
            "    if said['method'] == 'end': sys.exit(said['params'])\n"
            "    told = {'id': said.get('id'), 'result': said['method']}\n"
            "    print(json.dumps(told), flush=True)\n"
        )
        new: dict[str, Any] = {
            "_meta": {"io.modelcontextprotocol/protocolVersion": known_tools.NEW_VERSION}
        }
        asked: list[dict[str, Any]] = [
            {"id": 1, "method": "server/discover", "params": new},
            {"id": 2, "method": "subscriptions/listen", "params": new},
            {"id": 3, "method": "tools/list", "params": new},
            {"id": 4, "method": "tools/call", "params": {**new, "name": "task"}},
            {"id": 3, "method": "tools/list", "params": new},
            {"method": "end", "params": 7},
        ]
        process = self.front(tmp_path, server)
        lines = "".join(json.dumps(each) + "\n" for each in asked)
        said = process.communicate(lines.encode(), timeout=60)[0]
        told = [json.loads(line) for line in said.splitlines()]
        assert [each.get("id", each.get("method")) for each in told] == [
            1,
            "notifications/subscriptions/acknowledged",
            3,
            4,
            3,
        ]
        assert told[3]["result"] == "tools/call"
        assert told[1]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 2
        assert process.returncode == 7

    @pytest.mark.parametrize("line", [b"not json\n", b"[]\n", b'{"method": 1}\n', b"{}\n", BAD_ID])
    def test_what_it_does_not_understand_is_the_servers(self, tmp_path: Path, line: bytes) -> None:
        server = "import sys; sys.stdout.write(sys.stdin.read())"
        process = self.front(tmp_path, server)
        assert process.communicate(line, timeout=60)[0] == line
