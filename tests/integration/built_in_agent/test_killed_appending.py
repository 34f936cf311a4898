"""All processes die at an append to the transcript, before it or in the middle of a line."""

import json

import pytest

import counted
from faults import tracer
from faults.arena import Arena, in_workers
from faults.syscalls import Effect
from sandbox import Sandbox

from . import killed

pytestmark = pytest.mark.skipif(
    tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
)

APPENDS = 6  # of a turn; lines that wait are written together, so some turns have fewer
TURNS = 20


class Dying:
    """Kills the agent at the n-th append; with `torn`, when a part of the line is written."""

    def __init__(self, number: int, *, torn: bool) -> None:
        self._left = number
        self._torn = torn
        self.has_struck = False

    def on_call(self, call: tracer.Call) -> tracer.Action:
        """Decide on a call; called before it runs."""
        if call.effect is not Effect.WRITE or not call.paths[0].endswith(".jsonl"):
            return tracer.RUN
        self._left -= 1
        if self._left:
            return tracer.RUN
        self.has_struck = True
        if not self._torn:
            return tracer.KILL
        return tracer.Action(tracer.Verb.CUT, max(1, call.length // 2))

    def on_return(self, _call: tracer.Call) -> tracer.Action:
        """Decide after the call that was cut short."""
        return tracer.KILL


def asked(sandbox: Sandbox, turn: int, dying: Dying) -> tuple[str, bool]:
    """Ask the agent for a turn; return what it printed, and whether it was killed.

    It begins a run in the workspace. A process of one thread traces it.
    """

    def traced(_arena: Arena, _number: int, _count: int) -> tuple[str, bool]:
        return _traced(sandbox, turn, dying), dying.has_struck

    (found,) = in_workers(traced, workers=1)
    return found


def _traced(sandbox: Sandbox, turn: int, dying: Dying) -> str:
    log = sandbox.directory / "printed"
    argv = ["siding-agent", "-p", f"turn {turn}", "--output-format", "json"]
    argv += ["--model", f"scripted:{sandbox.directory / 'script.yaml'}", "--allowed-tools", "Bash"]
    argv += ["-c"] * bool(killed.stored(sandbox))
    sessions = sandbox.project / "sessions"
    with log.open("wb") as out, (sandbox.directory / "errors").open("wb") as errors:
        traced = tracer.Tracer([str(sessions)], dying.on_call, dying.on_return)
        traced.run(
            argv,
            cwd=str(sandbox.workspace()),
            env=sandbox.env,
            stdout=out.fileno(),
            stderr=errors.fileno(),
            timeout_s=120,
        )
    return log.read_text()


def killed_at_appends(sandbox: Sandbox, turns: int, first: int, *, torn: bool) -> None:
    """Hold a conversation that is killed at an append in each of its turns."""
    before, kills = b"", 0
    for turn in range(1, turns + 1):
        dying = Dying((first + turn) % APPENDS + 1, torn=torn)
        said, has_struck = asked(sandbox, turn, dying)
        assert has_struck or "result" in said, said
        kills += has_struck
        after = killed.stored(sandbox)
        assert after.startswith(before)
        before = after
    counted.add(kills)
    assert kills >= turns // 2
    said, _ = asked(sandbox, turns + 1, Dying(0, torn=False))
    assert json.loads(said)["result"] == f"Turn {turns + 1} is done.", said
    after = killed.stored(sandbox)
    # The rest of a line that was torn is closed, and stays.
    assert after.startswith(before)
    killed.holds(sandbox, after, kills=kills, torn=kills if torn else 0)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("torn", [False, True], ids=["before", "torn"])
@pytest.mark.parametrize("first", range(APPENDS))
def test_killed_at_every_append_of_twenty_turns(sandbox: Sandbox, first: int, torn: bool) -> None:
    killed_at_appends(killed.begun(sandbox), TURNS, first, torn=torn)


def test_killed_at_two_appends(sandbox: Sandbox) -> None:
    killed_at_appends(killed.begun(sandbox), 2, 1, torn=True)
