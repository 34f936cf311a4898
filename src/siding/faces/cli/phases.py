"""The verbs `siding phase …`: where a task stands in its process."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from functools import partial
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_task_word
from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago, duration, local_time, task_name
from siding.faces.cli.verb import Verb
from siding.ground.errors import counted
from siding.ground.ids import run_or_step
from siding.record.phases.states import PhaseMove

if TYPE_CHECKING:
    from siding.broker.inside import Inside
    from siding.phases.moves import MovedPhase, PhaseRequest
    from siding.phases.phases import GateView, PhaseView


def _moving(move: PhaseMove, about: str, *, summary: str, phase: str = "") -> Verb:
    """Return the verb of a move. `summary` and `phase` are the help texts of its arguments."""
    return Verb(
        about,
        partial(_moving_options, move=move, summary=summary, phase=phase),
        partial(_move, wanted=move),
    )


def _moving_options(parser: ArgumentParser, *, move: PhaseMove, summary: str, phase: str) -> None:
    if phase:
        parser.add_argument("phase", metavar="PHASE", help=phase)
    parser.add_argument("summary", metavar="SUMMARY", help=summary)
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument("--json", action="store_true", help="print the move as JSON")
    if move is PhaseMove.START:
        parser.add_argument("--again", action="store_true", help="end the pass that is under way")


def _move(arguments: Namespace, context: Context, *, wanted: PhaseMove) -> int:
    from siding.broker.inside import broker_of
    from siding.phases.gates import GateClosed
    from siding.phases.moves import PhaseRequest, move, moved_as_record
    from siding.record.place.projects import project_for_people

    request = PhaseRequest(
        move=wanted,
        summary=arguments.summary,
        target=getattr(arguments, "phase", None),
        task=arguments.task,
        again=getattr(arguments, "again", False),
        wait=arguments.wait,
    )
    inside = broker_of(context.app) if arguments.task is None else None
    if inside is not None:
        return _move_inside(context.screen, inside, request, as_json=arguments.json)
    try:
        done = move(project_for_people(context.app, make=False), request)
    except GateClosed as closed:
        context.screen.quote(closed.output)
        raise
    _say_moved(context, done)
    if arguments.json:
        print_json(context.screen, moved_as_record(done))
    return 1 if done.kept_by else 0


def _say_moved(context: Context, done: MovedPhase) -> None:
    screen, entry = context.screen, done.entry
    for gate in entry.gates:
        how = duration(gate.duration_ms) if gate.exit_code is not None else gate.session_id
        screen.note(f"gate {inert(gate.text)!r} held · {how}", "green")
    word = "recorded in" if entry.action in (PhaseMove.ISSUE, PhaseMove.ERROR) else "phase"
    screen.note(
        f"{task_name(done.task.name)} · {word} {inert(entry.phase)}, step {entry.step} · "
        f"commit {entry.git_commit[:7]}",
        "green",
    )
    for commit in done.gone_back:
        screen.note(
            f"the branch no longer has commit {commit.sha[:10]} {inert(commit.subject)}: "
            "a rollback went back from it",
            "yellow",
        )
    if done.left_out:
        screen.warn(f"{counted(len(done.left_out), 'path')} not in the commit:")
        screen.quote("\n".join(done.left_out))
    if done.kept_by:
        screen.warn(
            f"the commit is made and the rest is not: {inert(done.kept_by)}\n"
            "  hint: once the cause is gone, the task's next command does the rest"
        )
    if not done.index_agrees:
        screen.warn("the workspace's index could not follow; `git reset` there makes it agree")


def _move_inside(screen: Screen, inside: Inside, request: PhaseRequest, *, as_json: bool) -> int:
    """Move the run's task through its phases."""
    from siding.broker.inside import Refused

    try:
        done = inside.ask(
            "phase",
            move=request.move.value,
            summary=request.summary,
            phase=request.target,
            again=request.again,
        )
    except Refused as refused:
        screen.quote(refused.output)
        raise
    name = task_name(inert(done["name"]))
    screen.note(f"{name} · phase {inert(done['phase'])}, step {done['step']}", "green")
    if done["left_out"]:
        screen.warn(f"{counted(len(done['left_out']), 'path')} not in the commit:")
        screen.quote("\n".join(done["left_out"]))
    if as_json:
        print_json(screen, {name: value for name, value in done.items() if name != "name"})
    return 0


START = _moving(
    PhaseMove.START,
    """Begin a pass of the task through its phases, in any of them, with a commit of what is there.

A pass that is not in its last phase goes on until --again ends it; its history is kept.
""",
    summary="what the task is",
    phase="the phase to begin in",
)


NEXT_STEP = _moving(
    PhaseMove.NEXT_STEP,
    "Go on by a step within the phase: the workspace is committed on the task's branch.",
    summary="what was done",
)


BACK_STEP = _moving(
    PhaseMove.BACK_STEP,
    "Record that a step has to be done again; files stay as they are (`siding rollback` goes "
    "back).",
    summary="why",
)


NEXT_PART = _moving(
    PhaseMove.NEXT_PART,
    """Go on to the phase that follows, once the gates of the present one hold.

A gate is a command that must exit 0 in the workspace, or a decision that must be answered. When
one does not hold, nothing is moved.
""",
    summary="what was done",
    phase="the phase that follows",
)


