"""What an agent reports to its broker, without an agent: the words of its hooks are typed here."""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox import Sandbox

from .inside import Foothold, foothold

# Put together here, so that nobody who looks for secrets in this file finds one.
SECRET = "ghp_" + "A1b2C3d4E5" * 3 + "F6g7H8"


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "reports")
    return sandbox


@pytest.fixture
def run(task: Sandbox) -> Iterator[Foothold]:
    with foothold(task) as found:
        yield found


def says(run: Foothold, event: str, **fields: Any) -> dict[str, Any]:
    """Report as Claude Code does; return what its program prints."""
    payload = {"session_id": "s1", "transcript_path": "/t/s1.jsonl", "hook_event_name": event}
    told = run.line().result("report", agent="claude", payload={**payload, **fields})
    return dict(told)


def turns(task: Sandbox) -> list[dict[str, Any]]:
    return [step for step in task.steps() if step.get("origin") == "turn"]


def test_a_prompt_and_its_end_are_a_turn(run: Foothold) -> None:
    says(run, "SessionStart", source="startup")
    says(run, "UserPromptSubmit", prompt="\n  Write a\nand more")
    (run.workspace / "a.txt").write_text("a\n")
    says(run, "Stop")
    (turn,) = turns(run.task)
    assert (turn["message"], turn["moment"], turn["session"]) == ("Write a", "stopped", "s1")
    assert turn["prompt"] == "\n  Write a\nand more"
    assert "a.txt" in turn["diff_stat"]["file_list"]
    shown = run.task.siding("show", str(turn["step_id"])).stdout.decode()
    assert "Write a" in shown
    says(run, "Stop")  # nothing was begun
    assert len(turns(run.task)) == 1


def test_a_background_task_that_ends_is_no_prompt_of_a_person(run: Foothold) -> None:
    says(run, "UserPromptSubmit", prompt="Start it")
    says(run, "Stop")
    says(run, "UserPromptSubmit", prompt="<task-notification>it has ended</task-notification>")
    says(run, "Stop")
    assert [turn["prompt"] for turn in turns(run.task)] == ["Start it"]
    run.task.siding("stop", "--all")
    assert run.task.steps()[-1]["reported"]["prompts"] == 1


def test_the_end_of_a_helper_is_of_the_turn_that_it_ends_in(run: Foothold) -> None:
    says(run, "UserPromptSubmit", prompt="Have it counted", prompt_id="p1")
    says(
        run,
        "UserPromptSubmit",
        prompt="<task-notification>done</task-notification>",
        prompt_id="p2",
    )
    says(run, "Stop")
    (turn,) = turns(run.task)
    assert (turn["prompt"], turn["turn"], turn["moment"]) == ("Have it counted", "p1", "stopped")


def test_an_end_that_is_told_late_ends_no_other_turn(run: Foothold) -> None:
    says(run, "UserPromptSubmit", prompt="One", prompt_id="p1")
    says(run, "UserPromptSubmit", prompt="Two", prompt_id="p2")
    says(run, "StopFailure", prompt_id="p1")
    assert [turn["prompt"] for turn in turns(run.task)] == ["One"]
    says(run, "Stop", prompt_id="p2")
    assert [turn["moment"] for turn in turns(run.task)] == ["prompt", "stopped"]


def test_the_end_of_a_turn_whose_helpers_still_work_is_none(run: Foothold) -> None:
    says(run, "UserPromptSubmit", prompt="Have it counted", prompt_id="p1")
    helper = {"id": "a", "type": "subagent", "status": "running"}
    says(run, "Stop", prompt_id="p1", background_tasks=[helper])
    (run.workspace / "counted.txt").write_text("3\n")
    note = "<task-notification>done</task-notification>"
    says(run, "UserPromptSubmit", prompt=note, prompt_id="p2")
    server = {"id": "b", "type": "shell", "status": "running"}
    says(run, "Stop", prompt_id="p2", background_tasks=[server])
    (turn,) = turns(run.task)
    assert (turn["prompt"], turn["moment"]) == ("Have it counted", "stopped")
    assert "counted.txt" in turn["diff_stat"]["file_list"]


