"""What the live stream's topics of workflows look at: one run, or the list of runs.

A run's state is one file, which its process replaces twice a second while something happens. Only
that file is looked at, and only the agents that changed are rendered and sent, once for all who
follow the run.
"""

from typing import Any

from siding.faces.web.live import stamps_of
from siding.faces.web.rendering import Page, render
from siding.faces.web.workflows.values import (
    WEIGHTS,
    RunQuery,
    Timeline,
    agent_row,
    head_values,
    phase_key,
    phases_shown,
    timeline_of,
)
from siding.feed.workflow_runs import live_folders
from siding.ground.errors import NotFound
from siding.record.place.project import Project
from siding.sessions.shelf import store_of
from siding.workflows.acts.views import AgentState, RunFolder, RunState, is_run_id, run_view

_MOST_PARTS = 200  # with more at once the page is fetched whole
_PARTS = ("head", "phases", "ticks", "end")


class RunFollower:
    """Tells what changed in a run, as parts of its page. `by` is what its timeline shows."""

    def __init__(self, project: Project, run_id: str, by: str) -> None:
        view = run_view(project, run_id)
        if view.state.run_id != run_id:
            raise NotFound(f"there is no run {run_id!r}")
        self._project = project
        self._query = RunQuery(by=by)
        self._folder = view.folder
        self._state = view.state
        self._stamp = _stamp(view.folder)
        self._timeline = self._draw()
        self._texts = self._render_texts()

    def whole(self) -> list[dict[str, Any]]:
        """Return which state the next messages go on from; a page of another one is out of date."""
        return [{"version": self._state.updated_at}]

    def look(self) -> list[dict[str, Any]]:
        stamp = _stamp(self._folder)
        if stamp == self._stamp:
            return []
        state = self._folder.known_state()
        if state is None:
            return []
        before, self._state, self._stamp = self._state, state, stamp
        changed = _changed(before, state)
        message = {"version": state.updated_at, "agents": [agent.id for agent in changed]}
        had_none = self._timeline is None
        parts = [*self._new_bars(changed), *self._new_texts()]  # the texts have its ticks
        begins = had_none and self._timeline is not None
        if begins or _is_drawn_anew(before, state, changed):
            return [{**message, "again": True}]
        sessions = frozenset(store_of(self._project).ids()) if changed else frozenset()
        parts += [_row(agent, state, sessions) for agent in changed]
        span = 0 if self._timeline is None else self._timeline.span
        return [{**message, "parts": parts, "span": span}]

    def _new_texts(self) -> list[dict[str, str]]:
        before, self._texts = self._texts, self._render_texts()
        return [{"html": text} for name, text in self._texts.items() if text != before[name]]

    def _render_texts(self) -> dict[str, str]:
        values = {**head_values(self._state, self._query), "phases": phases_shown(self._state)}
        ticks = {"timeline": self._timeline}
        return {name: _part(name, {**values, **ticks}) for name in _PARTS}

    def _new_bars(self, changed: list[AgentState]) -> list[dict[str, str]]:
        """Return the bars that change: of these agents, and of all that are at work."""
        before, self._timeline = self._timeline, self._draw()
        now = self._timeline
        if now is None:
            return []
        if before is None or before.shape != now.shape:
            return [{"html": _part("timeline", {"timeline": now, "run": self._state})}]
        ids = {agent.id for agent in changed}
        ids.update(agent.id for agent in self._state.agents if agent.status == "running")
        return [
            {
                "into": f"bars-{phase.key}",
                "html": _part("bar", {"bar": bar, "run": self._state}),
            }
            for phase in now.phases
            for bar in phase.bars
            if bar.id in ids
        ]

    def _draw(self) -> Timeline | None:
        now_ms = int(self._project.app.clock.now().timestamp() * 1000)
        return timeline_of(self._state, self._query.by, now_ms)


class RunsFollower:
    """Tells that a run that is at work has got on, or has ended."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._events = stamps_of(project)[0]
        self._live = live_folders(project)
        self._stamps = [_stamp(folder) for folder in self._live]

    def whole(self) -> list[dict[str, Any]]:
        return []

    def look(self) -> list[dict[str, Any]]:
        events = stamps_of(self._project)[0]
        stamps = [_stamp(folder) for folder in self._live]
        if (events, stamps) == (self._events, self._stamps):
            return []
        self._events = events  # a run that begins, ends or is resumed leaves an event
        self._live = live_folders(self._project)
        self._stamps = [_stamp(folder) for folder in self._live]
        return [{"got_on": True}]


def _changed(before: RunState, after: RunState) -> list[AgentState]:
    known = {agent.id: agent for agent in before.agents}
    return [agent for agent in after.agents if known.get(agent.id) != agent]


def _is_drawn_anew(before: RunState, after: RunState, changed: list[AgentState]) -> bool:
    """Tell whether so much is different that the page is fetched whole."""
    known = {phase.key for phase in phases_shown(before)}
    is_new = any(phase.key not in known for phase in phases_shown(after))
    is_other = before.status is not after.status or before.waits != after.waits
    return is_new or is_other or len(changed) > _MOST_PARTS


def _row(agent: AgentState, state: RunState, sessions: frozenset[str]) -> dict[str, str]:
    values = {"row": agent_row(agent, state), "run": state, "sessions": sessions}
    return {"into": f"agents-{phase_key(agent.phase)}", "html": _part("row", values)}


def _part(name: str, values: dict[str, Any]) -> str:
    return render(Page("workflow_part.html", "", {"part": name, **values})).decode()


def _stamp(folder: RunFolder) -> tuple[object, ...]:
    return (folder.state_stamp(), folder.is_live())


def names_run(words: list[str]) -> bool:
    """Return whether these are the id of a run, and what the thickness of its bars shows."""
    return len(words) == 2 and is_run_id(words[0]) and words[1] in WEIGHTS
