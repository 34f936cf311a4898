"""A conversation goes to its agent's own screen and back, or was one: with kills in between."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.talking import scripted_claude
from bwrap import needs_bwrap
from drawn_terminal import DrawnTerminal
from integration.chat import screen_claude
from integration.chat.scripted import Talked
from sandbox import SIDING, Sandbox


class OnScreen(DrawnTerminal):
    """A person at the own screen of the scripted agent."""

    def __init__(self, talked: Talked, *words: str) -> None:
        sandbox = talked.sandbox
        super().__init__([*SIDING, *words], cwd=sandbox.repo, env=sandbox.env, columns=200)

    def says(self, line: str, shown: str) -> None:
        self.type(f"{line}\r".encode())
        self.until_shown(shown)

    def opened(self) -> "OnScreen":
        self.until_shown("ready for a line")
        return self

    def ends(self) -> int:
        return self.finish(seconds=60)


@pytest.fixture
def talked(sandbox: Sandbox) -> Talked:
    """A conversation that is idle after one turn."""
    talked = Talked(sandbox, screen_claude.__file__)
    talked.siding("chat", "claude", "say hello", "--new", "talk")
    talked.until(lambda: talked.events("recorded"))
    return talked


def told(talked: Talked) -> list[str]:
    return [each["text"] for each in talked.events("told")]


def test_what_waits_is_kept_and_goes_when_it_is_back(talked: Talked) -> None:
    gate = talked.sandbox.directory / "gate"
    talked.send(f"wait {gate}")
    talked.until(lambda: talked.row["state"] == "running")
    talked.send("say queued")
    shown = OnScreen(talked, "attach", "--own")
    shown.until_shown("kept for afterwards")
    assert talked.row["state"] == "running"
    second = talked.siding("attach", "--own", status=2)
    assert "needs a terminal" in second
    gate.touch()
    shown.opened().says("say outside", "outside")
    # It is on one screen, and nobody holds it meanwhile; what is asked for is taken all the same.
    other = OnScreen(talked, "attach", "--own")
    other.until_shown("is on the own screen of claude")
    assert other.ends() == 2
    assert "is on the own screen" in talked.siding("chat", "switch", "siding-agent", status=2)
    for verb in ("stop", "end"):
        assert "is on the own screen" in talked.siding("chat", verb, status=2)
    talked.send("say later")
    talked.until(lambda: len(talked.row["queue"]) == 2)
    assert talked.row["state"] == "handed-over"
    shown.says("/exit", "given back after 1 prompt")
    assert shown.ends() == 0
    talked.turns(4)
    assert [said for _agent, said in talked.taken()] == [
        *("say hello", f"wait {gate}", "say queued", "say later")
    ]
    assert told(talked) == ["say outside", "outside"]
    assert len({each["session"] for each in talked.events("opened")}) == 1
    talked.end()


KILLS: dict[str, Callable[[Talked, OnScreen], object]] = {
    "siding": lambda talked, _shown: talked.kill_holder(),
    "terminal": lambda _talked, shown: shown.close_window(),
    "hup": lambda talked, _shown: talked.kill_holder(signal.SIGHUP),
    "screen": lambda talked, _shown: os.kill(agents_of(talked)[0], signal.SIGKILL),
}


def agents_of(talked: Talked) -> list[int]:
    """The processes that show a screen."""
    words = str(talked.sandbox.directory).encode(), screen_claude.__file__.encode()
    return [
        int(each.name)
        for each in Path("/proc").iterdir()
        if each.name.isdigit()
        and words[1] in _of(each, "cmdline").split(b"\0")
        and words[0] in _of(each, "environ")
    ]


def _of(process: Path, name: str) -> bytes:
    try:
        return (process / name).read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("kill", sorted(KILLS))
def test_a_screen_that_is_killed_blocks_nobody(talked: Talked, kill: str) -> None:
    """Each time, and once more."""
    wanted = "ended" if kill == "siding" else "idle"
    for number in (1, 2):
        shown = OnScreen(talked, "attach", "--own").opened()
        shown.says(f"say outside {number}", "ended")
        KILLS[kill](talked, shown)
        if kill == "terminal":
            shown.process.wait(timeout=60)
        else:
            shown.ends()
        talked.until(lambda: not agents_of(talked))
        # Without the process that had it, nobody takes it back until somebody wants something.
        talked.until(lambda: talked.row["state"] == wanted)
        talked.send(f"say back {number}")
        talked.turns(number + 1)
        assert f"back {number}" in talked.text()
        assert len(talked.events("handed-back")) == number
    assert told(talked) == [*("say outside 1", "outside 1", "say outside 2", "outside 2")]
    assert len({each["session"] for each in talked.events("opened")}) == 1
    talked.end()


def test_what_runs_in_the_background_keeps_the_agent(talked: Talked) -> None:
    talked.send("background server")
    talked.turns(2)
    shown = OnScreen(talked, "attach", "--own")
    shown.until_shown("runs in the background, and ends: server", "end it with --force")
    assert shown.ends() == 1
    # It is known when the turn has ended, too: then it is that which refuses.
    gate = talked.sandbox.directory / "gate"
    talked.send(f"background\nwait {gate}\nbackground late")
    talked.until(lambda: talked.row["state"] == "running")
    shown = OnScreen(talked, "attach", "--own")
    shown.until_shown("it opens when the turn has ended")
    assert "siding-agent goes on when" in talked.siding("chat", "switch", "siding-agent")
    gate.touch()
    shown.until_shown("has this running, which would end with it: late")
    assert shown.ends() == 1
    assert len(talked.events("hold-kept")) == 1
    assert talked.row["agent"] == "claude"
    assert talked.row["state"] == "idle"
    shown = OnScreen(talked, "attach", "--own", "--force").opened()
    shown.says("/exit", "given back")
    assert shown.ends() == 0
    talked.siding("chat", "switch", "siding-agent")  # it has ended with the agent
    talked.until(lambda: talked.row["agent"] == "siding-agent")
    talked.end()


def test_an_ask_is_answered_first_and_who_waits_may_be_killed(talked: Talked) -> None:
    for number, kill in enumerate((signal.SIGKILL, signal.SIGINT), start=1):
        name = f"{number}.txt"
        talked.send(f"run touch {name}")
        talked.until(lambda: talked.row["state"] == "waits")
        talked.send(f"say queued {number}")
        shown = OnScreen(talked, "attach", "--own")
        shown.until_shown("it opens when the turn has ended")
        talked.until(lambda: talked.story[-1]["event"] == "hand-over-asked")
        os.kill(shown.process.pid, kill)
        shown.ends()
        (put,) = [each for each in talked.row["asks"] if each["decision"]]
        talked.siding("decide", "answer", put["decision"], "--choose", "1=run")
        talked.turns(number * 2 + 1)
        assert (talked.sandbox.workspace() / name).exists()
        assert talked.taken()[-1] == ("claude", f"say queued {number}")
    assert talked.events("handed-over") == []
    talked.end()


def test_a_host_that_is_killed_while_somebody_waits_for_the_screen(talked: Talked) -> None:
    talked.send("wait never")
    talked.until(lambda: talked.row["state"] == "running")
    shown = OnScreen(talked, "attach", "--own")
    talked.until(lambda: talked.events("hand-over-asked"))
    talked.kill_holder()
    shown.opened().says("/exit", "given back")
    assert shown.ends() == 0
    assert talked.events("proven", "unsure", "turn-ended")[-1]["how"] == "failed"
    talked.send("say back")
    talked.until(lambda: talked.taken()[-1] == ("claude", "say back"))
    talked.end()


@needs_bwrap
def test_each_host_and_the_screen_have_the_sandbox_of_the_first(sandbox: Sandbox) -> None:
    # Where a sandbox shows it.
    programs = Path(sandbox.env["HOME"], ".local/bin")
    programs.mkdir(parents=True)
    for each in (screen_claude.__file__, scripted_claude.__file__):
        assert each is not None
        shutil.copy(each, programs)
    talked = Talked(sandbox, str(programs / "screen_claude.py"), programs)
    words = ("--sandbox", "--network", "off", "--write", "made")
    (sandbox.repo / "made").mkdir()
    talked.siding("chat", "claude", "say hello", "--new", "talk", *words)
    talked.until(lambda: talked.events("recorded"))
    shown = OnScreen(talked, "attach", "--own").opened()
    shown.says("/exit", "given back")
    assert shown.ends() == 0
    talked.end()
    talked.siding("chat", "switch", "siding-agent")
    talked.send("say again")
    talked.turns(2)
    talked.end()
    runs = [each for each in sandbox.steps() if each["kind"] == "run"]
    assert [each["sandbox"]["network"] for each in runs] == ["off"] * 4
    (asked,) = talked.events("sandbox-asked")
    assert asked["sandbox"]["write"] == [str(sandbox.repo / "made")]


def begun(talked: Talked, *lines: str) -> OnScreen:
    """A run of the agent's own screen, on which this was said."""
    shown = OnScreen(talked, "run", "-t", "talk", "--", "claude").opened()
    for line in lines:
        shown.says(line, "ended")
        shown.until(lambda: "ended" in shown.screen)
    return shown