def test_secrets_of_a_prompt_are_not_kept(run: Foothold) -> None:
    says(run, "UserPromptSubmit", prompt=f"Use {SECRET} for it")
    says(run, "Stop")
    run.task.siding("stop", "--all")
    for path in run.task.project.glob("tasks/**/*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path


def test_what_it_waits_for_is_in_the_inbox_and_calls(run: Foothold) -> None:
    called = run.task.directory / "called"
    home = run.task.project / "config.yaml"
    home.write_text(json.dumps({"hooks": {"notify": [f'echo "$SIDING_WAITS_TITLE" >>{called}']}}))
    for _ in range(2):  # the same again calls nobody
        says(run, "Notification", message="Claude needs your permission to use Bash")
    (entry,) = run.task.json("inbox", "--json")
    assert entry["kind"] == "agent"
    assert entry["title"] == "Claude needs your permission to use Bash"
    assert called.read_text() == "Claude needs your permission to use Bash\n"
    (row,) = run.task.json("runs", "--format", "json")
    assert row["waits"] == entry["title"]
    assert b"you: Claude needs your permission" in run.task.siding("runs").stdout
    assert "needs your permission" in run.task.siding("today").stdout.decode()
    says(run, "UserPromptSubmit", prompt="Go on")
    assert run.task.json("inbox", "--json") == []


def test_the_end_of_the_run_leaves_no_file_of_it(run: Foothold) -> None:
    says(run, "UserPromptSubmit", prompt="Work")
    assert list(run.task.project.glob("tasks/*/runs/*.agent"))
    run.task.siding("stop", "--all")
    assert not list(run.task.project.glob("tasks/*/runs/*.agent"))


def test_of_a_report_only_what_it_is_about_is_kept(run: Foothold) -> None:
    """An agent reports all day, and what it writes into files is not the record's."""
    call = {"tool_name": "Bash", "tool_input": {"command": "ls", "more": "x" * 500}}
    says(run, "PreToolUse", **call)
    run.task.siding("stop", "--all")
    (path,) = run.task.project.glob("tasks/*/artifacts/*.requests")
    asked, answered = map(json.loads, path.read_text().splitlines())
    del asked["at"], answered["at"]
    assert asked == {"do": "report", "agent": "claude", "event": "PreToolUse", "command": "ls"}
    assert answered == {"answered": "report", "action": "allow", "runs": True}


def test_a_run_that_makes_no_step_has_no_turns(task: Sandbox) -> None:
    with foothold(task, "--no-record") as run:
        says(run, "UserPromptSubmit", prompt="Write a")
        (run.workspace / "a.txt").write_text("a\n")
        says(run, "Stop")
    assert turns(task) == []


def test_who_is_no_agent_is_refused(run: Foothold) -> None:
    line = run.line()
    for agent in ("nobody", "amp", ""):
        assert line.refused("report", agent=agent, payload={}) == "bad_request"
    nothing: tuple[object, ...] = (None, [], "x", 1)
    for payload in nothing:
        assert line.refused("report", agent="claude", payload=payload) == "bad_request"
    assert turns(run.task) == []


LEAF = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
INNER = LEAF | st.lists(LEAF, max_size=3) | st.dictionaries(st.text(max_size=9), LEAF, max_size=3)
JSON = INNER | st.lists(INNER, max_size=3) | st.dictionaries(st.text(max_size=9), INNER, max_size=3)
FIELDS = ("session_id", "transcript_path", "prompt", "tool_input", "cwd", "message")
EVENTS = ["SessionStart", "UserPromptSubmit", "Notification", "Stop", "PreToolUse", "Else"]


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    payload=st.fixed_dictionaries(
        {"hook_event_name": st.sampled_from(EVENTS) | JSON},
        optional=dict.fromkeys(
            ("session_id", "transcript_path", "prompt", "tool_input", "cwd", "message"), JSON
        ),
    )
)
def test_any_words_are_answered(run: Foothold, payload: dict[str, Any]) -> None:
    """Whatever an agent says, the broker answers as a broker, and the task's ledger stays whole."""
    answer = run.line().ask("report", agent="claude", payload={"tool_name": "Bash", **payload})
    assert answer["ok"] is True or answer["error"]["code"] in {"bad_request", "too_much"}
    if answer["ok"]:
        assert isinstance(answer["result"]["output"], str)
    run.lines.pop().close()


def test_the_ledger_is_whole_after_it(run: Foothold, tmp_path: Path) -> None:
    del tmp_path
    for number in range(5):
        says(run, "UserPromptSubmit", prompt=f"Prompt {number}")
        (run.workspace / f"{number}.txt").write_text("x\n")
    run.task.siding("stop", "--all")
    run.task.siding("verify")
    assert [turn["moment"] for turn in turns(run.task)] == [*["prompt"] * 4, "ended"]
    assert turns(run.task)[-1]["prompt"] == "Prompt 4"
    assert turns(run.task)[-1]["diff_stat"]["file_list"] == ["4.txt"]