BACK_PART = _moving(
    PhaseMove.BACK_PART,
    "Go back to an earlier phase; files stay as they are (`siding rollback` goes back).",
    summary="why",
    phase="an earlier phase",
)


ISSUE = _moving(
    PhaseMove.ISSUE,
    "Record something to come back to, with a commit of what is there.",
    summary="what is to be looked at",
)


ERROR = _moving(
    PhaseMove.ERROR,
    "Record what went wrong, with a commit of what is there. Recording it is no failure: exit 0.",
    summary="what went wrong",
)


def _status_options(parser: ArgumentParser) -> None:
    add_task_word(parser)
    parser.add_argument("--json", action="store_true", help="print the pass as JSON")


def _status(arguments: Namespace, context: Context) -> int:
    from siding.phases.phases import as_record, status
    from siding.record.place.project import require_project

    found = status(require_project(context.app), arguments.task)
    if arguments.json:
        print_json(context.screen, None if found is None else as_record(found))
    elif found is None:
        context.screen.note("the task is in no phase; `siding phase start` begins one")
    else:
        print_head(context.screen, found)
        if found.history:
            last = found.history[-1]
            where = f" · commit {last.git_commit[:7]}" if last.git_commit else ""
            inside = f" · inside {inert(run_or_step(last.inside_step))}" if last.inside_step else ""
            context.screen.print(f"{last.action}: {inert(last.summary)}{where}{inside}")
            for gate in last.gates:
                context.screen.print(f"  {gate_line(gate)}")
    return 0


STATUS = Verb(
    """Show where the task stands: its phase and step, and what came last.""",
    _status_options,
    _status,
)


def gate_line(gate: GateView) -> str:
    """Return one line about a gate that held: its command's exit status, or how it was answered."""
    step = f", step {gate.step_id}" if gate.step_id else ""
    answered = f", answered by {gate.via}" if gate.via else ""
    how = f"exit {gate.exit_code}{step}" if gate.exit_code is not None else gate.session_id
    return f"gate {inert(gate.text)!r} held ({inert(how + answered)})"


def print_head(screen: Screen, found: PhaseView) -> None:
    """Print the pass's task, and the phases with the present one in brackets."""
    name = screen.style(inert(found.task_name), "bold")
    screen.print(f"{found.task_id} · {name} · since {ago(found.started_at)}")
    shown = [
        screen.style(f"[{inert(each)}]", "bold", "cyan") if each == found.phase else inert(each)
        for each in found.phases
    ]
    if found.phase not in found.phases:
        shown.append(f"[{inert(found.phase)}]")
    screen.print(f"{' > '.join(shown)} · step {found.step}")


def _list_options(parser: ArgumentParser) -> None:
    parser.add_argument("--current", action="store_true", help="only the present pass of each task")
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def _list(arguments: Namespace, context: Context) -> int:
    from siding.phases.phases import as_record, list_phases
    from siding.record.place.project import require_project

    screen = context.screen
    found = list_phases(require_project(context.app), earlier=not arguments.current)
    for sentence in found.problems:
        screen.warn(inert(sentence))
    if arguments.json:
        print_json(screen, [as_record(each) for each in found.passes])
        return 0
    if not found.passes:
        screen.note("no task is in any phase; `siding phase start` begins")
        return 0
    print_table(
        screen,
        ("PASS", "TASK", "PHASE", "STEP", "LAST"),
        [
            (
                f"{'*' if each.current else ' '} {each.pass_id}",
                shorten(each.task_name, 24),
                each.phase,
                str(each.step),
                shorten(each.history[-1].summary if each.history else "", 50),
            )
            for each in found.passes
        ],
    )
    return 0


LIST = Verb(
    """\
List the passes of all tasks through the phases, newest first; `*` marks what is under way.""",
    _list_options,
    _list,
)


def _show_options(parser: ArgumentParser) -> None:
    parser.set_defaults(which=None)  # first, as in `add_task_word`
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "which",
        nargs="?",
        metavar="PASS",
        default=SUPPRESS,
        help="a pass of `siding phase list`, or a task (default: this terminal's)",
    )
    which.add_argument(
        "-t", "--task", dest="which", metavar="TASK", default=SUPPRESS, help="that of this task"
    )
    parser.add_argument("--json", action="store_true", help="print the pass as JSON")


def _show(arguments: Namespace, context: Context) -> int:
    from siding.phases.phases import as_record, show
    from siding.record.place.project import require_project

    found = show(require_project(context.app), arguments.which)
    screen = context.screen
    if arguments.json:
        print_json(screen, as_record(found))
        return 0
    print_head(screen, found)
    screen.print()
    for entry in found.history:
        commit = f"  {entry.git_commit[:7]}" if entry.git_commit else ""
        where = f"{entry.step:>3}  {local_time(entry.timestamp)}  {inert(entry.phase)}"
        inside = f"  inside {inert(run_or_step(entry.inside_step))}" if entry.inside_step else ""
        screen.print(f"{where}  {entry.action}{screen.style(commit + inside, 'dim')}")
        for line in inert(entry.summary, lines=True).splitlines():
            screen.print(f"       {line}")
        for gate in entry.gates:
            screen.print(f"       {gate_line(gate)}")
    return 0


SHOW = Verb(
    """Show the history of a pass through the phases, oldest move first.""",
    _show_options,
    _show,
)
