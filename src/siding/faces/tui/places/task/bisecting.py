"""A bisection from the screen: it works in a thread, and asks what a person sees."""

from collections.abc import Callable
from queue import Queue

from siding.bisect.bisect import Answer, Bisection, BisectRequest, bisection
from siding.bisect.search import Verdict, most_looks
from siding.bisect.states import State, range_of
from siding.bisect.stopper import SearchStopped, Stopper
from siding.bisect.store import Look, read_search
from siding.faces.tui.places.task.reading import Opened
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.styles import TEXT
from siding.faces.tui.text import inert
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple

Tell = Callable[[list[Pieces], bool], None]  # the lines so far; whether a person is asked
_STYLES = {Verdict.HOLDS: "good", Verdict.FAILS: "bad", Verdict.SKIPPED: "warn"}


class Found(NamedTuple):
    """What a search came to, in lines. `step` is the one that broke it, `turn` that of its prompt.

    `holds` is the newest state in which it held: a step, or "base".
    """

    lines: list[Pieces]
    step: str = ""
    turn: str = ""
    holds: str = ""


class Bisecting:
    """One search. `say` takes what a person sees; `stop` ends it, also in the middle of a check."""

    def __init__(self, opened: Opened, check: str, wanted: str, tell: Tell) -> None:
        self._opened = opened
        self._check = check
        self._wanted = wanted
        self._tell = tell
        self._answers: Queue[Verdict | None] = Queue()
        self._stopper = Stopper()
        self._lines: list[Pieces] = []

    @property
    def is_stopped(self) -> bool:
        return self._stopper.is_stopped

    def say(self, verdict: Verdict) -> None:
        """Take what a person sees in the state that is shown."""
        self._answers.put(verdict)

    def stop(self) -> None:
        """End the search and everything that its check has started, at once.

        What is known is kept, and the same search goes on from there.
        """
        self._stopper.stop()
        self._answers.put(None)

    def run(self) -> Found:
        """Search until there is an answer. In a thread. Raises SearchStopped and SidingError."""
        project, task = self._opened
        request = BisectRequest(check=self._check, task=task.id, wanted=range_of(self._wanted))
        with bisection(project, request) as found:
            self._begin(found)
            while not self.is_stopped and (at := found.next()) is not None:
                self._say_look(found, self._look(found, at))
            if self.is_stopped:
                raise SearchStopped("the search was ended")
            return _found(found.end())

    def _begin(self, found: Bisection) -> None:
        search = found.search
        what = inert(self._check) or "by eye"
        states = f"{len(search.states)} states, {search.states[0].step} to {search.states[-1].step}"
        most = counted(most_looks(len(search.states), search.verdicts), "look")
        self._lines = [
            [("Bisect: ", "heading"), (what, TEXT)],
            [(f"{states}, at most {most}", "dim")],
        ]
        if search.looks:
            known = counted(len(search.looks), "look")
            self._lines.append([(f"goes on after {known}", "dim")])
        self._tell(self._lines, False)

    def _look(self, found: Bisection, at: int) -> Look:
        state = found.search.states[at]
        if self._check:
            runs = (f"{_name(state)}: checking", "runs")
            self._tell([*self._lines, [runs, ("   escape ends it", "dim")]], False)
            return found.check(at, None, self._stopper)
        with found.opened(at) as fork:
            where: list[Pieces] = [
                [(f"{_name(state)} is in ", TEXT), (inert(str(fork.path)), "bold")],
                [("does it hold there?  y yes   n no   s cannot be said   escape ends it", "bold")],
            ]
            self._tell([*self._lines, *where], True)
            verdict = self._answers.get()
        if verdict is None:
            raise SearchStopped("the search was ended")
        return found.keep(Look(at, verdict, fork=fork.id))

    def _say_look(self, found: Bisection, look: Look) -> None:
        name = _name(found.search.states[look.at])
        why = f": {inert(look.why)}" if look.why else ""
        self._lines.append(
            [(f"{name}: ", TEXT), (f"{look.verdict.value}{why}", _STYLES[look.verdict])]
        )
        self._tell(self._lines, False)


def unfinished(opened: Opened) -> str:
    """Return the check of the search that was cut off in this task; "" if there is none."""
    search = read_search(opened.project.task_layout(opened.task.id).bisect_json)
    return "" if search is None or search.ended else search.check


def _name(state: State) -> str:
    return "the base" if state.step == "base" else f"after step {state.step}"


def _found(answer: Answer) -> Found:
    holds, fails, cause = answer
    if cause is not None and holds is not None:
        title = inert((cause.prompt or cause.step.title).partition("\n")[0])
        who = f" ({inert(cause.agent)})" if cause.agent else ""
        lines: list[Pieces] = [
            [(f"step {cause.step.id} broke it", "bad")],
            [
                (f"{'prompt' if cause.prompt else cause.step.kind_shown}{who}: ", "dim"),
                (title, TEXT),
            ],
        ]
        return Found(lines, str(cause.step.number), cause.turn, holds.step)
    if fails is None:
        where = f"it holds {_name(holds)}" if holds is not None else "none could be judged"
        return Found([[(f"{where}: nothing broke it there", "good")]])
    if holds is None:
        return Found([[(f"it fails in {_name(fails)} already, so none of these broke it", "warn")]])
    between = f"{_name(holds)} it holds, {_name(fails)} it fails"
    return Found([[(f"{between}; what lies between could not be judged", "warn")]])
