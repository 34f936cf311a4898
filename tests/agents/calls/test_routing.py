"""Which agent a call goes to, and what is said of settings that are wrong."""

import json
from typing import Any

import pytest

from sandbox import Sandbox
from siding.agents.headless.port import Level
from siding.ground.errors import UsageError
from siding.record.place.project import require_project
from siding.record.place.wiring import open_app
from siding.workflows.agents.agents import Routing
from siding.workflows.agents.settings import WorkflowAgents, workflow_agents
from siding.workflows.engine.ports import AgentCall, AgentUnavailable


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "routed")
    return sandbox


def read(
    task: Sandbox, own: dict[str, Any], project: dict[str, Any] | None = None
) -> WorkflowAgents:
    home = task.project.parents[1]
    (home / "config.yaml").write_text(json.dumps({"workflows": own}))
    (task.project / "config.yaml").write_text(json.dumps({"workflows": project or {}}))
    return workflow_agents(require_project(open_app(env=task.env, cwd=task.repo)))


def routed(known: WorkflowAgents, installed: str = "", **asked: Any) -> str:
    programs = {*installed.split(), "mine"}
    routing = Routing(known, installed=programs.__contains__, is_judged=False)
    return routing.of(AgentCall(id=1, path="1", prompt="x", **asked)).settings.name


def test_the_project_replaces_what_it_names(task: Sandbox) -> None:
    own = {"agents": {"a": {"command": ["mine"]}, "b": {"command": ["mine"]}}, "agent": "a"}
    project = {"agents": {"b": {"command": ["mine", "-x"], "permissions": "read"}}}
    known = read(task, own, project)
    assert (sorted(known.agents), known.default) == (["a", "b"], "a")
    assert known.agents["b"].command == ("mine", "-x")
    assert known.agents["b"].permissions is Level.READ


def test_type_then_model_then_default_then_what_is_installed(task: Sandbox) -> None:
    known = read(task, {"agents": {"local": {"command": ["mine"]}}, "models": {"qwen": "local"}})
    assert routed(known, "claude codex", agent_type="codex", model="claude-x") == "codex"
    assert routed(known, "claude codex", model="gpt-5.5") == "codex"
    assert routed(known, "claude", model="gpt-5.5") == "claude"  # there is no codex
    assert routed(known, "claude", model="qwen3") == "local"
    assert routed(known, "gemini codex") == "codex"
    assert routed(known._replace(default="local"), "claude") == "local"


def test_the_only_one_of_the_settings_needs_no_word_more(task: Sandbox) -> None:
    one = {"local": {"command": ["mine"]}}
    assert routed(read(task, {"agents": one})) == "local"
    assert routed(read(task, {"agents": one}), "codex") == "codex"
    two = read(task, {"agents": {**one, "other": {"command": ["mine"]}}})
    with pytest.raises(AgentUnavailable, match=r"`workflows.agent` .*: local, other"):
        routed(two)


def test_the_own_agent_is_the_last(task: Sandbox) -> None:
    one = read(task, {"agents": {"local": {"command": ["mine"]}}})
    assert routed(one, "siding-agent") == "local"
    assert routed(one, "siding-agent", agent_type="siding-agent") == "siding-agent"
    assert routed(one, "siding-agent claude", model="anthropic:claude-x") == "siding-agent"
    assert routed(WorkflowAgents(), "siding-agent") == "siding-agent"
    assert routed(WorkflowAgents(), "siding-agent codex") == "codex"


def test_what_there_is_is_said(task: Sandbox) -> None:
    known = read(task, {"agents": {"local": {"command": ["mine"]}}})
    with pytest.raises(AgentUnavailable, match="no agent 'reviewer'; there is local, codex"):
        routed(known, "codex", agent_type="reviewer")
    with pytest.raises(AgentUnavailable, match="'claude' is not installed"):
        routed(known, agent_type="claude")
    with pytest.raises(AgentUnavailable, match="no agent is installed: claude, codex"):
        routed(WorkflowAgents())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"agents": {"a": {}}}, r"workflows.agents.a.agent in .* is missing"),
        ({"agents": {"a": {"agent": "acp"}}}, r"workflows.agents.a.command in .* is missing"),
        ({"agents": {"a": {"agent": "scripted"}}}, r"workflows.agents.a.answers"),
        ({"agents": {"a": {"command": "mine -x"}}}, r"a.command in .* a list of words"),
        ({"agents": {"a": {"command": ["m"], "permissions": "most"}}}, "one of read, edit, all"),
        ({"agents": {"a": {"command": ["m"], "modle": "x"}}}, r"a.modle in .* is not known"),
        ({"no_progress": "soon"}, "a time such as 20m, or never"),
    ],
)
def test_a_mistake_is_named_by_its_place(task: Sandbox, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(task, wrong)
