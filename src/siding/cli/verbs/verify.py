"""Check that a task's record is whole: ledger lines, hash chain, artifacts and snapshots.

Exits with 1 when something is not as it was written.
"""

from argparse import ArgumentParser, Namespace

from siding.app.place.project import require_project
from siding.app.recording.verify import verify
from siding.cli.formats import add_format, print_json
from siding.cli.globals import Context
from siding.cli.screen.screen import inert
from siding.cli.screen.words import counted


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", help="id or name (default: the active one)")
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    proof = verify(project, arguments.task)
    screen = context.screen
    if arguments.format == "json":
        record = proof._asdict()
        record["task"] = proof.task.id
        record["findings"] = [finding._asdict() for finding in proof.findings]
        print_json(screen, {**record, "whole": proof.whole})
        return 0 if proof.whole else 1
    for finding in proof.findings:
        mark = screen.style("BAD ", "red") if finding.serious else screen.style("note", "yellow")
        screen.print(f"{mark}  {inert(finding.where)}: {inert(finding.problem)}")
    looked = (
        f"{counted(proof.steps, 'step')} ({proof.chained} chained), "
        f"{counted(proof.artifacts, 'artifact')}, {counted(proof.snapshots, 'snapshot')}"
    )
    verdict = screen.style("whole", "green") if proof.whole else screen.style("damaged", "red")
    screen.print(f"task {proof.task.id} is {verdict}: {looked}")
    return 0 if proof.whole else 1
