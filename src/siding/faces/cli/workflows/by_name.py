"""Whether a word that is no verb is the name of a workflow."""

from siding.faces.cli.globals import Context
from siding.ground.errors import SidingError
from siding.record.place.project import find_project
from siding.workflows.acts.scripts import named


def is_workflow(context: Context, word: str) -> bool:
    """Tell whether there is a workflow of this name for the project one stands in."""
    try:
        project = find_project(context.app)
        return project is not None and bool(named(project, word))
    except (SidingError, OSError):
        return False
