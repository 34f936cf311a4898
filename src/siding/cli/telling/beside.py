"""The options of acts that move the files under runs that live, and what is said of these runs."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from siding.app.acts.pause import BesideRuns, Paused
from siding.app.place.project import Project
from siding.app.running.stop import Stopped, stop_before
from siding.cli.screen.screen import Screen, inert, shorten
from siding.cli.screen.words import task_name
from siding.ids import TaskId

TITLE_COLUMNS = 60
STOP = "end the runs of the task first"


def add_beside_arguments(parser: ArgumentParser) -> None:
    """Add the options that say what happens to runs that live."""
    runs = parser.add_mutually_exclusive_group()
    runs.add_argument(
        "--now", action="store_true", help="do not wait until no run is in the middle of a file"
    )
    runs.add_argument("--stop", action="store_true", help=STOP)


def add_stop_argument(parser: ArgumentParser) -> None:
    """Add the option for acts that are refused while runs live."""
    parser.add_argument("--stop", action="store_true", help=STOP)


def beside_of(arguments: Namespace) -> BesideRuns:
    return BesideRuns(now=arguments.now)


def stop_first(screen: Screen, project: Project, task_id: TaskId) -> None:
    """End the runs of the task, and say which."""
    tell_stopped(screen, stop_before(project, task_id))


def tell_stopped(screen: Screen, stopped: Sequence[Stopped]) -> None:
    """Say which runs were ended."""
    for each in stopped:
        step = "not recorded" if each.step is None else f"step {each.step.id}"
        force = " · its host did not react and was killed" if each.by_force else ""
        what = shorten(inert(each.run.title), TITLE_COLUMNS)
        screen.note(f"{task_name(each.task.name)} · ended {each.run.id} ({what}) · {step}{force}")


def tell_paused(screen: Screen, name: str, paused: Paused) -> None:
    """Say which runs were paused, and what they were in the middle of if that did not count."""
    runs = [f"{run.id} `{shorten(inert(run.title), TITLE_COLUMNS)}`" for run in paused.runs]
    if runs:
        what = "was paused and goes on" if len(runs) == 1 else "were paused and go on"
        screen.note(f"{task_name(name)} · {', '.join(runs)} {what}")
    for sentence in paused.unquiet:
        screen.warn(f"in the middle of something: {inert(sentence)}")
