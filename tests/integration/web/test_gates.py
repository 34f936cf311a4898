"""What a gate holds back is opened by a person, and an agent that reads the key opens nothing."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from dashboards import Dashboard
from sandbox import Sandbox

QUESTION = "May this be released?"
PLAN: dict[str, Any] = {
    "names": ["build", "finish"],
    "gates": {"build": [{"ask": QUESTION}, {"decision": "ship-{task}", "chosen": "now"}]},
}
YES = {"decisions": [{"id": 1, "chosen": "yes"}]}
NO = {"decisions": [{"id": 1, "chosen": "no"}]}

# What an agent can do in a step without a sandbox: it reads the key as the same user may.
AGENT = """
import glob, http.client, json, os, sys
found = json.load(open(glob.glob(os.environ["SIDING_HOME"] + "/projects/*/dashboard.json")[0]))
for path, body in json.load(sys.stdin):
    asked = http.client.HTTPConnection("127.0.0.1", found["port"], timeout=60)
    headers = {"Authorization": "Bearer " + found["key"], "Content-Type": "application/json"}
    asked.request("POST", "/api/v1/decisions/" + path, json.dumps(body), headers)
    answer = asked.getresponse()
    print(json.dumps([answer.status, json.loads(answer.read())]), flush=True)
"""


def ordinary(task: str = "Log in") -> dict[str, Any]:
    options = [{"value": each, "label": each} for each in ("now", "later")]
    return {"task": task, "source": "s", "items": [{"id": 1, "title": "When?", "options": options}]}


@pytest.fixture
def gated(sandbox: Sandbox) -> Sandbox:
    """A task that waits at a gate which asks."""
    sandbox.siding("task", "start", "release")
    (sandbox.project / "config.yaml").write_text(json.dumps({"version": 1, "phases": PLAN}))
    sandbox.siding("phase", "start", "build", "begin")
    done = sandbox.siding("phase", "next-part", "finish", "done", status=1)
    assert b"is open" in done.stderr
    return sandbox


@pytest.fixture
def dashboard(gated: Sandbox) -> Iterator[Dashboard]:
    with Dashboard(gated) as running:
        yield running


def decision(sandbox: Sandbox, title: str = QUESTION) -> dict[str, Any]:
    (found,) = [
        each
        for each in sandbox.json("decide", "list", "--all", "--json")
        if each["input"]["items"][0]["title"] == title
    ]
    assert isinstance(found, dict)
    return found


def within_a_step(sandbox: Sandbox, *posts: tuple[str, dict[str, Any]]) -> list[Any]:
    """Post these as an agent does that runs in a step; return the answers."""
    done = sandbox.siding(
        "run", "--no-tty", "--", "python3", "-c", AGENT, stdin=json.dumps(posts).encode()
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_key_alone_opens_no_gate(gated: Sandbox, dashboard: Dashboard) -> None:
    gate = decision(gated)["session_id"]
    kept = gated.siding(
        "decide", json.dumps(ordinary()), "--key", f"ship-{decision(gated)['task_id']}", "--no-wait"
    )
    keyed = kept.stdout.decode().strip()
    other = gated.siding("decide", json.dumps(ordinary("other")), "--no-wait", cwd=gated.repo)
    plain = other.stdout.decode().strip()
    now = {"decisions": [{"id": 1, "chosen": "now"}]}
    answers = within_a_step(
        gated,
        (f"{gate}/answer", YES),
        (f"{gate}/answer", {**YES, "code": "aaaaaa"}),
        (f"{gate}/cancel", {}),
        (f"{keyed}/answer", now),
        (f"{keyed}/cancel", {}),
        (f"{plain}/cancel", {}),
        (f"{plain}/answer", now),
    )
    for status, body in answers[:-1]:
        assert status == 409, body
        assert body["error"]["message"]
        assert body["error"]["hint"]
    codes = [body["error"]["code"] for _, body in answers[:-1]]
    needed = "code_needed"
    assert codes == [needed, "wrong_code", needed, needed, needed, needed]
    assert answers[-1][0] == 200  # what holds nothing back is answered with the key, as before
    assert answers[-1][1]["via"] == "page"
    assert dashboard.codes == 0
    assert decision(gated)["state"] == "open"
    gated.siding("phase", "next-part", "finish", "done", status=1)


def test_a_code_opens_the_gate_for_the_one_answer_it_was_printed_for(
    gated: Sandbox, dashboard: Dashboard
) -> None:
    gate = decision(gated)
    base = f"/api/v1/decisions/{gate['session_id']}"
    assert gate["gate"] == "build"
    assert dashboard.json(base)["gate"] == "build"
    assert dashboard.post(f"{base}/code", {"act": "answer", **NO})[0] == 200
    code = dashboard.code()
    said = dashboard.said.decode()
    for named in (QUESTION, "'no'", gate["task_id"], "release", "build"):
        assert named in said, said
    status, body = dashboard.post(f"{base}/answer", {**YES, "code": code})
    assert (status, json.loads(body)["error"]["code"]) == (409, "wrong_code")
    status, body = dashboard.post(f"{base}/cancel", {"code": code})
    assert (status, json.loads(body)["error"]["code"]) == (409, "wrong_code")
    assert decision(gated)["state"] == "open"

    assert dashboard.post(f"{base}/code", {"act": "answer", **YES})[0] == 200
    code = dashboard.code(2)
    status, body = dashboard.post(f"{base}/answer", {**YES, "code": code})
    assert status == 200, body
    assert json.loads(body)["via"] == "page with code"
    found = decision(gated)
    assert (found["via"], found["closed_in_step"]) == ("page with code", None)
    shown = gated.siding("decide", "show", gate["session_id"]).stdout.decode()
    assert "page with code" in shown
    assert "gate of phase build" in shown
    listed = gated.siding("decide", "list", "--all").stdout.decode()
    assert "page with code" in listed


def test_cancelling_takes_a_code_of_its_own(gated: Sandbox, dashboard: Dashboard) -> None:
    gate = decision(gated)["session_id"]
    base = f"/api/v1/decisions/{gate}"
    assert dashboard.post(f"{base}/code", {"act": "cancel"})[0] == 200
    assert "cancel the question" in (dashboard.code() and dashboard.said.decode())
    status, body = dashboard.post(f"{base}/answer", {**YES, "code": dashboard.code()})
    assert (status, json.loads(body)["error"]["code"]) == (409, "wrong_code")
    assert dashboard.post(f"{base}/code", {"act": "cancel"})[0] == 200
    status, body = dashboard.post(f"{base}/cancel", {"code": dashboard.code(2)})
    assert status == 200, body
    assert json.loads(body)["state"] == "cancelled"


def test_no_code_is_printed_for_what_cannot_be_done(gated: Sandbox, dashboard: Dashboard) -> None:
    base = f"/api/v1/decisions/{decision(gated)['session_id']}"
    for body in (
        {"act": "answer"},
        {"act": "answer", "decisions": [{"id": 1, "chosen": "maybe"}]},
        {"act": "answer", "decisions": [{"id": 2, "chosen": "yes"}]},
        {"act": "cancel", **YES},
        {"act": "open"},
    ):
        status, said = dashboard.post(f"{base}/code", body)
        assert status in (400, 409), (body, said)
    assert dashboard.codes == 0
