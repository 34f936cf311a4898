"""The answer of a decision, printed for the program that asked."""

from siding.asking.question import collected, output_or_raise
from siding.asking.views import DecisionView, as_record
from siding.faces.cli.formats import print_json, print_line
from siding.faces.cli.screen.screen import Screen
from siding.record.place.project import Project


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
