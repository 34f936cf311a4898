"""What the verbs that move a task through its phases share."""

from argparse import ArgumentParser, Namespace

from siding.app.hidden_home import project_for_people
from siding.app.phase_gates import GateClosed
from siding.app.phase_moves import Moved, PhaseRequest, move
from siding.app.phases import PhaseMove
from siding.cli.formats import print_json
from siding.cli.globals import Context
from siding.cli.screen import inert
from siding.cli.words import counted, duration, task_name


def add_move(parser: ArgumentParser, summary: str, *, to_phase: str | None = None) -> None:
    """Declare the arguments of a move; `summary` says what the text is."""
    if to_phase is not None:
        parser.add_argument("phase", help=to_phase)
    parser.add_argument("summary", help=summary)
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: the active one)")
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument("--json", action="store_true", help="print the move as JSON")


def run_move(arguments: Namespace, context: Context, wanted: PhaseMove) -> int:
    """Make the move and say what was done."""
    request = PhaseRequest(
        move=wanted,
        summary=arguments.summary,
        target=getattr(arguments, "phase", None),
        task=arguments.task,
        again=getattr(arguments, "again", False),
        wait=arguments.wait,
    )
    try:
        done = move(project_for_people(context.app, make=False), request)
    except GateClosed as closed:
        context.screen.quote(closed.output)
        raise
    _say(context, done)
    if arguments.json:
        print_json(context.screen, _record(done))
    return 0 if done.complete else 1


def _say(context: Context, done: Moved) -> None:
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
    if not done.complete:
        screen.warn("the commit is made, and an error kept the rest; the next command mends it")
    if not done.index_agrees:
        screen.warn("the workspace's index could not follow; `git reset` there makes it agree")


def _record(done: Moved) -> dict[str, object]:
    entry = done.entry
    return {
        "task": done.task.id,
        "task_id": done.status.task_id,
        "action": entry.action,
        "phase": entry.phase,
        "step": entry.step,
        "summary": entry.summary,
        "git_commit": entry.git_commit,
        "gates": [gate._asdict() for gate in entry.gates],
        "left_out": list(done.left_out),
        "gone_back": [
            {"commit": each.sha[:12], "subject": inert(each.subject)} for each in done.gone_back
        ],
    }
