"""A conversation with a real agent from the command line: prompts, an ask, steps, a stop, kills."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from agents.conftest import agent_named
from agents.talking.acp_rows import ACP_ROWS
from agents.talking.rows import ROWS as OWN_ROWS
from sandbox import Sandbox

PATIENCE_S = 90.0
ROWS = {name: row for name, row in {**OWN_ROWS, **ACP_ROWS}.items() if name != "siding-agent"}


class Chat:
    """The newest conversation of a task, as its lines say."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    @property
    def story(self) -> list[dict[str, Any]]:
        said = self._sandbox.siding("chat", "show", "--json").stdout.decode()
        return [json.loads(line) for line in said.splitlines()]

    @property
    def row(self) -> dict[str, Any]:
        found: list[dict[str, Any]] = self._sandbox.json("chat", "list", "--json")
        return found[-1]

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.story if line["event"] == name]

    def text(self) -> str:
        return "".join(line["text"] for line in self.events("text"))

    def until(self, holds: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, json.dumps(self.story, indent=1)[-3000:]
            time.sleep(0.05)

    def turns(self, number: int) -> None:
        self.until(lambda: len(self.events("turn-ended")) >= number)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_conversation_goes_on_after_its_agent_has_ended(sandbox: Sandbox, name: str) -> None:
    row = ROWS[name]
    with agent_named(sandbox, name) as agent:
        row.prepare(agent)
        chat = Chat(sandbox)
        agent.says(
            ["Hello to you."], [agent.shell("echo one >one.txt")], ["One is there."], ["Bye."]
        )
        options = [f"--option={each}" for each in row.options(agent)]
        options += ["--model", row.model] if row.model else []
        sandbox.siding("chat", name, "Say hello", "--new", "talk", *options)
        chat.turns(1)
        assert "Hello to you." in chat.text()
        sandbox.siding("chat", "send", "Make one.txt")
        chat.until(lambda: chat.events("put"))
        (put,) = chat.events("put")
        sandbox.siding("decide", "answer", put["decision"], "--choose", "1=run")
        chat.turns(2)
        assert (sandbox.workspace() / "one.txt").read_text() == "one\n"
        assert "One is there." in chat.text()
        chat.until(lambda: len(agent.turns) == 2)
        assert [each["prompt"] for each in agent.turns] == ["Say hello", "Make one.txt"]
        assert [each["diff_stat"]["files"] for each in agent.turns] == [0, 1]
        sandbox.siding("chat", "end")
        chat.until(lambda: chat.row["state"] == "ended")
        sandbox.siding("chat", "send", "Bye")
        chat.turns(3)
        assert "Bye." in chat.text()
        requests = agent.model.requests if agent.model is not None else []
        assert "Say hello" in json.dumps(requests[-1])
        sandbox.siding("chat", "end")
        chat.until(lambda: chat.row["state"] == "ended")