@pytest.fixture
def task(sandbox: Sandbox) -> Talked:
    """A task without a conversation."""
    talked = Talked(sandbox, screen_claude.__file__)
    talked.siding("task", "start", "talk")
    talked.siding("guard", "off")  # else it would be asked
    return talked


def test_a_screen_becomes_a_conversation_at_its_turns_end(task: Talked) -> None:
    gate = task.sandbox.directory / "gate"
    shown = begun(task, "say outside")
    shown.type(f"slow {gate}\r".encode())
    assert "--yes ends it" in task.siding("chat", "take", status=2)
    killed = OnScreen(task, "chat", "take", "--yes")
    killed.is_soon(lambda: False, 1.0)
    os.kill(killed.process.pid, signal.SIGKILL)
    killed.ends()
    asked = OnScreen(task, "chat", "take")
    asked.until_shown("end the screen of claude (r1) at its turn's end? [y/N]")
    asked.type(b"y\r")
    asked.is_soon(lambda: False, 1.0)
    assert shown.process.poll() is None  # its turn goes on
    gate.touch()
    asked.until_shown("c1 goes on with what claude was in r1")
    assert asked.ends() == 0
    shown.ends()
    assert told(task) == ["say outside", "outside", f"slow {gate}", "It was slow."]
    assert [each["event"] for each in task.story][:2] == ["began", "took"]
    task.send("say held")
    task.until(lambda: task.events("recorded"))
    (took,) = task.events("took")
    assert {each["session"] for each in task.events("opened")} == {took["session"]}
    # Again, and by its number: it is that conversation.
    for words in ((), ("r1",)):
        assert "has gone on already" in task.siding("chat", "take", *words)
    assert [each["chat"] for each in task.sandbox.json("chat", "list", "--json")] == ["c1"]
    prompts = [each["prompt"] for each in task.sandbox.steps() if each.get("origin") == "turn"]
    assert prompts == ["say outside", f"slow {gate}", "say held"]
    task.end()


