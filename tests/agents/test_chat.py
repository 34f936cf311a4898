"""A conversation with a real agent from the command line: prompts, an ask, steps, a stop, kills."""

import time

import pytest

from agents.conftest import AgentAtWork, agent_named
from agents.models import Answer, Held
from agents.talking.acp_rows import ACP_ROWS
from agents.talking.driver import said
from agents.talking.rows import ROWS as OWN_ROWS
from agents.talking.rows import Row
from sandbox import Sandbox
from siding.agents.table import OWN
from stories import Told

COUNTED = ("claude", "codex")  # these tell of all that a turn has used
ROWS = {name: row for name, row in {**OWN_ROWS, **ACP_ROWS}.items() if name != OWN}


class Talk(Told):
    """A conversation with a real agent, whose model says what a test wants."""

    def __init__(self, sandbox: Sandbox, agent: AgentAtWork, row: Row) -> None:
        super().__init__(sandbox)
        self.sandbox, self.agent, self.row_ = sandbox, agent, row
        self.model = agent.says()
        self.asked = 0

    def begin(self, prompt: str) -> None:
        options = [f"--option={each}" for each in self.row_.options(self.agent)]
        options += ["--model", self.row_.model] if self.row_.model else []
        self.sandbox.siding("chat", self.row_.name, prompt, "--new", "talk", *options)

    def answer(self, *words: str) -> None:
        """Answer what it asks, from a process of its own."""
        self.asked += 1
        self.until(lambda: len(self.events("put")) == self.asked)
        put = self.events("put")[-1]
        self.sandbox.siding("decide", "answer", put["decision"], *words)

    def turn(self, prompt: str, *answers: Answer, allows: bool | None = None) -> None:
        """Have a turn carried out, and recorded."""
        before = len(self.events("recorded"))
        self.model.says(*answers)
        self.sandbox.siding("chat", "send", prompt)
        if allows is not None:
            words = ["--choose", "1=run"] if allows else ["--choose", "1=refuse", "--note", WHY]
            self.answer(*words)
        self.until(lambda: len(self.events("recorded")) > before)

    def writes(self, name: str) -> Answer:
        return [self.agent.shell(f"echo {name} >{name}")]

    def there(self) -> list[str]:
        return sorted(each.name for each in self.sandbox.workspace().glob("*.txt"))


WHY = "1=because of the moon"


def _counted(talk: Talk) -> None:
    """What the turns say that they used is what the model says, and is counted once."""
    sent, answered, calls = talk.model.used
    used = [each for turn in talk.agent.turns for each in turn["usage"].values()]
    assert sum(each["input"] for each in used) == sent
    assert sum(each["output"] for each in used) == answered
    (total,) = talk.sandbox.json("usage", "--by", "client", "--json")
    assert (total["input"], total["output"], total["calls"]) == (sent, answered, calls)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", sorted(ROWS))
def test_ten_turns_with_asks_an_undo_a_steer_a_stop_and_a_new_host(
    sandbox: Sandbox, name: str
) -> None:
    row = ROWS[name]
    with agent_named(sandbox, name) as agent:
        row.prepare(agent)
        talk = Talk(sandbox, agent, row)
        talk.model.says(["Hello to you."])
        talk.begin("Say hello")
        talk.until(lambda: talk.events("recorded"))
        assert "Hello to you." in talk.text()
        talk.turn("Make one.txt", talk.writes("one.txt"), ["One is there."], allows=True)
        talk.turn("Make two.txt", talk.writes("two.txt"), ["Two is there."], allows=True)
        assert talk.there() == ["hello.txt", "one.txt", "two.txt"]
        sandbox.siding("undo")
        assert talk.there() == ["hello.txt", "one.txt"]
        talk.turn("What is there?", ["One."])
        asked = said(talk.model.requests[-1])
        forgets = row.talking.abilities.goes_back
        assert ("Make two.txt" in asked, "Taken back: your work on" in asked) == (
            (False, False) if forgets else (True, True)
        )
        talk.turn("Make three.txt", talk.writes("three.txt"), ["Well."], allows=False)
        assert talk.there() == ["hello.txt", "one.txt"]
        if name in COUNTED:
            _counted(talk)
        _stopped(talk)
        _steered(talk)
        _queued(talk)
        changed = [each["files"] for each in _changes(agent)]
        assert changed[:7] == [0, 1, 1, 0, 0, 0, 0]
        assert not any(changed[7:])
        sandbox.siding("chat", "end")
        talk.until(lambda: talk.row["state"] == "ended")
        talk.turn("Bye", ["Bye."])
        assert "Say hello" in said(talk.model.requests[-1])
        assert len(talk.events("answered")) == talk.asked
        sandbox.siding("chat", "end")
        talk.until(lambda: talk.row["state"] == "ended")


def _stopped(talk: Talk) -> None:
    talk.model.says(Held("It begins, and its last word waits"), ["And again."])
    talk.sandbox.siding("chat", "send", "Talk")
    talk.until(lambda: "It begins" in talk.text())
    talk.sandbox.siding("chat", "stop")
    talk.until(lambda: talk.events("turn-ended")[-1]["how"] == "stopped")


def _steered(talk: Talk) -> None:
    """Give a prompt into a running turn, or be told that this agent takes none.

    On a busy machine it may come after the turn's last request; then it is the next prompt.
    """
    workspace = talk.sandbox.workspace()
    waits = "touch begun; until [ -e go ]; do sleep 0.05; done; rm begun go"
    talk.model.says([talk.agent.shell(waits)], ["Briefly."], ["Too late."])
    before = len(talk.events("recorded"))
    talk.sandbox.siding("chat", "send", "Wait")
    talk.answer("--choose", "1=run")
    talk.until((workspace / "begun").exists)
    steers = talk.row_.talking.abilities.steers
    talk.sandbox.siding("chat", "steer", "Be brief", status=0 if steers else 2)
    if steers:
        talk.until(lambda: any(each.get("steers") for each in talk.events("sending")))
        time.sleep(talk.row_.steers_s)
    (workspace / "go").touch()
    talk.until(lambda: len(talk.events("recorded")) > before)
    if steers:
        steered = talk.events("queued")[-1]["prompt"]
        talk.until(lambda: any(each["prompt"] == steered for each in talk.events("prompt-taken")))
        talk.until(lambda: talk.row["state"] == "idle" and not talk.row["queue"])
        talk.until(lambda: len(talk.events("recorded")) == len(talk.events("turn-started")))
    assert any("Be brief" in said(each) for each in talk.model.requests) is steers


def _queued(talk: Talk) -> None:
    before = len(talk.events("recorded"))
    talk.model.says(["First."], ["Second."])
    talk.sandbox.siding("chat", "send", "The first")
    talk.sandbox.siding("chat", "send", "The second")
    talk.until(lambda: len(talk.events("recorded")) == before + 2)
    assert talk.text().endswith("First.Second."), talk.text()


def _changes(agent: AgentAtWork) -> list[dict[str, int]]:
    return [each["diff_stat"] for each in agent.turns]
