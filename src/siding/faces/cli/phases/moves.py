"""The verbs that move a task through its phases; they differ in their texts alone."""

from argparse import ArgumentParser, Namespace
from functools import partial

from siding.broker.inside import Inside, Refused, broker_of
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.words import counted, duration, task_name
from siding.faces.cli.verb import Verb
from siding.phases.gates import GateClosed
from siding.phases.moves import MovedPhase, PhaseRequest, move, moved_as_record
from siding.phases.phases import PhaseMove
from siding.record.place.projects import project_for_people


def _verb(move: PhaseMove, about: str, *, summary: str, phase: str = "") -> Verb:
    """Return the verb of a move. `summary` and `phase` are the help texts of its arguments."""
    return Verb(
        about,
        partial(_add_arguments, move=move, summary=summary, phase=phase),
        partial(_run, wanted=move),
    )


def _add_arguments(parser: ArgumentParser, *, move: PhaseMove, summary: str, phase: str) -> None:
    if phase:
        parser.add_argument("phase", help=phase)
    parser.add_argument("summary", help=summary)
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument("--json", action="store_true", help="print the move as JSON")
    if move is PhaseMove.START:
        parser.add_argument("--again", action="store_true", help="end the pass that is under way")


def _run(arguments: Namespace, context: Context, *, wanted: PhaseMove) -> int:
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
    _say(context, done)
    if arguments.json:
        print_json(context.screen, moved_as_record(done))
    return 1 if done.kept_by else 0


def _say(context: Context, done: MovedPhase) -> None:
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


START = _verb(
    PhaseMove.START,
    """Begin a pass of the task through its phases, in any of them, with a commit of what is there.

A pass that is not in its last phase goes on until --again ends it; its history is kept.
""",
    summary="what the task is",
    phase="the phase to begin in",
)
NEXT_STEP = _verb(
    PhaseMove.NEXT_STEP,
    "Go on by a step within the phase: the workspace is committed on the task's branch.",
    summary="what was done",
)
BACK_STEP = _verb(
    PhaseMove.BACK_STEP,
    "Record that a step has to be done again; files stay as they are (`siding rollback` goes "
    "back).",
    summary="why",
)
NEXT_PART = _verb(
    PhaseMove.NEXT_PART,
    """Go on to the phase that follows, once the gates of the present one hold.

A gate is a command that must exit 0 in the workspace, or a decision that must be answered. When
one does not hold, nothing is moved.
""",
    summary="what was done",
    phase="the phase that follows",
)
BACK_PART = _verb(
    PhaseMove.BACK_PART,
    "Go back to an earlier phase; files stay as they are (`siding rollback` goes back).",
    summary="why",
    phase="an earlier phase",
)
ISSUE = _verb(
    PhaseMove.ISSUE,
    "Record something to come back to, with a commit of what is there.",
    summary="what is to be looked at",
)
ERROR = _verb(
    PhaseMove.ERROR,
    "Record what went wrong, with a commit of what is there. Recording it is no failure: exit 0.",
    summary="what went wrong",
)
