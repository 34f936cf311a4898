"""What runs inside a step is no person: it opens no gate, whatever it does to its environment."""

import json
from typing import Any

import pytest

from sandbox import Sandbox

BARE = "env -u SIDING_STEP_TOKEN -u SIDING_RUN_ID -u SIDING_TASK_ID"
ORPHAN = "setsid -f"


def question(title: str = "When?") -> str:
    options = [{"value": each, "label": each} for each in ("now", "later")]
    items = [{"id": 1, "title": title, "options": options}]
    return json.dumps({"task": "t", "source": "s", "items": items})


@pytest.fixture
def gated(sandbox: Sandbox) -> Sandbox:
    """A task that waits at a gate which asks."""
    sandbox.siding("task", "start", "release")
    plan: dict[str, Any] = {
        "names": ["design", "build", "finish"],
        "gates": {"build": [{"ask": "Release?"}]},
    }
    (sandbox.project / "config.yaml").write_text(json.dumps({"version": 1, "phases": plan}))
    sandbox.siding("phase", "start", "build", "begin")
    sandbox.siding("phase", "next-part", "finish", "done", status=1)
    return sandbox


def the_gate(sandbox: Sandbox) -> dict[str, Any]:
    (found,) = [
        each
        for each in sandbox.json("decide", "list", "--all", "--json")
        if each["input"]["items"][0]["title"] == "Release?"
    ]
    assert isinstance(found, dict)
    return found


def within(sandbox: Sandbox, line: str, *, status: int | None = None) -> bytes:
    done = sandbox.siding("run", "--no-tty", "--", "sh", "-c", line, status=status)
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "how", ["", BARE, f'{BARE} sh -c \'"$0" "$@"; true\''], ids=["plainly", "bare", "grandchild"]
)
def test_a_gate_is_not_answered_or_cancelled_from_inside(gated: Sandbox, how: str) -> None:
    gate = the_gate(gated)["session_id"]
    said = within(gated, f"{how} siding decide answer {gate} --choose 1=yes")
    assert b"a decision is a person's to make" in said
    said = within(gated, f"{how} siding decide cancel {gate}")
    assert b"inside a task's step" in said
    assert the_gate(gated)["state"] == "open"


def test_a_process_that_left_its_parents_is_still_inside(gated: Sandbox) -> None:
    gate = the_gate(gated)["session_id"]
    said = within(
        gated,
        f"{ORPHAN} {BARE} sh -c 'sleep 0.2; siding decide answer {gate} --choose 1=yes"
        " >said 2>&1; mv said done'; while [ ! -e done ]; do sleep 0.05; done; cat done",
    )
    assert b"a decision is a person's to make" in said
    assert the_gate(gated)["state"] == "open"


def test_a_step_takes_back_only_what_its_own_task_asked(gated: Sandbox) -> None:
    outside = gated.siding("decide", question(), "--no-wait").stdout.decode().strip()
    said = within(gated, f"siding decide cancel {outside}")
    assert b"inside a task's step" in said
    within(gated, f"siding decide '{question('Which?')}' --no-wait >../asked", status=0)
    within(gated, 'siding decide cancel "$(cat ../asked)" --reason "never mind"', status=0)
    (other,) = [
        each
        for each in gated.json("decide", "list", "--all", "--json")
        if each["state"] == "cancelled"
    ]
    assert other["input"]["items"][0]["title"] == "Which?"
    task = other["task_id"]
    assert other["closed_in_step"] == f"{task}/r3"
    shown = gated.siding("decide", "show", other["session_id"]).stdout.decode()
    assert f"inside run {task}/r3" in shown


def test_nobody_asks_the_gates_question_in_its_place(gated: Sandbox) -> None:
    """Else an agent would have a harmless question answered, and the gate would find a yes."""
    gate = the_gate(gated)
    key = f"gate:{gate['task_id']}:some:build:2:1"
    refused = gated.siding("decide", question(), "--key", key, "--no-wait", status=2)
    assert b"--key" in refused.stderr


def test_a_pass_does_not_begin_behind_a_gate_from_inside(gated: Sandbox) -> None:
    said = within(gated, "siding phase start finish 'done already' --again")
    assert b"gate" in said
    assert gated.json("phase", "status", "--json")["current_phase"] == "build"
    within(gated, "siding phase start build 'once more' --again", status=0)
    entry = gated.json("phase", "status", "--json")["history"][-1]
    assert entry["inside_step"] == "r2"
    assert b"inside run r2" in gated.siding("phase", "show").stdout


def test_trust_is_not_given_from_inside(sandbox: Sandbox) -> None:
    (sandbox.repo / ".siding").mkdir()
    (sandbox.repo / ".siding/config.yaml").write_text("hooks: {pre_run: [touch ran]}\n")
    sandbox.siding("task", "start", "T")
    for how in ("", BARE):
        said = within(sandbox, f"cd {sandbox.repo} && {how} siding trust")
        assert b"inside a task's step" in said, said
    assert b"not allowed" in sandbox.siding("trust", "--show").stderr


def test_how_a_gate_was_answered_stays_with_the_move(gated: Sandbox) -> None:
    gate = the_gate(gated)["session_id"]
    gated.siding("decide", "answer", gate, "--choose", "1=yes")
    assert the_gate(gated)["via"] == "flag"
    gated.siding("phase", "next-part", "finish", "done")
    held = gated.json("phase", "status", "--json")["history"][-1]["gates"]
    assert [each["via"] for each in held] == ["flag"]
    assert b"answered by flag" in gated.siding("phase", "status").stdout
    assert b"answered by flag" in gated.siding("phase", "show").stdout
