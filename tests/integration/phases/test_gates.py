"""Gates: what must hold, recorded as a step, about exactly the files that are then committed."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox


def gated(sandbox: Sandbox, *gates: object) -> Sandbox:
    sandbox.siding("task", "start", "T")
    phases = {"names": ["build", "finish"], "gates": {"build": list(gates)}}
    (sandbox.project / "config.yaml").write_text(json.dumps({"version": 1, "phases": phases}))
    sandbox.siding("phase", "start", "build", "begin")
    return sandbox


def last(sandbox: Sandbox) -> dict[str, Any]:
    record = sandbox.json("phase", "status", "--json")["history"][-1]
    assert isinstance(record, dict)
    return record


def test_a_gates_command_is_a_step_of_the_task(sandbox: Sandbox) -> None:
    gated(sandbox, "echo checked; echo report >report.txt")
    done = sandbox.siding("phase", "next-part", "finish", "on")
    assert b"checked" in done.stderr
    (gate,) = last(sandbox)["gates"]
    step = next(each for each in sandbox.steps() if each["step_id"] == gate["step_id"])
    assert step["cmd"] == ["/bin/sh", "-c", "echo checked; echo report >report.txt"]
    assert (gate["exit_code"], step["exit_code"]) == (0, 0)
    assert sandbox.git("show", "HEAD:report.txt", cwd=sandbox.workspace()) == "report"


def test_a_gate_that_does_not_hold_is_a_failed_step_and_no_move(sandbox: Sandbox) -> None:
    gated(sandbox, "echo no; exit 3", "touch second")
    sandbox.siding("phase", "next-part", "finish", "on", status=1)
    assert last(sandbox)["action"] == "start"
    assert sandbox.steps()[-1]["exit_code"] == 3
    assert not (sandbox.workspace() / "second").exists()
    (found,) = sandbox.json("inbox", "--json")
    assert found["kind"] == "failed"


def test_the_policy_judges_gates_as_it_judges_runs(sandbox: Sandbox) -> None:
    gated(sandbox, "sudo true")
    (sandbox.repo / ".siding").mkdir()
    (sandbox.repo / ".siding/policy.yaml").write_text("version: 1\n")
    done = sandbox.siding("phase", "next-part", "finish", "on", status=1)
    assert b"cannot be left" in done.stderr
    assert sandbox.steps()[-1]["status"] == "blocked"


def test_files_that_change_after_the_gates_are_not_committed_unseen(sandbox: Sandbox) -> None:
    """A git of the tests' own writes into the workspace once the gate's step is recorded."""
    gated(sandbox, "true")
    (ledger,) = sandbox.project.glob("tasks/*/ledger.jsonl")
    late = sandbox.workspace() / "late"
    env = git_that_first(sandbox, f"grep -qs /bin/sh {ledger} && echo late >{late}")
    done = sandbox.siding("phase", "next-part", "finish", "on", status=1, env=env)
    assert late.exists(), done
    assert b"the workspace changed after its gates ran" in done.stderr
    assert last(sandbox)["action"] == "start"
    sandbox.siding("phase", "next-part", "finish", "on")
    assert sandbox.git("show", "HEAD:late", cwd=sandbox.workspace()) == "late"


def test_files_that_change_while_the_commit_is_made_are_not_in_it(sandbox: Sandbox) -> None:
    """A git of the tests' own writes into the workspace when it is asked who commits."""
    gated(sandbox, "true")
    late = sandbox.workspace() / "late"
    env = git_that_first(sandbox, f'case "$*" in *" var "*) echo late >{late};; esac')
    sandbox.siding("phase", "next-part", "finish", "on", env=env)
    assert late.exists()
    assert sandbox.git("ls-tree", "--name-only", "HEAD", "late", cwd=sandbox.workspace()) == ""


