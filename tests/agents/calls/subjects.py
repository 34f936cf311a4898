"""Agents of every kind, and how each is told what to answer: the subjects of the conformance suite.

Each answers by a word of the prompt. `Told` is what a test wants of it, in words that all know.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agents.conftest import AgentAtWork, ClaudeAtWork, CodexAtWork, GeminiAtWork, OpencodeAtWork
from agents.models import Answer, Call, Failure
from sandbox import Sandbox

_HERE = Path(__file__).parent


class Told(NamedTuple):
    """What an agent does when it gets a prompt."""

    text: str = ""
    output: Mapping[str, Any] | None = None
    command: str = ""  # is run first
    failure: int = 0  # the model's server answers with this status


class Subject:
    """An agent of one kind in a task."""

    name: str
    remembers = True  # goes on with a conversation
    has_server = True  # fails as the server of its model does
    counts = True  # what it used
    is_patient = False  # with a server that is overloaded: it tries for minutes

    def __init__(self, task: Sandbox) -> None:
        self.task = task

    def settings(self) -> dict[str, Any]:
        """Return what the settings have of the agent."""
        raise NotImplementedError

    def told(self, **answers: Told) -> None:
        """Have it answer so, by a word of the prompt."""
        raise NotImplementedError

    def has_heard(self, word: str) -> bool:
        """Tell whether its model was given a word; True where there is no model to ask."""
        return True

    def close(self) -> None:
        """Let go of what the test has made."""


class Scripted(Subject):
    """The scripted agent."""

    name = "scripted"

    @property
    def table(self) -> Path:
        return Path(self.task.env["HOME"]) / "answers.json"

    def settings(self) -> dict[str, Any]:
        return {"agent": "scripted", "answers": str(self.table)}

    def told(self, **answers: Told) -> None:
        rows: list[dict[str, Any]] = []
        used = {"tokens": 20, "input_tokens": 100}
        for word, told in answers.items():
            row: dict[str, Any] = {"match": word, "text": told.text}
            row["used"] = used
            if told.output is not None:
                row["output"] = dict(told.output)
            if told.command:
                row |= _as_script(told.command)
            if told.failure:
                row["fail"] = "server" if told.failure >= 500 else "refused"
            rows.append(row)
        again = {"match": "onwards", "resumed": True, "text": "before: first", "used": used}
        self.table.write_text(json.dumps({"answers": [again, *rows]}))


def _as_script(command: str) -> dict[str, Any]:
    if "sleep" in command:
        return {"append": {"begun": "x"}, "wait": 300}
    return {"files": {"a.txt": "a\n"}}


class BuiltIn(Subject):
    """Siding's own agent, with its scripted model."""

    name = "siding-agent"
    is_patient = True

    @property
    def table(self) -> Path:
        return Path(self.task.env["HOME"]) / "script.json"

    def settings(self) -> dict[str, Any]:
        return {"agent": self.name, "model": f"scripted:{self.table}", "permissions": "all"}

    def told(self, **answers: Told) -> None:
        rows: list[dict[str, Any]] = [
            {"match": "onwards", "turn": 2, **_said(Told("before: first"))}
        ]
        rows += [{"match": word, **_said(told)} for word, told in answers.items()]
        self.table.write_text(json.dumps({"answers": rows}))


def _said(told: Told) -> dict[str, Any]:
    used = {"used": {"input": 100, "output": 20}}
    if told.failure:
        return {"text": "", "fail": "overloaded" if told.failure > 500 else "request"}
    if told.output is not None:
        return {"steps": [{"tools": [{"StructuredOutput": dict(told.output)}], **used}]}
    last = [{"text": told.text, **used}] * 3  # it asks again for an object that it did not get
    first = [{"tools": [{"Bash": {"command": told.command}}]}] if told.command else []
    return {"steps": [*first, *last]}


