"""A program of which nothing is known, held by lines: a real one, on pipes."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.talking.driver import Driven
from siding.agents.talking.any_program import ANY_PROGRAM, LineTalker
from siding.agents.talking.port import Hold, How, Opened, PromptTaken, Text, TurnEnded, TurnStarted

# It answers in two pieces, waits for a while when it is told to, and goes on after an interrupt.
PROGRAM = """
import time
print("Hello, I repeat.", flush=True)
while True:
    try:
        line = input("> ")
        if line == "wait":
            time.sleep(600)
        print(line.upper(), flush=True)
        time.sleep(0.05)
        print("so it is", flush=True)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    except EOFError:
        break
"""


@pytest.fixture
def driven(tmp_path: Path) -> Iterator[Driven]:
    program = tmp_path / "repeats.py"
    program.write_text(PROGRAM)
    words = (sys.executable, str(program))
    hold = Hold(program=words, cwd=tmp_path, directory=str(tmp_path / "files"))
    opening = ANY_PROGRAM.opened(hold)
    found = Driven(opening._replace(talker=LineTalker(quiet_s=1)), hold, {})
    yield found
    found.close()


def test_its_answers_are_what_it_prints_until_it_is_quiet(driven: Driven) -> None:
    driven.until(Opened)
    for word in ("wällfisch", "again"):
        prompt = driven.prompt(word)
        events = driven.turn()
        assert events[:2] == [TurnStarted(prompt), PromptTaken(prompt)]
        said = "".join(each.text for each in events if isinstance(each, Text))
        assert said == f"{word.upper()}\nso it is\n> "
        assert events[-1] == TurnEnded(How.DONE)


def test_it_is_stopped_by_a_signal(driven: Driven) -> None:
    driven.until(Opened)
    driven.prompt("wait")
    driven.until(TurnStarted)
    assert not driven.talker.abilities.stops
    driven.pump(0.5)  # it has read the line
    driven.talker.stop()
    driven.process.send_signal(signal.SIGINT)
    events = driven.turn()
    assert Text("stopped\n> ") in events or Text("stopped\n") in events
    assert events[-1] == TurnEnded(How.STOPPED)
    assert driven.process.poll() is None
