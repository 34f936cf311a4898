"""Projects in which workflows are run, with scripted agents in the place of real ones."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sandbox import Sandbox
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import open_app
from siding.workflows.acts.request import ResumeRequest, WorkflowOptions
from siding.workflows.acts.run import (
    Listen,
    Prepared,
    WorkflowRequest,
    carry_out,
    prepare,
    prepare_again,
)
from siding.workflows.acts.scripts import inline, named
from siding.workflows.events import Event, RunDone
from siding.workflows.state import RunState
from unit.workflows.world import ScriptedAgents


class AtWork:
    """A project with a task, and workflows in it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        sandbox.siding("task", "start", "flows")
        self.events: list[Event] = []

    def project(self) -> Project:
        return require_project(open_app(env=self.sandbox.env, cwd=self.sandbox.repo))

    def prepare(self, source: str, **more: Any) -> Prepared:
        request = WorkflowRequest(found=inline(source), task="flows", **more)
        return prepare(self.project(), request)

    def prepare_named(self, name: str, **more: Any) -> Prepared:
        found = named(self.project(), name)
        return prepare(self.project(), WorkflowRequest(found=found, task="flows", **more))

    def again(self, run_id: str, **more: Any) -> Prepared:
        return prepare_again(self.project(), run_id, ResumeRequest(**more))

    def carry_out(
        self,
        prepared: Prepared,
        agents: Mapping[str, Any] | ScriptedAgents,
        listen: Callable[[Event, RunState], None] = lambda _event, _state: None,
    ) -> RunDone:
        scripted = agents if isinstance(agents, ScriptedAgents) else ScriptedAgents(agents)

        def heard(event: Event, state: RunState) -> None:
            self.events.append(event)
            listen(event, state)

        hear: Listen = heard
        return carry_out(self.project(), prepared, lambda *_: scripted, hear)

    def run(self, source: str, agents: Mapping[str, Any], **more: Any) -> RunDone:
        return self.carry_out(self.prepare(source, **more), agents)


@pytest.fixture
def work(sandbox: Sandbox) -> AtWork:
    return AtWork(sandbox)


__all__ = ["AtWork", "WorkflowOptions"]
