"""An agent without a model that keeps a record of its prompts, under the name of a real one.

As `siding-agent` it speaks stream-json and keeps the ids of its prompts; as `opencode` it speaks
ACP and keeps their texts; as `qwen` it speaks ACP and keeps nothing. Each prompt is in its record
before it is acted on. A prompt `run WORD` asks, and adds the word to `effects`; `say WORDS` says
them.

In the directory that SIDING_TRIAL names it writes down what it has really done (`truth`), and kills
itself when it comes to the point that `kill` names.
"""

import json
import os
import signal
import sqlite3
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

TRIAL = Path(os.environ.get("SIDING_TRIAL", "."))
# In a turn that asks, all of them come, in this order.
POINTS = ("opened", "read", "recorded", "said", "asked", "answered", "ran", "ended")


def point(name: str) -> None:
    wanted = TRIAL / "kill"
    with suppress(FileNotFoundError):
        if wanted.read_text() == name:
            wanted.unlink()
            os.kill(os.getpid(), signal.SIGKILL)


def truly(what: str, about: str) -> None:
    """Write down what has happened, for good."""
    with (TRIAL / "truth").open("a") as truth:
        truth.write(json.dumps([what, about]) + "\n")
        truth.flush()
        os.fsync(truth.fileno())


class Agent(ABC):
    """What both protocols have in common."""

    def __init__(self) -> None:
        self.unread = b""
        self.lines: list[dict[str, Any]] = []
        self.session = ""

    def hear(self) -> Iterator[dict[str, Any]]:
        while True:
            while self.lines:
                yield self.lines.pop(0)
            data = os.read(0, 1 << 16)
            if not data:
                return
            *whole, self.unread = (self.unread + data).split(b"\n")
            self.lines += [json.loads(each) for each in whole]

    def say(self, said: dict[str, Any]) -> None:
        os.write(1, json.dumps(said).encode() + b"\n")

    def turn(self, prompt: str, text: str) -> None:
        point("read")
        if not (TRIAL / "forgets").exists():
            self.record(prompt, text)
        truly("took", text)
        point("recorded")
        self.begin(prompt, text)
        word, _, rest = text.splitlines()[-1].partition(" ")
        self.tell(f"at {rest} ")
        point("said")
        if word == "run":
            allowed = self.ask(rest)
            truly("answered", rest)
            point("answered")
            if allowed:
                with (TRIAL / "effects").open("a") as effects:
                    effects.write(f"{rest}\n")
            point("ran")
            self.ran(allowed)
        self.end()
        point("ended")

    @abstractmethod
    def serve(self) -> None: ...

    @abstractmethod
    def record(self, prompt: str, text: str) -> None: ...

    @abstractmethod
    def begin(self, prompt: str, text: str) -> None: ...

    @abstractmethod
    def tell(self, said: str) -> None: ...

    @abstractmethod
    def ask(self, word: str) -> bool: ...

    @abstractmethod
    def ran(self, allowed: bool) -> None: ...

    @abstractmethod
    def end(self) -> None: ...


class ById(Agent):
    """Stream-json; its record has our ids."""

    def serve(self) -> None:
        given = dict(each.split("=", 1) for each in sys.argv[1:] if each.count("=") == 1)
        self.session = given.get("--session-id") or given["--resume"]
        (place,) = Path(os.environ["SIDING_HOME"]).glob("projects/*")
        self.path = place / "sessions" / f"{self.session}.jsonl"
        self.path.parent.mkdir(exist_ok=True)
        self.path.touch()
        self.calls = 0
        for said in self.hear():
            if said["type"] == "control_request":
                self.answer(said)
            elif said["type"] == "user":
                text = "".join(each["text"] for each in said["message"]["content"])
                self.prompt = said
                self.turn(said["uuid"], text)

    def answer(self, said: dict[str, Any]) -> None:
        response = {"subtype": "success", "request_id": said["request_id"], "response": {}}
        self.say({"type": "control_response", "response": response})
        if said["request"]["subtype"] == "initialize":
            point("opened")

    def record(self, prompt: str, text: str) -> None:
        with self.path.open("a") as record:
            record.write(json.dumps({"promptId": prompt, "text": text}) + "\n")

    def begin(self, prompt: str, text: str) -> None:
        self.say({"type": "system", "subtype": "init", "session_id": self.session})
        self.say({**self.prompt, "isReplay": True})

    def tell(self, said: str) -> None:
        delta = {"type": "text_delta", "text": said}
        event = {"type": "content_block_delta", "index": 0, "delta": delta}
        self.say({"type": "stream_event", "event": event, "parent_tool_use_id": None})

    def ask(self, word: str) -> bool:
        self.calls += 1
        self.call = f"{os.getpid()}-{self.calls}"
        given = {"command": f"echo {word} >>effects"}
        block = {"type": "tool_use", "id": self.call, "name": "Bash", "input": given}
        message = {"id": self.call, "role": "assistant", "content": [block]}
        self.say({"type": "assistant", "message": message, "parent_tool_use_id": None})
        request: dict[str, Any] = {"subtype": "can_use_tool", "tool_name": "Bash", "input": given}
        request |= {"tool_use_id": self.call}
        self.say({"type": "control_request", "request_id": self.call, "request": request})
        point("asked")
        for said in self.hear():
            if said["type"] == "control_request":
                self.answer(said)
            elif said["type"] == "control_response":
                behavior: str = said["response"]["response"]["behavior"]
                return behavior == "allow"
        sys.exit(0)

    def ran(self, allowed: bool) -> None:
        block = {"type": "tool_result", "tool_use_id": self.call, "content": str(allowed)}
        self.say({"type": "user", "message": {"role": "user", "content": [block]}})

    def end(self) -> None:
        self.say({"type": "result", "subtype": "success", "usage": {}})


