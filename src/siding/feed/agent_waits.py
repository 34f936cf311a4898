"""What the agent of a run waits for a person for: what it has reported, or asks before it reports.

In a directory that is new to it an agent asks on its screen whether the person trusts what is
there. It starts no hook before it has an answer, so it reports nothing. The question is read off
the screen of the run's terminal. The answer is the person's: nothing gives it for them.
"""

from collections.abc import Mapping

from siding.agents.table import BY_NAME
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.storage.layout import TaskLayout
from siding.record.ledger.intents import Intents
from siding.record.place.project import Project
from siding.record.runs.reported import Reported
from siding.record.runs.run import Run

TRUSTS = "whether you trust the folder it works in"


def waits_of(
    project: Project, task_id: TaskId, run: Run, stems: Mapping[str, str], reported: Reported
) -> str:
    """Return what the agent of a run that lives waits for; "" for nothing.

    `stems` have the first part of the names of the files of each run in progress.
    """
    if reported.waits or not reported.is_nothing:
        return reported.waits
    agent, stem = BY_NAME.get(run.agent or ""), stems.get(run.id)
    if agent is None or not agent.trust or stem is None:
        return ""
    from siding.ground.process.output.reading import read_output
    from siding.record.recording.last_screen import text_on_screen
    from siding.running.attach import size_of_terminal

    try:
        output = read_output(project.task_layout(task_id).artifact(stem, "output"))
        shown = text_on_screen(output, size_of_terminal(project, task_id, run.id))
    except OSError:
        return ""
    # Where a line is too long for the screen, it is broken: blanks do not count.
    said = "".join(shown.split())
    return TRUSTS if any("".join(asked.split()) in said for asked in agent.trust) else ""


def run_stems(layout: TaskLayout) -> dict[str, str]:
    """Return for each run in progress the first part of the names of its files."""
    try:
        begun = Intents(layout).all()
    except SidingError:
        return {}
    return {each.run: each.stem for each in begun if each.draft.as_run is not None}
