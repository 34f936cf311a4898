"""``siding doctor --sandbox``: try what sandboxes can do on this machine, and print it."""

from argparse import Namespace

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.record.place.project import ensure_project
from siding.upkeep.sandbox import prove


def show_sandbox(arguments: Namespace, context: Context) -> int:
    """Print each proof; return 1 when one that is needed does not hold."""
    project, _made = ensure_project(context.app)
    screen = context.screen
    failed = False
    proofs = []
    for proof in prove(project):
        proofs.append(proof)
        failed = failed or (proof.needed and not proof.holds)
        if arguments.format == "json":
            continue
        colour = "green" if proof.holds else "red" if proof.needed else "yellow"
        mark = screen.style("yes" if proof.holds else "no ", colour)
        detail = screen.style(f"  {inert(proof.detail)}", "dim") if proof.detail else ""
        screen.print(f"{mark}  {proof.what}{detail}")
    if arguments.format == "json":
        print_json(screen, [proof._asdict() for proof in proofs])
    return 1 if failed else 0
