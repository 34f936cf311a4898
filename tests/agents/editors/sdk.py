"""Drive `sdk_client.mjs`, and the places of the clients that `run.py test` installs."""

import itertools
import json
import os
import queue
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox import SIDING, Sandbox

INSTALLED = Path(__file__).parents[3] / ".venv" / "editors" / "node_modules"
SDK = INSTALLED / "@agentclientprotocol" / "sdk" / "dist" / "v1" / "stable" / "acp.js"
ACPX = INSTALLED / "acpx" / "dist" / "cli.js"
NODE = shutil.which("node")
PATIENCE_S = 90.0
_BRIDGE = Path(__file__).with_name("sdk_client.mjs")


class Ask:
    """A request for permission, as the client has it."""

    def __init__(self, number: int, params: dict[str, Any]) -> None:
        self.number, self.params = number, params
        self.is_gone = False


class Editor:
    """A client of the SDK with a `siding acp` of its own."""

    def __init__(self, sandbox: Sandbox, *words: str) -> None:
        assert NODE is not None
        self._sandbox = sandbox
        self.complaints = sandbox.directory / f"client-{time.monotonic_ns()}.err"
        argv = [NODE, str(_BRIDGE), str(SDK), *SIDING, "acp", *words]
        with self.complaints.open("wb") as errors:
            self._process = subprocess.Popen(
                argv,
                env=sandbox.env,
                cwd=sandbox.directory,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self._heard: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.server = int(self._heard.get(timeout=PATIENCE_S)["pid"])
        self._numbers = itertools.count(1)
        self.updates: list[dict[str, Any]] = []
        self.asks: list[Ask] = []
        self.done: dict[int, dict[str, Any]] = {}
        can: dict[str, Any] = {"elicitation": {"form": {}}}
        self.can = self.does("initialize", protocolVersion=1, clientCapabilities=can)

    def asks_for(self, method: str, **params: Any) -> int:
        """Send a request; return its number in `done`."""
        number = next(self._numbers)
        self._says({"do": number, "method": method, "params": params})
        return number

    def does(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request, and return what it has got."""
        return self.result(self.asks_for(method, **params))

    def result(self, number: int) -> dict[str, Any]:
        self.until(lambda: number in self.done)
        assert "result" in self.done[number], self.done[number]
        found: dict[str, Any] = self.done[number]["result"]
        return found

    def begins(self, *servers: dict[str, Any]) -> str:
        """Begin a session with these servers of tools; return its id."""
        begun = self.does("session/new", cwd=str(self._sandbox.repo), mcpServers=[*servers])
        return str(begun["sessionId"])

    def gives(self, session: str, words: str, *blocks: dict[str, Any]) -> int:
        """Give a prompt; return the number of the request."""
        prompt = [{"type": "text", "text": words}, *blocks]
        return self.asks_for("session/prompt", sessionId=session, prompt=prompt)

    def cancels(self, session: str) -> None:
        self._says({"tell": "session/cancel", "params": {"sessionId": session}})

    def answers(self, ask: Ask, option: str) -> None:
        outcome = {"outcome": "selected", "optionId": option}
        self._says({"answer": ask.number, "result": {"outcome": outcome}})

    def fills_in(self, ask: Ask, *answers: str) -> None:
        """Answer the questions of a form."""
        content = {f"question{number}": each for number, each in enumerate(answers, start=1)}
        self._says({"answer": ask.number, "result": {"action": "accept", "content": content}})

    def text(self, session: str, kind: str = "agent_message_chunk") -> str:
        return "".join(
            each["update"]["content"]["text"]
            for each in self.updates
            if each["sessionId"] == session and each["update"]["sessionUpdate"] == kind
        )

    def until(self, holds: Callable[[], object]) -> None:
        """Wait for what the client is told."""
        end = time.monotonic() + PATIENCE_S
        while not holds():
            try:
                self._take(self._heard.get(timeout=max(0.01, end - time.monotonic())))
            except queue.Empty:
                raise AssertionError((self.done, self.updates[-5:])) from None

    def asked(self, count: int) -> Ask:
        """Wait until so much was asked; return the last of it."""
        self.until(lambda: len(self.asks) >= count)
        return self.asks[count - 1]

    def loses_its_server(self) -> None:
        """Kill the server, as when the machine fails."""
        os.kill(self.server, signal.SIGKILL)
        self._process.kill()
        self._end()

    def leaves(self) -> None:
        """End as an editor that is closed, and see that nothing was complained about."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._end()
        assert self.complaints.read_text() == ""

    def _end(self) -> None:
        self._process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def _says(self, said: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(said).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._heard.put(json.loads(line))

    def _take(self, said: dict[str, Any]) -> None:
        if "update" in said:
            self.updates.append(said["update"])
        elif "asked" in said:
            self.asks.append(Ask(said["asked"], said["params"]))
        elif "gone" in said:
            next(each for each in self.asks if each.number == said["gone"]).is_gone = True
        elif "done" in said:
            self.done[said["done"]] = said


def stop_all(sandbox: Sandbox) -> None:
    """End every agent of a sandbox: those of an editor go on without it."""
    for task in sandbox.json("task", "list", "--format", "json"):
        sandbox.siding("stop", "--all", "--now", "-t", task["id"], status=None)