def git_that_first(sandbox: Sandbox, script: str) -> dict[str, str]:
    """Return an environment in which each git runs `script` before it does its work."""
    real = shutil.which("git", path=sandbox.env["PATH"])
    tools = sandbox.directory / "tools"
    tools.mkdir()
    (tools / "git").write_text(f'#!/bin/sh\n{script}\nexec {real} "$@"\n')
    (tools / "git").chmod(0o755)
    return {"PATH": f"{tools}:{sandbox.env['PATH']}"}


def test_inside_a_run_a_gate_is_a_step_of_its_own(sandbox: Sandbox) -> None:
    gated(sandbox, "test -e ready")
    refused = sandbox.siding(
        "run", "--no-tty", "--", "siding", "phase", "next-part", "finish", "on", status=1
    )
    assert b"ended with 1" in refused.stderr
    script = "touch ready; siding phase next-part finish on"
    sandbox.siding("run", "--no-tty", "--", "sh", "-c", script)
    (gate,) = last(sandbox)["gates"]
    assert gate["exit_code"] == 0
    runs = {each["step_id"]: each["cmd"] for each in sandbox.steps() if each["kind"] == "run"}
    assert runs[gate["step_id"]] == ["/bin/sh", "-c", "test -e ready"]
    assert [each[0] for each in runs.values()] == ["/bin/sh", "siding", "/bin/sh", "sh"]


def test_what_a_gate_printed_inside_a_run_is_kept_without_secrets(sandbox: Sandbox) -> None:
    secret = "ghp_" + "a1B2" * 9
    gated(sandbox, f"printf %s%s ghp_ {secret[4:]}")
    sandbox.siding("run", "--no-tty", "--", "siding", "phase", "next-part", "finish", "on")
    (gate,) = last(sandbox)["gates"]
    kept = sandbox.siding("show", gate["step_id"], "--raw").stdout
    assert kept
    assert secret.encode() not in kept


def test_a_question_at_the_gate_is_put_once_and_again_after_a_no(sandbox: Sandbox) -> None:
    gated(sandbox, {"ask": "Good?"})
    for _ in range(2):
        sandbox.siding("phase", "next-part", "finish", "on", status=1)
    (first,) = sandbox.json("decide", "list", "--json")
    assert first["input"]["items"][0]["title"] == "Good?"
    sandbox.siding("decide", "answer", "--choose", "1=no")
    sandbox.siding("phase", "next-part", "finish", "on", status=1)
    assert sandbox.json("decide", "list", "--json") == []
    sandbox.siding("phase", "next-step", "better")
    sandbox.siding("phase", "next-part", "finish", "on", status=1)
    (second,) = sandbox.json("decide", "list", "--json")
    assert second["session_id"] != first["session_id"]
    sandbox.siding("decide", "answer", "--choose", "1=yes")
    sandbox.siding("phase", "next-part", "finish", "on")
    assert last(sandbox)["gates"][0]["session_id"] == second["session_id"]


@pytest.mark.parametrize("chosen", ["now", "later"])
def test_a_decision_with_a_key_must_be_answered_as_the_gate_wants(
    sandbox: Sandbox, chosen: str
) -> None:
    gated(sandbox, {"decision": "ship-{task}", "chosen": "now"})
    task = sandbox.json("phase", "status", "--json")["task"]
    options = [{"value": "now", "label": "Now"}, {"value": "later", "label": "Later"}]
    item = {"id": 1, "title": "When?", "options": options}
    question = json.dumps({"task": "t", "source": "s", "items": [item]})
    said = sandbox.siding("phase", "next-part", "finish", "on", status=1).stderr.decode()
    assert f"siding decide --key ship-{task}" in said
    sandbox.siding("decide", question, "--key", f"ship-{task}", "--no-wait")
    sandbox.siding("decide", "answer", "--choose", f"1={chosen}")
    status = 0 if chosen == "now" else 1
    sandbox.siding("phase", "next-part", "finish", "on", status=status)
    assert Path(sandbox.workspace()).is_dir()