class Plain(Subject):
    """A command of a person's own."""

    name = "command"
    remembers = False
    has_server = False
    counts = False

    @property
    def table(self) -> Path:
        return Path(self.task.env["HOME"]) / "answers.json"

    def settings(self) -> dict[str, Any]:
        program = str(_HERE / "plain_agent.py")
        return {"command": [sys.executable, program, str(self.table), "{prompt_file}"]}

    def told(self, **answers: Told) -> None:
        self.table.write_text(json.dumps({word: _row(told) for word, told in answers.items()}))


class Acp(Plain):
    """An agent that speaks ACP."""

    name = "acp"
    remembers = True
    counts = True

    def settings(self) -> dict[str, Any]:
        command = [sys.executable, str(_HERE / "acp_agent.py"), str(self.table)]
        return {"agent": "acp", "command": command, "permissions": "all"}

    def told(self, **answers: Told) -> None:
        rows = {"onwards": {"text": "before: {before}"}}
        self.table.write_text(
            json.dumps(rows | {word: _row(told) for word, told in answers.items()})
        )


def _row(told: Told) -> dict[str, Any]:
    text = f"Here:\n```json\n{json.dumps(told.output)}\n```" if told.output else told.text
    row: dict[str, Any] = {"text": text}
    if told.command:
        row["command"] = told.command
    if told.failure:
        row |= {"failure": told.failure, "stop": "refusal"}
    return row


class OfModel(Subject):
    """A real client, whose model is a server of the test's."""

    at_work: type[AgentAtWork]

    def __init__(self, task: Sandbox, at_work: AgentAtWork) -> None:
        super().__init__(task)
        self.agent = at_work

    def settings(self) -> dict[str, Any]:
        return {"agent": self.name, "permissions": "all"}

    def told(self, **answers: Told) -> None:
        scripts = {word: self.script(told) for word, told in answers.items()}
        self.agent.says(elsewhere=scripts).by_newest = True

    def script(self, told: Told) -> list[Answer]:
        """Return what the model answers to a prompt."""
        if told.failure:
            return [Failure(told.failure)] * 40
        before: list[Answer] = [[self.agent.shell(told.command)]] if told.command else []
        return [*before, *self.last(told)]

    def last(self, told: Told) -> list[Answer]:
        text = json.dumps(told.output) if told.output is not None else told.text
        return [[text]]

    def has_heard(self, word: str) -> bool:
        assert self.agent.model is not None
        return any(word in json.dumps(request) for request in self.agent.model.requests)

    def close(self) -> None:
        self.agent.close()


class Claude(OfModel):
    """Claude Code."""

    name = "claude"
    at_work = ClaudeAtWork

    def settings(self) -> dict[str, Any]:
        return super().settings() | {"env": {"CLAUDE_CODE_MAX_RETRIES": "0"}}

    def last(self, told: Told) -> list[Answer]:
        if told.output is None:
            return [[told.text]] * 3  # it asks again for an object that it did not get
        return [[Call("StructuredOutput", told.output)]]


class Codex(OfModel):
    """Codex, whose provider is given by options of the settings."""

    name = "codex"
    at_work = CodexAtWork

    def settings(self) -> dict[str, Any]:
        words = self.agent.words("-")
        options = words[words.index("danger-full-access") + 1 : -1]
        few = [f"model_providers.test.{kind}_max_retries=0" for kind in ("request", "stream")]
        return super().settings() | {"options": [*options, "-c", few[0], "-c", few[1]]}


class Gemini(OfModel):
    """The Gemini CLI."""

    name = "gemini"
    at_work = GeminiAtWork
    is_patient = True

    def settings(self) -> dict[str, Any]:
        return super().settings() | {"model": "gemini-2.5-pro"}


class Opencode(OfModel):
    """opencode."""

    name = "opencode"
    at_work = OpencodeAtWork
    is_patient = True


OWN: tuple[type[Subject], ...] = (Scripted, Plain, Acp, BuiltIn)
REAL: tuple[type[OfModel], ...] = (Claude, Codex, Gemini, Opencode)
