"""The answer of a decision, printed for the program that asked."""

from siding.app.decisions.question import collected, output_or_raise
from siding.app.decisions.views import DecisionView, as_record
from siding.app.place.project import Project
from siding.cli.formats import print_json, print_line
from siding.cli.screen.screen import Screen


def print_answer(
    screen: Screen, project: Project, decision: DecisionView, *, as_json: bool
) -> None:
    """Print the answer as one line of JSON, or the whole decision; then note that it was fetched.

    Raises what `output_or_raise` does if there is no answer.
    """
    output = output_or_raise(decision)
    if as_json:
        print_json(screen, as_record(decision))
    else:
        print_line(screen, output)
    screen.out.flush()  # first: an answer that did not arrive was not fetched
    collected(project, decision)
