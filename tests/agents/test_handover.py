"""A conversation goes to the own screen of a real agent, and comes back."""

import json
from collections.abc import Callable

import pytest

from agents.at_terminal import AGAIN_S, AtTerminal
from agents.conftest import AgentAtWork, agent_named
from agents.talking.rows import ROWS
from drawn_terminal import DrawnTerminal
from sandbox import SIDING, Sandbox
from stories import Told


class OwnScreen(DrawnTerminal):
    """The agent's own screen, to which a conversation was handed over."""

    patience_s = 90.0

    def __init__(self, sandbox: Sandbox, agent: AgentAtWork) -> None:
        words = [*SIDING, "attach", "--own"]
        super().__init__(words, cwd=sandbox.repo, env=sandbox.env, rows=40, columns=110)
        self._agent = agent
        self.until_shown(agent.ready)

    def says(self, prompt: str, answer: str) -> None:
        """Type a prompt, and Enter until it is answered: one that comes early may be lost."""
        self.type(prompt.encode())
        self.until_shown(prompt)
        self._enter(lambda: answer in self.screen)

    def quits(self) -> int:
        self.type(self._agent.quits.encode())
        self.until_shown(self._agent.quits)
        self._enter(lambda: self.process.poll() is not None)
        return self.finish()

    def _enter(self, until: Callable[[], bool]) -> None:
        self.type(b"\r")
        while not self.is_soon(until, AGAIN_S):
            self.type(b"\r")


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_it_goes_to_the_own_screen_and_back(sandbox: Sandbox, name: str) -> None:
    row = ROWS[name]
    with agent_named(sandbox, name) as agent:
        row.prepare(agent)
        chat = Told(sandbox)
        model = agent.says(["Hello to you."], ["Here I am."], ["Here again."], ["Back again."])
        # Its screen does not take what only its server does.
        words = agent.interactive()[1:] if name == "codex" else ()
        options = [f"--option={each}" for each in words]
        sandbox.siding("chat", name, "Say hello", "--new", "talk", *options)
        chat.recorded(1)
        agent.interactive()  # writes what it would ask first
        for said, answer in (("Come out", "Here I am."), ("And again", "Here again.")):
            shown = OwnScreen(sandbox, agent)
            assert chat.row["state"] == "handed-over"
            shown.says(said, answer)
            assert shown.quits() == 0
            chat.until(lambda: chat.row["state"] == "idle")
        assert [each["text"] for each in chat.events("told")] == [
            *("Come out", "Here I am.", "And again", "Here again.")
        ]
        assert len({each["session"] for each in chat.events("opened")}) == 1
        sandbox.siding("chat", "send", "Are you back?")
        chat.recorded(2)
        assert "Back again." in chat.text()
        last = json.dumps(model.requests[-1])
        assert all(each in last for each in ("Say hello", "Come out", "And again", "back?"))
        prompts = [each["prompt"] for each in agent.turns]
        assert prompts == ["Say hello", "Come out", "And again", "Are you back?"]
        sandbox.siding("chat", "end")
        chat.until(lambda: chat.row["state"] == "ended")


def test_another_agent_goes_on_and_the_first_comes_back(sandbox: Sandbox) -> None:
    with agent_named(sandbox, "claude") as claude, agent_named(sandbox, "codex") as codex:
        chat = Told(sandbox)
        first = claude.says(["Hello from Claude."], ["I am back."])
        second = codex.says([codex.shell("echo two >two.txt")], ["Two is there."])
        sandbox.siding("chat", "claude", "Say hello", "--new", "talk")
        chat.recorded(1)
        session = chat.row["session"]
        options = [f"--option={each}" for each in ROWS["codex"].options(codex)]
        sandbox.siding("chat", "switch", "codex", *options)
        sandbox.siding("chat", "send", "Make two.txt")
        chat.until(lambda: chat.events("put"))
        (put,) = chat.events("put")
        sandbox.siding("decide", "answer", put["decision"], "--choose", "1=run")
        chat.recorded(2)
        assert chat.row["agent"] == "codex"
        told = json.dumps(second.requests[0])
        assert all(each in told for each in ("Person: Say hello", "claude: Hello from Claude."))
        assert (sandbox.workspace() / "two.txt").exists()
        sandbox.siding("undo")
        assert not (sandbox.workspace() / "two.txt").exists()
        sandbox.siding("chat", "switch", "claude")
        sandbox.siding("chat", "send", "Who made two.txt?")
        chat.recorded(3)
        assert chat.row["session"] == session
        told = json.dumps(first.requests[-1])
        assert all(each in told for each in ("Say hello", "Person: Make two.txt", "taken back"))
        assert "codex: Two is there." in told
        assert [each["prompt"] for each in claude.turns] == [
            *("Say hello", "Make two.txt", "Who made two.txt?")
        ]
        sandbox.siding("chat", "end")
        chat.until(lambda: chat.row["state"] == "ended")


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_its_own_screen_becomes_a_conversation(sandbox: Sandbox, name: str) -> None:
    with agent_named(sandbox, name) as agent:
        chat = Told(sandbox)
        model = agent.says(["Here I am."], ["I am held."])
        sandbox.siding("task", "start", "talk")
        shown = AtTerminal(agent)
        shown.until_shown(agent.ready)
        shown.says("Come out", lambda: "Here I am." in shown.screen)
        shown.until(lambda: len(agent.turns) == 1)
        words = agent.interactive()[1:] if name == "codex" else ()
        options = [f"--option={each}" for each in words]
        sandbox.siding("chat", "take", "--yes", *options)
        shown.finish()
        assert [each["text"] for each in chat.events("told")] == ["Come out", "Here I am."]
        sandbox.siding("chat", "send", "Are you held?")
        chat.recorded(1)
        assert "I am held." in chat.text()
        assert "Come out" in json.dumps(model.requests[-1])
        assert [each["prompt"] for each in agent.turns] == ["Come out", "Are you held?"]
        sandbox.siding("chat", "end")
        chat.until(lambda: chat.row["state"] == "ended")
