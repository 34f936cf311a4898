"""Show where the task stands: its phase and step, and what came last."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.words import ago
from siding.ground.ids import run_or_step

if TYPE_CHECKING:
    from siding.phases.phases import GateView, PhaseView


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", help="id or name (default: this terminal's)")
    parser.add_argument("--json", action="store_true", help="print the pass as JSON")


def run(arguments: Namespace, context: Context) -> int:
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
