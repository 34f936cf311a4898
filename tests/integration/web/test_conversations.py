"""Conversations on the dashboard: found ones too, and the way between a message and its step."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from client_homes import put, session_id
from dashboards import Dashboard
from sandbox import Sandbox

NAME = session_id(1)


@pytest.fixture
def dashboard(sandbox: Sandbox) -> Iterator[Dashboard]:
    sandbox.siding("task", "start", "the task")
    put(sandbox.directory / "home", "claude", 1, cwd=str(sandbox.workspace()))
    with Dashboard(sandbox) as running:
        yield running


def view(dashboard: Dashboard, path: str) -> str:
    status, body = dashboard.get(f"/view{path}")
    assert status == 200, body
    return body.decode()


def says(sandbox: Sandbox, event: str, **fields: object) -> None:
    payload = {"hook_event_name": event, "session_id": NAME, **fields}
    words = ("__report", "claude")
    sandbox.siding(*words, cwd=sandbox.workspace(), stdin=json.dumps(payload).encode())


def test_a_found_conversation_leads_to_its_step_and_back(
    sandbox: Sandbox, dashboard: Dashboard
) -> None:
    says(sandbox, "UserPromptSubmit", prompt="Change the greeting", prompt_id="p")
    Path(sandbox.workspace(), "hello.txt").write_text("Good morning\n")
    says(sandbox, "Stop")
    (task,) = dashboard.json("/api/v1/tasks")["tasks"]
    assert f'href="/sessions/{NAME}"' in view(dashboard, "/sessions")
    page = view(dashboard, f"/sessions/{NAME}")
    assert "Change the greeting" in page
    assert f'href="/tasks/{task["id"]}/steps/1"' in page
    step = view(dashboard, f"/tasks/{task['id']}/steps/1")
    assert f'href="/sessions/{NAME}?step=1"' in step
    assert "Change the greeting" in view(dashboard, f"/sessions/{NAME}?step=1")
    assert dashboard.get(f"/view/sessions/{NAME}?step=7")[0] == 404


def test_what_an_agent_makes_up_is_no_address(sandbox: Sandbox, dashboard: Dashboard) -> None:
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": '../x?"', "prompt": "One"}
    for event in ("UserPromptSubmit", "Stop"):
        told = json.dumps({**payload, "hook_event_name": event}).encode()
        sandbox.siding("__report", "claude", cwd=sandbox.workspace(), stdin=told)
    (task,) = dashboard.json("/api/v1/tasks")["tasks"]
    assert 'href="/sessions/' not in view(dashboard, f"/tasks/{task['id']}/steps/1")
    assert "siding session show" not in sandbox.siding("show", "1").stdout.decode()
