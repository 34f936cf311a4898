"""Any program that answers lines: a line in, and what it prints until it is quiet.

Nothing of it is known, so little can be promised. That a turn has ended is a guess: it has printed
something, and then nothing for a while. Nobody can tell whether it has a prompt (`Evidence.NONE`);
it has no way to be steered, asked or set; it is stopped by SIGINT; and what it was told ends with
its process. What it prints is its answer, its own prompt (``> ``) and its errors among it; of one
that does not end, only so much is kept.

A prompt of several lines is sent as it is, and such a program may answer each of them.
"""

import codecs
import os
from collections.abc import Mapping, Sequence

from siding.agents.talking.abilities import Abilities
from siding.agents.talking.port import (
    TALKING,
    Answer,
    Event,
    Hold,
    How,
    Meaning,
    Opened,
    Opening,
    Parts,
    PromptTaken,
    Proof,
    Sent,
    Talking,
    Text,
    Trouble,
    Troubled,
    TurnEnded,
    TurnStarted,
)

ABILITIES = Abilities(stops=False, remembers=False, takes_news=False)
PREFIX = "lines:"  # before the program's name, where agents have theirs
MOST_KEPT = 1 << 20  # characters of an answer
_TOO_LONG = (
    f"it has printed more than {MOST_KEPT:,} characters: what follows is not kept. "
    "`siding chat stop` interrupts it"
)
QUIET_S = 2.0  # after it has printed something
PATIENCE_S = 120.0  # for the first word of an answer
_NOTHING = "it has said nothing"


_NO_MODES: Mapping[str, Meaning] = {}


class LineTalker:
    """One program. `quiet_s` is for how long it says nothing when it has done."""

    def __init__(self, quiet_s: float = QUIET_S, patience_s: float = PATIENCE_S) -> None:
        self.abilities = ABILITIES
        self.session = ""
        self._pause_s, self._patience_s = quiet_s, patience_s
        self._out: list[bytes] = []
        self._late: list[Event] = []  # to be returned with the next ones
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._is_open = False
        self._prompt = ""  # of the turn that runs
        self._is_taken = False  # it has printed something since
        self._is_stopped = False
        self._kept = 0  # characters of the answer
        self._left: list[str] = []

    @property
    def quiet_s(self) -> float | None:
        if not self._is_open or self._is_taken or (self._prompt and self._is_stopped):
            return self._pause_s
        return self._patience_s if self._prompt else None

    def to_send(self) -> bytes:
        data = b"".join(self._out)
        self._out.clear()
        return data

    def receive(self, data: bytes) -> list[Event]:
        found = self._said_late()
        if data and self._prompt and not self._is_taken:
            self._is_taken = True
            found.append(PromptTaken(prompt=self._prompt))
        said = self._decoder.decode(data)
        return [*found, *self._said(said)] if said else found

    def _said(self, said: str) -> list[Event]:
        room = MOST_KEPT - self._kept
        self._kept += len(said)
        if room < 0:
            return []
        found: list[Event] = [Text(text=said[:room])] if room else []
        return found if len(said) <= room else [*found, Troubled(Trouble.OTHER, _TOO_LONG)]

    def quiet(self) -> list[Event]:
        found = self._said_late()
        if not self._is_open:
            self._is_open = True
            return [*found, Opened(session="")]
        if not self._prompt:
            return found
        how = How.STOPPED if self._is_stopped else How.DONE
        reason = "" if self._is_taken or self._is_stopped else _NOTHING
        end = TurnEnded(how=how, reason=reason, left=tuple(self._left))
        self._prompt, self._is_taken, self._is_stopped = "", False, False
        self._left.clear()
        return [*found, end]

    def prompt(self, prompt_id: str, parts: Parts) -> None:
        """Send the texts, and the paths of pictures that have one."""
        words = [part if isinstance(part, str) else part.path for part in parts]
        said = "\n".join(each for each in words if each)
        self._out.append(said.encode(errors="replace") + b"\n")
        self._prompt, self._is_taken, self._is_stopped = prompt_id, False, False
        self._kept = 0
        self._late.append(TurnStarted(prompt=prompt_id))

    def steer(self, prompt_id: str, _parts: Parts, /) -> None:
        """Hand it back as the turn ends."""
        self._left.append(prompt_id)

    def stop(self) -> None:
        self._is_stopped = bool(self._prompt)

    def answer(self, ask: str, answer: Answer) -> None:
        """Nothing: it asks nothing that is known to be a question."""

    def set(self, *, model: str = "", mode: str = "", effort: str = "") -> None:
        for name, value in (("model", model), ("mode", mode), ("effort", effort)):
            if value:
                self._cannot(f"be given the {name} {value!r}")

    def compact(self) -> None:
        self._cannot("be told to sum up what was said")

    def _cannot(self, what: str) -> None:
        message = f"A program that is held by lines cannot {what}."
        self._late.append(Troubled(trouble=Trouble.OTHER, message=message))

    def _said_late(self) -> list[Event]:
        found = [*self._late]
        self._late.clear()
        return found


class AnyProgram:
    """A program of which nothing is known."""

    abilities = ABILITIES
    means = _NO_MODES
    settles_s = 0.0

    def opened(self, hold: Hold) -> Opening:
        why_not = "a program that is held by lines cannot go on with an earlier conversation"
        return Opening(
            argv=(*hold.program, *hold.options),
            talker=LineTalker(),
            why_not=why_not if hold.session else "",
            hears_errors=True,
        )

    def proof(self, _sent: Sent, _hold: Hold) -> Proof:
        return Proof.UNSURE

    def own_screen(self, _hold: Hold) -> tuple[str, ...]:
        return ()


ANY_PROGRAM: Talking = AnyProgram()


def name_of_program(program: str) -> str:
    """Return what a conversation with a program calls its agent: ``lines:bc``."""
    return PREFIX + os.path.basename(program)


def line_program(
    agent: str, words: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return program and options of one that is held by lines; None of any other agent."""
    return (tuple(words), ()) if agent.startswith(PREFIX) else None


def agent_of_run(agent: str) -> str:
    """Return which agent a run has; "" for a program of which nothing is known."""
    return "" if agent.startswith(PREFIX) else agent


def talking_of(agent: str) -> Talking | None:
    """Return how the agent of a conversation is held; None if nobody has said it."""
    return ANY_PROGRAM if agent.startswith(PREFIX) else TALKING.of(agent)