def test_a_screen_with_something_in_the_background_is_left(task: Talked) -> None:
    shown = begun(task, "shell")
    assert "sleep 300" in task.siding("chat", "take", "--yes", status=1)
    assert shown.process.poll() is None
    assert task.sandbox.json("chat", "list", "--json") == []
    task.siding("chat", "take", "--yes", "--force")
    shown.ends()
    assert told(task) == ["shell", "It goes on."]
    task.end()


def test_a_run_that_has_ended_goes_on_and_others_are_refused(task: Talked) -> None:
    task.siding("run", "--", "true")
    shown = begun(task, "say outside")
    shown.type(b"/exit\r")
    assert shown.ends() == 0
    for run, why in (("r1", "is of no agent that can be held"), ("r9", "there is no run 'r9'")):
        assert why in task.siding("chat", "take", run, status=2 if run == "r1" else 1)
    (of_task,) = task.sandbox.directory.glob("siding/projects/*/tasks/*")
    left = of_task / "chats" / ".taking"  # of one that was killed when the screen had ended
    left.mkdir(parents=True)
    (left / "story.jsonl").write_text('{"seq":1,"event":"began"}\n{"se')
    task.siding("chat", "take", "--json")
    task.send("say held")
    task.turns(1)
    assert told(task) == ["say outside", "outside"]
    assert "is of conversation c1 already" in task.siding("chat", "take", "r3", status=2)
    # It goes to the own screen and back as any conversation does.
    shown = OnScreen(task, "attach", "--own").opened()
    shown.says("say again", "ended")
    shown.says("/exit", "given back after 1 prompt")
    assert shown.ends() == 0
    assert told(task)[2:] == ["say again", "again"]
    task.end()
