"""Conversations that a test plays: what the connection asks of them, and the lines they say."""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from siding.agents.talking.abilities import Abilities
from siding.asking.decisions.record import AlreadyClosed
from siding.chat.face import McpServer, OpenAsk, Reply
from siding.faces.acp.blocks import Said
from siding.faces.acp.connection import Connection
from siding.faces.acp.ports import Opened, Row
from siding.ground.errors import NotFound

CAN = Abilities(pictures=True, servers=True, web_servers=True)
WORKSPACE = "/w/talk"
ROOT = "/repo"


class PlayedDesk:
    """Every conversation is `t.cN`; what is asked of one is kept in `done`."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []
        self.held: set[str] = set()
        self.answered: set[str] = set()  # decisions, by anybody
        self.cannot_hold: Exception | None = None
        self._numbers = itertools.count(1)
        self._prompts = itertools.count(1)

    def begin(self, cwd: PurePath, servers: Sequence[McpServer]) -> Opened:
        session = f"t.c{next(self._numbers)}"
        self.done.append(("begin", str(cwd), servers))
        self.held.add(session)
        return self._opened(session)

    def find(self, session: str, cwd: PurePath) -> Opened:
        del cwd
        if not session.startswith("t.c"):
            raise NotFound(f"there is no session {session!r}")
        return self._opened(session)

    def give_servers(self, session: str, servers: Sequence[McpServer]) -> bool:
        self.done.append(("servers", session, servers))
        return True

    def leave(self, session: str) -> None:
        self.done.append(("leave", session))

    def rows(self, cwd: PurePath | None) -> Sequence[Row]:
        return [Row(f"t.c{n}", str(cwd), f"talk {n}", "2026-01-01T00:00:00Z") for n in range(150)]

    def hold(self, session: str) -> None:
        self.done.append(("hold", session))
        if self.cannot_hold is not None:
            raise self.cannot_hold
        self.held.add(session)

    def give(self, session: str, said: Said) -> str:
        prompt = f"p{next(self._prompts)}"
        self.done.append(("give", session, prompt, said))
        return prompt

    def drop(self, session: str, prompt: str) -> None:
        self.done.append(("drop", session, prompt))

    def stop(self, session: str) -> None:
        self.done.append(("stop", session))

    def end(self, session: str) -> None:
        self.done.append(("end", session))

    def set(self, session: str, kind: str, value: str) -> None:
        self.done.append((kind, session, value))

    def answer(self, session: str, ask: OpenAsk, reply: Reply) -> None:
        if ask.decision in self.answered:
            raise AlreadyClosed("it was answered")
        self.answered.add(ask.decision)
        self.done.append(("answer", session, ask.decision, reply))

    def picture(self, session: str, name: str) -> bytes | None:
        del session, name
        return b"a picture"

    def did(self, what: str) -> list[tuple[Any, ...]]:
        return [each for each in self.done if each[0] == what]

    def _opened(self, session: str) -> Opened:
        return Opened(session, "talk", session.partition(".")[2], "claude", WORKSPACE, ROOT)


class Client:
    """A client, and what it was told. `said` are all messages of the server."""

    def __init__(self, *, capabilities: Mapping[str, Any] | None = None) -> None:
        self.desk = PlayedDesk()
        self.connection = Connection(self.desk, CAN)
        self.said: list[dict[str, Any]] = []
        self._ids = itertools.count(1)
        self._seq = itertools.count(1)
        can = {"clientCapabilities": capabilities or {}}
        self.result(self.asks("initialize", protocolVersion=1, **can))

    def asks(self, method: str, **params: Any) -> int:
        number = next(self._ids)
        self.sends({"id": number, "method": method, "params": params})
        return number

    def tells(self, method: str, **params: Any) -> None:
        self.sends({"method": method, "params": params})

    def sends(self, message: Mapping[str, Any]) -> None:
        self.gives(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def gives(self, data: bytes) -> None:
        self.connection.receive(data)
        self.reads()

    def reads(self) -> None:
        data = self.connection.to_send()
        self.said += [json.loads(line) for line in data.splitlines()]

    def line(self, session: str, event: str, /, **fields: Any) -> None:
        record = {"seq": next(self._seq), "at": "2026-01-01T00:00:00Z", "event": event, **fields}
        self.connection.told(session, record)
        self.reads()

    def caught_up(self, session: str) -> None:
        self.connection.caught_up(session)
        self.reads()

    def ticks(self, session: str, now_s: float = 0.0) -> None:
        self.connection.tick(session, has_host=session in self.desk.held, now_s=now_s)
        self.reads()

    def answer_to(self, number: int) -> dict[str, Any] | None:
        found = [each for each in self.said if each.get("id") == number and "method" not in each]
        assert len(found) < 2, found
        return found[0] if found else None

    def result(self, number: int) -> dict[str, Any]:
        answer = self.answer_to(number)
        assert answer is not None
        assert "result" in answer, answer
        found: dict[str, Any] = answer["result"]
        return found

    def error(self, number: int) -> dict[str, Any]:
        answer = self.answer_to(number)
        assert answer is not None
        assert "error" in answer, answer
        found: dict[str, Any] = answer["error"]
        return found

    @property
    def updates(self) -> list[dict[str, Any]]:
        return [
            each["params"]["update"]
            for each in self.said
            if each.get("method", "").endswith("update")
        ]

    def kinds(self) -> list[str]:
        return [each["sessionUpdate"] for each in self.updates]

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [each for each in self.said if each.get("method") == "session/request_permission"]

    @property
    def taken_back(self) -> list[int]:
        return [
            each["params"]["requestId"]
            for each in self.said
            if each.get("method") == "$/cancel_request"
        ]

    def begun(self) -> str:
        """Begin a session whose agent is ready; return its id."""
        number = self.asks("session/new", cwd=ROOT, mcpServers=[])
        session = max(self.connection.sessions, key=lambda each: int(each[3:]))
        self.line(session, "began", agent="claude")
        self.line(session, "hosted", run="r1")
        self.line(session, "opened", session="s", modes=["default", "plan"], mode="default")
        self.caught_up(session)
        assert self.result(number)["sessionId"] == session
        return session

    def prompts(self, session: str, words: str = "Do it") -> tuple[int, str]:
        """Give a prompt; return the request and the id of the prompt."""
        number = self.asks("session/prompt", sessionId=session, prompt=[text(words)])
        return number, str(self.desk.did("give")[-1][2])

    def runs(self, session: str, prompt: str, words: str = "Do it") -> None:
        """Let a prompt go to the agent, which takes it."""
        self.line(session, "queued", prompt=prompt, text=words)
        self.line(session, "sending", prompt=prompt)
        self.line(session, "prompt-taken", prompt=prompt)
        self.line(session, "turn-started", prompt=prompt)

    def turn_ends(self, session: str, **end: Any) -> None:
        """Let the turn end, and be recorded."""
        self.line(session, "turn-ended", **end)
        self.line(session, "recorded", step=1)

    def is_asked(
        self, session: str, ask: str = "a1", always: Sequence[str] = (), **fields: Any
    ) -> None:
        self.line(session, "asked", ask=ask, title="rm x", command="rm x", **fields)
        put = {"always": [*always], "may": "run `rm x`"} if always else {}
        self.line(session, "put", ask=ask, decision=f"d-{ask}", **put)


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}
