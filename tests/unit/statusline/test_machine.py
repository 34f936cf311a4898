"""When a line is made, ended and shown: laws over any order of events."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from siding.statusline.machine import (
    DELAY_S,
    MOST_DELAY_S,
    Act,
    End,
    Failed,
    Gone,
    Happened,
    Machine,
    Made,
    Phase,
    Say,
    Set,
    Show,
    Start,
    Woken,
    after,
)


class World:
    """A machine with its clock, and the command that it thinks it runs."""

    def __init__(self, refresh_s: float = 0.0, takes_s: float = 0.1) -> None:
        self.machine = Machine()
        self.now = 0.0
        self.takes_s = takes_s
        self.ends_at: float | None = None
        self.running: int | None = None
        self.acts: list[tuple[float, Act]] = []
        self.shown = ""
        self.give(Set("a", refresh_s))

    def give(self, event: Happened | Woken | Set | Made | Failed | Gone) -> None:
        self.machine, acts = after(self.machine, event, self.now)
        for act in acts:
            self.acts.append((self.now, act))
            match act:
                case Start(run):
                    assert self.running is None, "two at a time"
                    self.running, self.ends_at = run, self.now + self.takes_s
                case End(run):
                    assert self.running == run
                    self.ends_at = self.now + 0.02
                case Show(text):
                    self.shown = text

    def end(self) -> None:
        """The command ends: by itself, or because it was to end."""
        assert self.running is not None
        run, self.running, self.ends_at = self.running, None, None
        is_ending = self.machine.phase is Phase.ENDING
        self.give(Gone(run) if is_ending else Made(run, f"text {run}"))

    def pass_time(self, seconds: float) -> None:
        until = self.now + seconds
        while True:
            times = [each for each in (self.ends_at, self.machine.wake_at) if each is not None]
            if not times or min(times) > until:
                break
            self.now = max(self.now, min(times))
            if self.ends_at is not None and self.now >= self.ends_at:
                self.end()
            if self.machine.wake_at is not None and self.now >= self.machine.wake_at:
                self.give(Woken())
        self.now = until

    def starts(self) -> list[float]:
        return [at for at, act in self.acts if isinstance(act, Start)]

    def ends(self) -> list[float]:
        return [at for at, act in self.acts if isinstance(act, End)]


def test_the_first_line_is_made_at_once() -> None:
    world = World()
    assert world.starts() == [0.0]
    world.pass_time(1)
    assert world.shown == "text 1"


def test_ten_events_make_one_line() -> None:
    world = World()
    world.pass_time(1)
    for _ in range(10):
        world.give(Happened())
        world.pass_time(0.05)
    world.pass_time(1)
    assert len(world.starts()) == 2
    assert world.starts()[1] >= 1 + DELAY_S


def test_events_without_a_pause_do_not_hold_the_line_back_for_ever() -> None:
    world = World()
    for _ in range(100):
        world.give(Happened())
        world.pass_time(0.1)
    gaps = [b - a for a, b in pairwise(world.starts())]
    assert max(gaps) <= MOST_DELAY_S + 0.2


def test_an_event_ends_a_command_that_runs_and_the_next_one_is_spared() -> None:
    world = World(takes_s=2.0)
    for _ in range(60):
        world.give(Happened())
        world.pass_time(0.5)
    assert world.ends()
    # Between two that were ended there is one that came to its end.
    runs = [act for _at, act in world.acts if isinstance(act, End)]
    assert all(b.run - a.run >= 2 for a, b in pairwise(runs))
    assert world.shown


def test_a_tick_waits_for_the_command() -> None:
    world = World(refresh_s=1.0, takes_s=2.5)
    world.pass_time(20)
    assert world.ends() == []
    assert len(world.starts()) >= 6  # one after the other, without a pause
    shown = [act.text for _at, act in world.acts if isinstance(act, Show)]
    assert shown == [f"text {number}" for number in range(1, len(shown) + 1)]
    assert len(shown) >= 6


def test_without_a_time_in_the_settings_nothing_wakes() -> None:
    world = World()
    world.pass_time(5)
    assert world.machine.wake_at is None
    assert world.starts() == [0.0]


def test_the_last_good_text_stays_and_a_failure_is_said_once() -> None:
    world = World()
    world.pass_time(1)
    for _ in range(3):
        world.give(Happened())
        world.now += DELAY_S
        world.give(Woken())
        run, world.running, world.ends_at = world.running, None, None
        assert run is not None
        world.give(Failed(run, "exit 3"))
    assert world.shown == "text 1"
    assert [act.why for _at, act in world.acts if isinstance(act, Say)] == ["exit 3"]
    world.give(Happened())
    world.pass_time(1)
    assert world.shown == "text 5"


def test_another_command_takes_the_text_of_the_one_before_away() -> None:
    world = World()
    world.pass_time(1)
    world.give(Set("b"))
    assert world.shown == ""
    assert world.running == 2
    world.give(Set("b"))
    assert world.running == 2
    world.pass_time(1)
    assert world.shown == "text 2"


def test_what_an_ended_command_had_printed_is_not_shown() -> None:
    world = World(takes_s=3.0)
    world.give(Set("b"))
    assert world.machine.phase is Phase.ENDING
    run = world.running
    assert run == 1
    world.running, world.ends_at = None, None
    world.give(Made(run, "of the one before"))
    assert world.shown == ""
    assert world.running == 2


_EVENTS = st.one_of(
    st.tuples(st.just("wait"), st.floats(0.05, 3.0)),
    st.tuples(st.just("event"), st.just(0.0)),
    st.tuples(st.just("set"), st.sampled_from([0.0, 1.0, 2.0])),
    st.tuples(st.just("fail"), st.just(0.0)),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_EVENTS, max_size=40), st.floats(0.05, 4.0))
def test_laws(script: Sequence[tuple[str, float]], takes_s: float) -> None:
    """One command at a time; after the last event a line is begun; only good texts are shown."""
    world = World(takes_s=takes_s)
    last_event, failed = -1.0, set[int]()
    for number, (what, value) in enumerate(script):
        match what:
            case "wait":
                world.pass_time(value)
            case "event":
                last_event = world.now
                world.give(Happened())
            case "set":
                world.give(Set(f"c{number // 7}", value))
            case "fail":
                if world.running is not None and world.machine.phase is Phase.RUNNING:
                    run, world.running, world.ends_at = world.running, None, None
                    before = world.shown
                    failed.add(run)
                    world.give(Failed(run, "it fails"))
                    assert world.shown in (before, "")
    world.pass_time(30)
    assert world.starts()[-1] >= last_event
    if world.machine.phase is Phase.IDLE and world.machine.run not in failed:
        assert world.shown == f"text {world.machine.run}"
