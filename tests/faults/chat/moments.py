"""When somebody is killed in a trial: drawn from a seed, so that each can be had again."""

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from siding.chat.store import Chat

VICTIMS = ("host", "agent", "viewer")
LOOK_S = 0.004
# Of the host: before, in the middle of, and behind each thing that it does (`host.py`).
MOST_DOINGS = 140
MOST_OF_NEXT = 40  # what the host does that finds out what became of all
# What of the story a kill comes after, and how often: what was just sent, or just answered, may be
# half of it in the agent's record.
_MARKS = {
    ("sending", "a"): 4,
    ("sending", "b"): 3,
    ("sending", "s"): 3,
    ("prompt-taken", "a"): 1,
    ("put", ""): 1,
    ("answered", ""): 4,
    ("turn-ended", ""): 2,
    ("opened", ""): 1,
}


class Moment(NamedTuple):
    """One kill."""

    victim: str
    mark: str = ""  # the event of the story from which it is counted; "" is the first prompt
    prompt: str = ""  # of which prompt it is: a is asked about, b waits, s goes into a's turn
    after_s: float = 0.0
    doing: int = 0  # the n-th thing that the host does, in place of all that
    is_anew: bool = True  # the agent is started in it
    steers_first: bool = False  # before the answer, not behind it
    again: int = 0  # the n-th thing that the next host does: it is killed, too

    def __str__(self) -> str:
        again = f", the next host at its {self.again}." if self.again else ""
        if self.doing:
            return f"host at its {self.doing}.{again}"
        since = " ".join(filter(None, (self.mark, self.prompt))) or "the first prompt"
        started = ", started in it" if self.is_anew else ""
        return f"{self.victim} {self.after_s * 1000:.0f} ms after {since}{started}{again}"


def drawn(seed: int, name: str, number: int, *, span_s: float, steers: bool) -> Moment:
    """Return the moment with this number. `span_s` is how long a trial takes, about."""
    dice = random.Random(f"{seed} {name} {number}")
    steers_first = dice.random() < 0.5
    way = dice.random()
    if way < 0.12:
        moment = Moment("host", doing=dice.randint(1, MOST_DOINGS), steers_first=steers_first)
    else:
        victim = dice.choices(VICTIMS, (4, 4, 1))[0]
        is_anew = dice.random() < 0.15
        mark, prompt = "", ""
        after_s = dice.uniform(0.0, span_s)
        if way < 0.65:
            marks = {each: often for each, often in _MARKS.items() if each[1] != "s" or steers}
            mark, prompt = dice.choices([*marks], [*marks.values()])[0]
            is_anew |= mark == "opened"
            after_s = min(dice.expovariate(1 / 0.08), 0.8)
        moment = Moment(victim, mark, prompt, after_s, is_anew=is_anew, steers_first=steers_first)
    is_again = moment.victim != "viewer" and dice.random() < 0.15
    return moment._replace(again=dice.randint(1, MOST_OF_NEXT)) if is_again else moment


class Killer(threading.Thread):
    """Waits for a moment, and kills. `what` is who was killed, "" if nobody was."""

    def __init__(
        self, chat: Chat, moment: Moment, prompts: Mapping[str, str], kill: Callable[[], bool]
    ) -> None:
        super().__init__(daemon=True)
        self._chat, self._moment, self._kill = chat, moment, kill
        self._prompt = prompts.get(moment.prompt, "")
        self._begun = time.monotonic()
        self._at = chat.story.stat().st_size
        self._nothing_left = threading.Event()
        self.what = ""

    @property
    def is_over(self) -> bool:
        return not self.is_alive()

    def nothing_is_left(self) -> None:
        """Have it kill now, or not at all if what it waits for has not come."""
        self._nothing_left.set()

    def run(self) -> None:
        if self._moment.doing or not self._moment.victim:
            return
        if self._moment.mark:
            while not self._has_come():
                if self._nothing_left.wait(LOOK_S):
                    return
            self._begun = time.monotonic()
        self._nothing_left.wait(max(0.0, self._begun + self._moment.after_s - time.monotonic()))
        while not self._kill():  # it is being started
            if self._nothing_left.wait(LOOK_S):
                return
        self.what = self._moment.victim

    def _has_come(self) -> bool:
        if self._chat.story.stat().st_size == self._at:
            return False
        with self._chat.story.open("rb") as story:
            story.seek(self._at)
            new = story.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._at += len(whole)
        return any(self._is_it(line) for line in whole.splitlines())

    def _is_it(self, line: bytes) -> bool:
        said: dict[str, Any] = {}
        with suppress(ValueError):
            said = json.loads(line)
        is_of = not self._prompt or said.get("prompt") == self._prompt
        return said.get("event") == self._moment.mark and is_of
