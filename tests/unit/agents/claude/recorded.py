"""Recordings of Claude Code, replayed: `talks-VERSION.txt`.

In a recording ``<`` is a line of the client and ``>`` one that it was sent; a section is a turn or
more. Replayed, the talker has to send the same, and its ids stand in the place of the recorded.
"""

import json
from pathlib import Path
from typing import Any

from siding.agents.claude.talker import ClaudeTalker, Start
from siding.agents.talking.port import (
    Answer,
    Event,
    TurnEnded,
    TurnStarted,
)

VERSIONS = ("2.1.197", "2.1.329")
Message = dict[str, Any]


def sections(version: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    path = Path(__file__).parent / f"talks-{version}.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            lines = found.setdefault(line[3:], [])
        else:
            lines.append(line)
    return found


RECORDED = {version: sections(version) for version in VERSIONS}


class Replay:
    """A recording, and the talker in the place of what spoke then."""

    def __init__(self, version: str, *names: str) -> None:
        recorded = RECORDED[version]
        lines = [line for name in names for line in recorded[name]]
        session = next(
            (told["session_id"] for told in map(_message, lines) if told.get("subtype") == "init"),
            "",
        )
        self.talker = ClaudeTalker(Start(session=session, cwd="/w", mode="default"))
        self.events: list[Event] = []
        self.sent: list[Message] = []
        self._ids: dict[str, str] = {}  # by the recorded one
        self._asked: dict[str, list[str]] = {}  # by subtype: what the talker has asked for
        for line in (*recorded["init"], *recorded["settings"]):
            self._step(line)
        self.opened, self.events = self.events, []
        for line in lines:
            self._step(line)

    def _step(self, line: str) -> None:
        told = _message(line)
        if line.startswith("< "):
            self._hear(told)
        elif line.startswith("> "):
            self._speak(told)

    def _hear(self, told: Message) -> None:
        response = told.get("response", {})
        if told["type"] == "control_response":
            response["request_id"] = self._ids.get(response["request_id"], response["request_id"])
        self.events += self.talker.receive(json.dumps(told).encode() + b"\n")
        self._take()

    def _speak(self, told: Message) -> None:
        if told["type"] == "control_request":
            what = told["request"]
            self._take()
            if not self._asked.get(what["subtype"]):
                self._ask(what)
                self._take()
            self._ids[told["request_id"]] = self._asked[what["subtype"]].pop(0)
            return
        if told["type"] == "user":
            begun = sum(isinstance(each, TurnStarted) for each in self.events)
            ended = sum(isinstance(each, TurnEnded) for each in self.events)
            say = self.talker.steer if begun > ended else self.talker.prompt
            say(told["uuid"], [told["message"]["content"][0]["text"]])
        else:
            self._answer(told["response"])
        self._take()
        assert self.sent[-1] == told

    def _ask(self, what: Message) -> None:
        match what["subtype"]:
            case "interrupt" | "cancel_async_message":
                self.talker.stop()
            case "set_model":
                self.talker.set(model=what["model"])
            case "set_permission_mode":
                self.talker.set(mode=what["mode"])
            case "apply_flag_settings":
                self.talker.set(effort=what["settings"]["effortLevel"])

    def _answer(self, response: Message) -> None:
        said = response["response"]
        answer = Answer(
            allows=said["behavior"] == "allow",
            always="updatedPermissions" in said,
            reason=said.get("message", ""),
            choices=said.get("updatedInput", {}).get("answers", {}),
        )
        self.talker.answer(response["request_id"], answer)

    def _take(self) -> None:
        for line in self.talker.to_send().splitlines():
            told = json.loads(line)
            self.sent.append(told)
            if told["type"] == "control_request":
                self._asked.setdefault(told["request"]["subtype"], []).append(told["request_id"])

    def of(self, *kinds: type) -> list[Event]:
        return [each for each in self.events if isinstance(each, kinds)]

    @property
    def prompts(self) -> list[str]:
        return [each["uuid"] for each in self.sent if each["type"] == "user"]


def _message(line: str) -> Message:
    found: Message = json.loads(line[2:]) if line[:2] in ("< ", "> ") else {}
    return found
