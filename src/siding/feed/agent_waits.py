"""What the agent of a run waits for a person for: what it has reported, or asks before it reports.

In a directory that is new to it an agent asks on its screen whether the person trusts what is
there, or how they log in. It starts no hook before it has an answer, so it reports nothing. What it
would ask was looked up as it started, in the files that it goes by itself; they say, too, when the
answer was given. Where they do not tell, the question is read off the screen of the run's terminal.
The answer is the person's: nothing gives it for them.
"""

from collections.abc import Mapping
from pathlib import Path

from siding.agents.start_questions import SAYS, Question, start_questions
from siding.agents.table import BY_NAME
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.storage.fields import mapping, strings
from siding.ground.storage.layout import TaskLayout
from siding.record.ledger.intents import Intents
from siding.record.place.project import Project
from siding.record.runs.reported import Reported
from siding.record.runs.run import Run

TRUSTS = SAYS[Question.TRUST]


def waits_of(
    project: Project, task_id: TaskId, run: Run, stems: Mapping[str, str], reported: Reported
) -> str:
    """Return what the agent of a run that lives waits for; "" for nothing.

    `stems` have the first part of the names of the files of each run in progress.
    """
    if reported.waits or not reported.is_nothing:
        return reported.waits
    asked = _asked(project, task_id, run)
    if asked is None:
        return TRUSTS if _asks_on_screen(project, task_id, run, stems) else ""
    if asked and run.asks.get("reports") is not True:
        # Nothing says that it has begun, and an answer may be in a sandbox's files.
        return TRUSTS if _asks_on_screen(project, task_id, run, stems) else ""
    return asked


def _asked(project: Project, task_id: TaskId, run: Run) -> str | None:
    """Return what its agent asked as it started, and its files do not answer yet; "" for nothing.

    None if nobody can tell.
    """
    first = strings(run.asks.get("first"))
    if "first" not in run.asks or not first:
        return "" if "first" in run.asks else None
    workspace = project.workspaces.of_task(task_id)
    if workspace is None or run.agent is None:
        return None
    env = {name: str(value) for name, value in mapping(run.asks.get("env")).items()}
    now = start_questions(run.agent, run.cmd, Path(workspace.path, run.cwd), env)
    if now is None:
        return None
    return ", ".join(SAYS[each] for each in now if each.value in first)


def _asks_on_screen(project: Project, task_id: TaskId, run: Run, stems: Mapping[str, str]) -> bool:
    """Tell whether the question of trust is on the screen of the run."""
    agent, stem = BY_NAME.get(run.agent or ""), stems.get(run.id)
    if agent is None or not agent.trust or stem is None:
        return False
    from siding.ground.process.output.reading import read_output
    from siding.record.recording.last_screen import text_on_screen
    from siding.running.attach import size_of_terminal

    try:
        output = read_output(project.task_layout(task_id).artifact(stem, "output"))
        shown = text_on_screen(output, size_of_terminal(project, task_id, run.id))
    except OSError:
        return False
    # Where a line is too long for the screen, it is broken: blanks do not count.
    said = "".join(shown.split())
    return any("".join(asked.split()) in said for asked in agent.trust)


def run_stems(layout: TaskLayout) -> dict[str, str]:
    """Return for each run in progress the first part of the names of its files."""
    try:
        begun = Intents(layout).all()
    except SidingError:
        return {}
    return {each.run: each.stem for each in begun if each.draft.as_run is not None}
