"""Watch a run of a workflow as it goes, wherever it runs; Ctrl-C ends the watching, not the run."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert

if TYPE_CHECKING:
    from siding.workflows.acts.views import RunState


_LOOK_S = 0.3


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="last", metavar="RUN", help="default: last")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.workflow_lines import run_line
    from siding.record.place.project import require_project
    from siding.workflows.acts.views import RunStatus, run_view

    view = run_view(require_project(context.app), arguments.run)
    seen = _Seen(context.screen)
    while True:
        state = view.folder.state() or view.state
        seen.tell(state)
        if state.status is not RunStatus.RUNNING:
            context.screen.progress("")
            context.screen.note(run_line(state))
            if state.error:
                context.screen.note(inert(state.error), "red")
            return 0 if state.status is RunStatus.COMPLETED else 1
        time.sleep(_LOOK_S)


class _Seen:
    """Prints what is new in a state."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._lines: dict[int, str] = {}
        self._phases: set[str] = set()
        self._waits: tuple[str, ...] = ()

    def tell(self, state: RunState) -> None:
        from siding.faces.cli.telling.workflow_lines import MARKS, agent_line

        for title, _status in state.phases:
            if title not in self._phases:
                self._phases.add(title)
                self._screen.note(f"── {inert(title)}", "bold")
        for agent in state.agents:
            mark = agent.result if agent.status == "done" else "running"
            if self._lines.get(agent.id) != mark:
                self._lines[agent.id] = mark
                self._screen.note(agent_line(agent))
        if state.waits != self._waits:
            self._waits = state.waits
            for question in state.waits:
                self._screen.note(f"? waits for you: {inert(question)} (siding inbox)", "yellow")
        running = [inert(agent.name) for agent in state.agents if agent.status == "running"]
        self._screen.progress(f"{MARKS['running']} {', '.join(running[:4])}" if running else "")