class OverAcp(Agent):
    """ACP; it keeps no record."""

    def serve(self) -> None:
        for said in self.hear():
            fields = said.get("params", {})
            match said.get("method"):
                case "initialize":
                    self.reply(said, protocolVersion=1, agentCapabilities={"loadSession": True})
                case "session/new":
                    self.session = f"trial-{os.getpid()}"
                    self.keep()
                    self.reply(said, sessionId=self.session)
                    point("opened")
                case "session/load" if not self.knows(fields["sessionId"]):
                    fault = {"code": -32002, "message": "nothing was said in this session"}
                    self.say({"jsonrpc": "2.0", "id": said["id"], "error": fault})
                case "session/load":
                    self.session = fields["sessionId"]
                    self.reply(said)
                    point("opened")
                case "session/prompt":
                    self.asked = said
                    self.turn("", "".join(each["text"] for each in fields["prompt"]))
                case _ if "id" in said:
                    self.reply(said)

    def keep(self) -> None:
        """Nothing is kept."""

    def knows(self, session: str) -> bool:
        """Tell whether it can go on with a conversation."""
        return bool(session)

    def reply(self, to: dict[str, Any], **result: Any) -> None:
        self.say({"jsonrpc": "2.0", "id": to["id"], "result": result})

    def update(self, **update: Any) -> None:
        params = {"sessionId": self.session, "update": update}
        self.say({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def record(self, prompt: str, text: str) -> None:
        """Nothing is kept."""

    def begin(self, prompt: str, text: str) -> None:
        """The first word of the turn says that it has begun."""

    def tell(self, said: str) -> None:
        self.update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": said})

    def ask(self, word: str) -> bool:
        given = {"command": f"echo {word} >>effects"}
        self.call = {"toolCallId": f"{word}-{os.getpid()}", "title": "run", "kind": "execute"}
        self.update(sessionUpdate="tool_call", rawInput=given, **self.call)
        options = [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]
        call = {**self.call, "rawInput": given}
        params = {"sessionId": self.session, "toolCall": call, "options": options}
        method = "session/request_permission"
        self.say({"jsonrpc": "2.0", "id": f"a-{word}", "method": method, "params": params})
        point("asked")
        for said in self.hear():
            if said.get("id") == f"a-{word}":
                return bool(said["result"]["outcome"].get("optionId") == "yes")
        sys.exit(0)

    def ran(self, allowed: bool) -> None:
        status = "completed" if allowed else "failed"
        update = {"toolCallId": self.call["toolCallId"], "status": status}
        self.update(sessionUpdate="tool_call_update", **update)

    def end(self) -> None:
        self.reply(self.asked, stopReason="end_turn")


class ByText(OverAcp):
    """ACP; it keeps the texts in a database before it does anything."""

    def keep(self) -> None:
        place = Path(os.environ["HOME"], ".local/share/opencode")
        place.mkdir(parents=True, exist_ok=True)
        self.database = sqlite3.connect(place / "opencode.db", isolation_level=None)
        self.database.execute("CREATE TABLE IF NOT EXISTS message (id, session_id, data)")
        self.database.execute("CREATE TABLE IF NOT EXISTS part (id, message_id, data)")

    def knows(self, session: str) -> bool:
        self.keep()
        count = "SELECT count(*) FROM message WHERE session_id = ?"
        (found,) = self.database.execute(count, (session,)).fetchone()
        return bool(found)

    def record(self, prompt: str, text: str) -> None:
        self.keep()
        (count,) = self.database.execute("SELECT count(*) FROM message").fetchone()
        name = f"{count:06}"
        self.database.execute("BEGIN")
        message = (name, self.session, json.dumps({"role": "user"}))
        self.database.execute("INSERT INTO message VALUES (?, ?, ?)", message)
        part = (name, name, json.dumps({"type": "text", "text": text}))
        self.database.execute("INSERT INTO part VALUES (?, ?, ?)", part)
        self.database.execute("COMMIT")


KINDS: dict[str, Callable[[], Agent]] = {"siding-agent": ById, "opencode": ByText, "qwen": OverAcp}

if __name__ == "__main__":
    KINDS[sys.argv.pop(1)]().serve()
