"""`siding agent` is killed at each line that it prints: nothing is lost, no tool runs twice."""

import pytest

import counted
from sandbox import Sandbox

from . import killed

TURNS = 20


def killed_in_each_turn(sandbox: Sandbox, turns: int, event: int, *, whole: bool) -> None:
    """Hold a conversation that is killed in each of its turns; check it after each."""
    before = b""
    for turn in range(1, turns + 1):
        printed = []
        with killed.Process(sandbox, *(["-c"] if turn > 1 else [])) as process:
            # In each turn at another event, so that all are met over the cases.
            for number, line in enumerate(process.say(turn), start=1):
                printed.append(line)
                if number == (event + turn) % killed.EVENTS + 1:
                    break
            process.kill(whole=whole)
        after = killed.stored(sandbox)
        assert after.startswith(before)
        killed.printed_is_stored(printed, after)
        before = after
        counted.add(1)
    with killed.Process(sandbox, "-c") as process:
        *_, result = process.say(turns + 1)
        assert result["result"] == f"Turn {turns + 1} is done."
        process.end()
    after = killed.stored(sandbox)
    assert after.startswith(before)
    killed.holds(sandbox, after, kills=turns)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("whole", [False, True], ids=["agent", "run"])
@pytest.mark.parametrize("event", range(killed.EVENTS))
def test_killed_at_every_event_of_twenty_turns(sandbox: Sandbox, event: int, whole: bool) -> None:
    killed_in_each_turn(killed.begun(sandbox), TURNS, event, whole=whole)


def test_killed_at_a_call_and_at_a_result(sandbox: Sandbox) -> None:
    killed_in_each_turn(killed.begun(sandbox), 2, 2, whole=False)