def test_a_turn_that_ends_with_its_run_is_recorded_once(run: Foothold) -> None:
    says(run, "UserPromptSubmit", prompt="One")
    says(run, "Stop")
    run.task.siding("stop", "--all")
    assert [turn["moment"] for turn in turns(run.task)] == ["stopped"]


def test_an_agent_of_ones_own_reports_by_plain_words(run: Foothold) -> None:
    (run.task.repo / ".siding").mkdir(exist_ok=True)
    (run.task.repo / ".siding" / "policy.yaml").write_text("version: 1\n")

    def tells(moment: str, **fields: Any) -> dict[str, Any]:
        payload = {"moment": moment, "session": "s1", **fields}
        told = run.line().result("report", agent="any", payload=payload)
        answer = json.loads(told["output"] or "{}")
        assert isinstance(answer, dict)
        return answer

    assert "siding decide" in tells("session", new=True)["tell"]
    assert tells("prompt", text="Write a") == {}
    assert tells("tool", command="ls", cwd=str(run.workspace)) == {}
    assert "Siding's policy blocks this" in tells("tool", command="rm -rf /")["deny"]
    tool = {"tool": "save", "cwd": str(run.workspace)}
    assert tells("tool", **tool, writes=["a.txt"], reads="b.txt") == {}
    denied = tells("tool", **tool, writes=["a.txt", str(run.task.project / "project.json")])
    assert "changes Siding's own records" in denied["deny"]
    tells("waits", text="May I?")
    (entry,) = run.task.json("inbox", "--json")
    assert entry["title"] == "May I?"
    tells("goes-on")
    assert run.task.json("inbox", "--json") == []
    (run.workspace / "a.txt").write_text("a\n")
    tells("stopped")
    (turn,) = turns(run.task)
    assert (turn["message"], turn["session"]) == ("Write a", "s1")
    run.task.siding("undo")
    assert "Taken back: your work on “Write a”" in tells("prompt", text="Go on")["tell"]
    assert tells("unheard") == {}


def test_a_person_is_asked_about_a_file_by_its_name(run: Foothold) -> None:
    (run.task.repo / ".siding").mkdir(exist_ok=True)
    (run.task.repo / ".siding" / "policy.yaml").write_text("version: 1\n")
    home = Path(run.task.env["HOME"])
    given = {"file_path": str(home / "notes.md"), "content": "x"}
    using = {"tool_name": "Write", "tool_input": given, "cwd": str(run.workspace)}
    payload = {"session_id": "s1", "hook_event_name": "PreToolUse", **using}
    line = run.line()
    line.say(json.dumps({"do": "report", "agent": "claude", "payload": payload}).encode() + b"\n")
    waiting: list[dict[str, Any]] = []
    while not waiting:
        waiting = run.task.json("decide", "list", "--json")
    (session,) = (each["session_id"] for each in waiting)
    shown = run.task.siding("decide", "show", session).stdout.decode()
    assert f"Write {given['file_path']}" in shown
    run.task.siding("decide", "answer", session, "-c", "1=refuse", "-n", "1=keep it here")
    told = line.answer()["result"]["output"]
    assert "a person was asked and refused" in told
    assert "they say: keep it here" in told


def test_an_agent_that_does_not_believe_our_settings_is_not_said_to_be_judged(
    task: Sandbox,
) -> None:
    """Here they would lie in a directory that others can replace."""
    programs = task.directory / "programs"
    programs.mkdir()
    (programs / "gemini").write_text("#!/bin/sh\necho at work >made.txt\n")
    (programs / "gemini").chmod(0o755)
    task.env |= {"PATH": f"{programs}:{task.env['PATH']}"}
    (task.repo / ".siding").mkdir()
    (task.repo / ".siding" / "policy.yaml").write_text("version: 1\n")
    with TemporaryDirectory(dir="/tmp") as shared:
        task.env["XDG_RUNTIME_DIR"] = shared
        required = task.siding("run", "--judge", "require", "--", "gemini", status=2)
        wanted = task.siding("run", "--", "gemini")
    told = required.stderr.decode()
    assert "must be judged, and cannot be" in told
    assert "nobody but root" in told
    assert "no turns, and no command was judged" in wanted.stderr.decode()
    assert len(task.steps()) == 1
    assert task.steps()[-1]["reported"]["judge"] == "off"
