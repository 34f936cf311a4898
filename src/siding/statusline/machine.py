"""When the status line is made anew, and what of it is shown. No clock, no process.

Three things ask for a new line: an event (the conversation, the task or the place has changed),
other settings, and a tick of the time that the settings name. All go through one delay, so that
ten events make one line. A line that is being made is ended by an event, for it shows what is no
longer so. It is not ended twice in a row, else a slow command under many events would never come
to its end. A tick waits for it.
"""

from collections.abc import Sequence
from enum import StrEnum

from siding.ground.namedtuples import NamedTuple

DELAY_S = 0.3
MOST_DELAY_S = 1.5  # events without a pause hold a line back no longer than this


class Phase(StrEnum):
    """What the command is doing."""

    IDLE = "idle"
    RUNNING = "running"
    ENDING = "ending"  # it is being ended, and another run begins when that is done


# -- What happens ----------------------------------------------------------------------------------


class Set(NamedTuple):
    """These settings count from now on. `key` is the same as long as the command is the same."""

    key: str
    refresh_s: float = 0.0  # 0: no ticks


class Happened(NamedTuple):
    """Something has changed that the line may show."""


class Woken(NamedTuple):
    """The time has come that `Machine.wake_at` names, or a later one."""


class Made(NamedTuple):
    """A run has come to its end with this text; "" clears the line."""

    run: int
    text: str


class Failed(NamedTuple):
    """A run has no text: the command failed, or took too long."""

    run: int
    why: str


class Gone(NamedTuple):
    """A run has ended because it was to end."""

    run: int


Event = Set | Happened | Woken | Made | Failed | Gone


# -- What is to be done ----------------------------------------------------------------------------


class Start(NamedTuple):
    """Begin this run."""

    run: int


class End(NamedTuple):
    """End this run; `Gone` follows, or what it had come to before."""

    run: int


class Show(NamedTuple):
    """Show this text."""

    text: str


class Say(NamedTuple):
    """Tell the person, once, that there is no new line, and why."""

    why: str


Act = Start | End | Show | Say


class Machine(NamedTuple):
    """Where the line stands. Times are seconds of any clock that does not go back."""

    key: str = ""
    refresh_s: float = 0.0
    phase: Phase = Phase.IDLE
    run: int = 0  # the number of the newest run
    is_spared: bool = False  # it took the place of a run that was ended: events wait for its end
    is_wanted: bool = False  # another run begins when this one has ended
    asked_at: float | None = None  # the first event since a run began
    due_at: float | None = None  # the end of the delay
    tick_at: float | None = None
    text: str = ""
    has_failed: bool = False  # the newest run that was not ended had no text

    @property
    def wake_at(self) -> float | None:
        """When `Woken` is due."""
        return min((each for each in (self.due_at, self.tick_at) if each is not None), default=None)


class Step(NamedTuple):
    """What an event makes of a machine, and what is to be done, in this order."""

    machine: Machine
    acts: Sequence[Act] = ()


def after(machine: Machine, event: Event, now: float) -> Step:
    """Return the machine after an event, and what is to be done."""
    match event:
        case Set():
            return _set(machine, event, now)
        case Happened():
            return Step(_asked(machine, now))
        case Woken():
            return _woken(machine, now)
        case Made() | Failed() | Gone():
            if event.run != machine.run or machine.phase is Phase.IDLE:
                return Step(machine)
            return _ended(machine, event, now)


def _set(machine: Machine, event: Set, now: float) -> Step:
    """Take settings. Another command is run at once: nobody types in a file so fast."""
    refresh_s = max(0.0, event.refresh_s)
    tick_at = now + refresh_s if refresh_s else None
    if event.key == machine.key and machine.run:
        if refresh_s == machine.refresh_s:
            return Step(machine)
        return Step(machine._replace(refresh_s=refresh_s, tick_at=tick_at))
    shown = [Show("")] if machine.text else []
    machine = machine._replace(
        key=event.key, refresh_s=refresh_s, tick_at=tick_at, text="", has_failed=False
    )
    step = _begun(machine._replace(is_spared=False))
    return Step(step.machine, (*shown, *step.acts))


def _asked(machine: Machine, now: float) -> Machine:
    first = now if machine.asked_at is None else machine.asked_at
    return machine._replace(asked_at=first, due_at=min(now + DELAY_S, first + MOST_DELAY_S))


def _woken(machine: Machine, now: float) -> Step:
    if machine.tick_at is not None and now >= machine.tick_at:
        machine = machine._replace(tick_at=now + machine.refresh_s)
        if machine.phase is not Phase.IDLE:
            machine = machine._replace(is_wanted=True)
        elif machine.due_at is None:
            machine = machine._replace(due_at=now + DELAY_S)
    if machine.due_at is None or now < machine.due_at:
        return Step(machine)
    return _begun(machine)


def _begun(machine: Machine) -> Step:
    """Begin a run now, or as soon as the one that goes on has ended."""
    machine = machine._replace(due_at=None, asked_at=None)
    if machine.phase is Phase.IDLE:
        run = machine.run + 1
        return Step(machine._replace(run=run, phase=Phase.RUNNING, is_wanted=False), (Start(run),))
    machine = machine._replace(is_wanted=True)
    if machine.phase is Phase.ENDING or machine.is_spared:
        return Step(machine)
    return Step(machine._replace(phase=Phase.ENDING), (End(machine.run),))


def _ended(machine: Machine, event: Made | Failed | Gone, now: float) -> Step:
    was_ended = isinstance(event, Gone)
    is_stale = machine.phase is Phase.ENDING  # it was to end, and has come to its end before
    acts: list[Act] = []
    machine = machine._replace(phase=Phase.IDLE)
    if isinstance(event, Made) and not is_stale:
        if event.text != machine.text:
            acts.append(Show(event.text))
        machine = machine._replace(text=event.text, has_failed=False)
    elif isinstance(event, Failed) and not is_stale:
        if not machine.has_failed:
            acts.append(Say(event.why))
        machine = machine._replace(has_failed=True)
    machine = machine._replace(is_spared=False)
    if machine.is_wanted:
        step = _begun(machine)
        machine = step.machine._replace(is_spared=was_ended or is_stale)
        acts += step.acts
    if machine.refresh_s and machine.tick_at is not None and machine.tick_at < now:
        machine = machine._replace(tick_at=now + machine.refresh_s)
    return Step(machine, acts)
