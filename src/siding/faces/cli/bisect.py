"""Find the step, or the prompt, after which something does not hold any more.

COMMAND is a line for `/bin/sh`. It runs in forks of recorded states, halving what is left each
time: 0 says that it holds, 125 that this state cannot be judged, anything else that it fails. The
workspace is not touched. Ignored files are not in a fork; $SIDING_ORIGIN is the task's workspace,
where they are. Without --check you say yourself what you see, in a directory that is shown.

The answer is the step with its prompt, and its patch on standard output. Cut off, the same command
goes on from what is known. The exit status is 0 if one step is the answer, else 1.

  siding bisect --check 'pytest -q'           from the base to now
  siding bisect --check 'make test' 12..40    it held after step 12
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.colours import coloured_patch
from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.faces.cli.screen.words import (
    ago,
    changes_of,
    duration,
    seconds_in,
    task_name,
)
from siding.ground.errors import UsageError, counted

if TYPE_CHECKING:
    from siding.bisect.bisect import Answer, Bisection, BisectRequest
    from siding.bisect.states import State
    from siding.bisect.store import Look
    from siding.record.place.project import Project

_TITLE = 60
_SHOWN = 200  # lines of the patch at a terminal
_NOT_FOUND = (126, 127)  # how a shell says that it cannot run a program


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "range", nargs="?", default="", metavar="A..B", help="between these steps (default: all)"
    )
    parser.add_argument("--check", default="", metavar="COMMAND", help="what has to hold")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument(
        "--timeout", metavar="TIME", help="a check that takes longer fails: 90, 90s, 5m, 1h30m"
    )
    parser.add_argument("--anew", action="store_true", help="forget what an earlier one found")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def _seconds(text: str | None) -> float | None:
    found = None if text is None else seconds_in(text)
    if text is not None and found is None:
        raise UsageError(f"--timeout {text!r} is not a time", hint="90, 90s, 5m or 1h30m")
    return found


def run(arguments: Namespace, context: Context) -> int:
    from siding.bisect.bisect import BisectRequest, bisection, require_check
    from siding.bisect.states import range_of
    from siding.faces.cli.screen.questions import can_ask
    from siding.record.place.project import require_project

    project = require_project(context.app)
    screen = context.screen
    screen.use_colour(project.settings.color)
    request = BisectRequest(
        check=arguments.check,
        task=arguments.task,
        wanted=range_of(arguments.range),
        timeout_s=_seconds(arguments.timeout),
        anew=arguments.anew,
    )
    require_check(request, somebody_there=can_ask() and not arguments.json)
    with bisection(project, request) as found:
        _say_begin(screen, found)
        while (at := found.next()) is not None:
            _say_look(screen, found, _look(screen, found, at, request))
        answer = found.end()
        if arguments.json:
            print_json(screen, _record(project, found, answer))
        else:
            _say_answer(screen, project, found, answer)
    return 0 if answer.cause is not None else 1


def _say_begin(screen: Screen, found: Bisection) -> None:
    from siding.bisect.search import most_looks

    search = found.search
    states = f"{len(search.states)} states, {search.states[0].step} to {search.states[-1].step}"
    most = counted(most_looks(len(search.states), search.verdicts), "look")
    screen.note(f"{task_name(found.task.name)} · {states} · at most {most}")
    if search.looks:
        screen.note(f"  goes on after {counted(len(search.looks), 'look')}; --anew begins again")


def _look(screen: Screen, found: Bisection, at: int, request: BisectRequest) -> Look:
    from siding.faces.cli.telling.runs import asker

    if request.check:
        return found.check(at, asker(screen))
    return _by_eye(screen, found, at)


def _by_eye(screen: Screen, found: Bisection, at: int) -> Look:
    """Show somebody a state, and return what they say of it."""
    from siding.bisect.bisect import CheckNotRun
    from siding.bisect.search import Verdict
    from siding.bisect.store import Look
    from siding.faces.cli.screen.questions import one_of

    with found.opened(at) as fork:
        state = found.search.states[at]
        name = "the base" if state.step == "base" else f"the state {_state_name(state)}"
        screen.note(f"  {name} is in {inert(str(fork.path))}")
        answers = {"y": "yes", "n": "no", "s": "cannot be said", "q": "quit"}
        said = one_of("does it hold there", answers)
    if said == "q":
        raise CheckNotRun("no answer yet", hint="the same command goes on from here")
    verdicts = {"y": Verdict.HOLDS, "n": Verdict.FAILS, "s": Verdict.SKIPPED}
    return found.keep(Look(at, verdicts[said], fork=fork.id))


def _say_look(screen: Screen, found: Bisection, look: Look) -> None:
    name = _state_name(found.search.states[look.at])
    colour = {"holds": "green", "fails": "red"}.get(look.verdict.value, "yellow")
    took = f" · {duration(look.duration_ms)}" if look.exit_code is not None else ""
    why = f": {inert(look.why)}" if look.why else ""
    screen.note(f"  {name} · {look.verdict.value}{why}{took}", colour)


def _state_name(state: State) -> str:
    return "in the base" if state.step == "base" else f"after step {state.step}"


def _say_answer(screen: Screen, project: Project, found: Bisection, answer: Answer) -> None:
    holds, fails, cause = answer
    if fails is None:
        _say_holds(screen, found, holds)
    elif holds is None:
        _say_fails_at_once(screen, found, fails)
    elif cause is None:
        between = f"{_state_name(holds)} it holds, {_state_name(fails)} it fails"
        screen.note(f"{between}; what lies between could not be judged", "yellow")
        start, end = holds.step, fails.step
        screen.note(f"  siding diff --from {start} --to {end}")
    else:
        screen.note(f"step {cause.step.id} broke it", "bold")
        title = shorten(inert(cause.prompt or cause.step.title), _TITLE)
        kind = "prompt" if cause.prompt else cause.step.kind_shown
        who = f" · {inert(cause.agent)}" if cause.agent else ""
        screen.note(f"  {kind}{who} · {title}")
        screen.note(f"  {ago(cause.step.started_at)} · {changes_of(cause.step)}")
        look = next((each for each in found.search.looks if _is_of(found, each, fails)), None)
        if look is not None and look.step:
            screen.note(f"  what the check printed: siding show {look.step} -t {look.fork}")
        back = f"siding rewind {int(cause.turn)}" if cause.turn.isdecimal() else ""
        back = back or f"siding rollback --{_point(holds)}"
        screen.note(f"  back to before it: {back} · only its change: siding diff {cause.step.id}")
        _print_patch(screen, project, found, cause.step.id)


def _say_holds(screen: Screen, found: Bisection, newest: State | None) -> None:
    """It fails in none that could be judged."""
    if newest is None:
        screen.note("none of these states could be judged", "yellow")
    elif newest == found.search.states[-1]:
        screen.note(f"it holds {_state_name(newest)}: nothing broke it", "green")
    else:
        screen.note(f"it holds {_state_name(newest)}; none after it could be judged", "yellow")


def _point(state: State) -> str:
    return "base" if state.step == "base" else f"step {state.step}"


def _is_of(found: Bisection, look: Look, state: State) -> bool:
    return found.search.states[look.at] == state


def _say_fails_at_once(screen: Screen, found: Bisection, oldest: State) -> None:
    """It fails in the oldest state that could be judged."""
    screen.note(f"it fails {_state_name(oldest)} already, so no step of these broke it", "yellow")
    look = next((each for each in found.search.looks if _is_of(found, each, oldest)), None)
    if look is not None and look.exit_code in _NOT_FOUND:
        screen.note(
            f"  exit status {look.exit_code}: the check itself cannot be run there. Ignored files "
            "are not in a fork; they are in $SIDING_ORIGIN"
        )
    if look is not None and look.step:
        screen.note(f"  what it printed: siding show {look.step} -t {look.fork}")


def _print_patch(screen: Screen, project: Project, found: Bisection, step: str) -> None:
    from siding.ground.errors import SidingError
    from siding.record.recording.difference import difference

    try:
        with difference(project, found.task.id, at=step, start=None, end=None) as patch:
            if not sys.stdout.isatty() and not screen.colour:
                sys.stdout.flush()
                patch.write_patch(sys.stdout.fileno(), ())
                return
            for number, line in enumerate(patch.patch_lines(())):
                if number == _SHOWN:
                    screen.note(f"  … siding diff {step} shows all of it")
                    return
                screen.print(coloured_patch(screen, line))
    except SidingError as error:  # its patch was freed, say
        screen.warn(error.message)


def _record(project: Project, found: Bisection, answer: Answer) -> dict[str, object]:
    search, cause = found.search, answer.cause
    looks = [
        {**look._asdict(), "at": search.states[look.at].step, "verdict": look.verdict.value}
        for look in search.looks
    ]
    return {
        "task_id": found.task.id,
        "check": search.check,
        "first": search.states[0].step,
        "last": search.states[-1].step,
        "states": len(search.states),
        "holds": None if answer.holds is None else answer.holds.step,
        "fails": None if answer.fails is None else answer.fails.step,
        "step_id": None if cause is None else cause.step.id,
        "turn": cause.turn if cause is not None and cause.turn else None,
        "prompt": cause.prompt if cause is not None and cause.prompt else None,
        "agent": cause.agent or None if cause is not None else None,
        "looks": looks,
        "patch": None if cause is None else _patch_text(project, found, cause.step.id),
    }


def _patch_text(project: Project, found: Bisection, step: str) -> str | None:
    from siding.ground.errors import SidingError
    from siding.record.recording.difference import difference

    try:
        with difference(project, found.task.id, at=step, start=None, end=None) as patch:
            return "".join(patch.patch_lines(()))
    except SidingError:
        return None
