"""Claude Code itself, under `siding run`, against a model server on loopback."""

import json
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from agents.conftest import ClaudeAtWork
from agents.models import Call
from bwrap import needs_bwrap
from sandbox import Sandbox

POLICY = "version: 1\n"


def shell(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "as asked"})


def judge(task: Sandbox, rules: str = POLICY) -> None:
    """Switch a policy on."""
    (task.repo / ".siding").mkdir(exist_ok=True)
    (task.repo / ".siding" / "policy.yaml").write_text(rules)


def bytes_below(directory: Path) -> dict[str, bytes]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


class TestTurns:
    def test_ten_prompts_are_ten_steps_each_with_its_own_patch(self, claude: ClaudeAtWork) -> None:
        workspace = claude.task.workspace()
        claude.says(
            ["I write.", Call("Write", {"file_path": f"{workspace}/1.txt", "content": "one\n"})],
            ["Written."],
            [shell("echo two >2.txt")],
            ["Done."],
            [shell("git add -A && git commit -qm 'from inside'")],
            ["Committed."],
            ["There is nothing to do."],
            [shell("echo five >5.txt; false")],
            ["It failed, and wrote."],
            [Call("Read", {"file_path": f"{workspace}/2.txt"})],
            [
                Call(
                    "Edit",
                    {"file_path": f"{workspace}/2.txt", "old_string": "two", "new_string": "2"},
                )
            ],
            ["Edited."],
            [shell("rm 1.txt"), shell("echo seven >7.txt")],
            ["Both."],
            [shell("echo eight >8.txt")],
            ["Done."],
            ["Nine is only talk."],
            [shell("mkdir -p deep && echo ten >deep/10.txt")],
            ["All done."],
        )
        talk = claude.talk()
        prompts = [f"Prompt {number}: please\nand more words" for number in range(1, 11)]
        for prompt in prompts:
            assert talk.says(prompt)["subtype"] == "success"
        assert talk.ends() == 0
        turns = claude.turns
        assert [turn["prompt"] for turn in turns] == prompts
        assert [turn["message"] for turn in turns] == [f"Prompt {n}: please" for n in range(1, 11)]
        assert [turn["moment"] for turn in turns] == ["stopped"] * 10
        changed = [sorted(turn["diff_stat"]["file_list"]) for turn in turns]
        assert changed == [
            ["1.txt"],
            ["2.txt"],
            [],
            [],
            ["5.txt"],
            ["2.txt"],
            ["1.txt", "7.txt"],
            ["8.txt"],
            [],
            ["deep/10.txt"],
        ]
        said = claude.run["reported"]
        assert (said["prompts"], said["prompt"]) == (10, "")
        assert {turn["session"] for turn in turns} == {said["session"]}
        assert Path(said["transcript"]).is_file()
        assert {turn["run"] for turn in turns} == {claude.run["run"]}

    def test_undo_takes_the_last_turn_back_and_nothing_else(self, claude: ClaudeAtWork) -> None:
        claude.says(
            [shell("echo one >1.txt && git add 1.txt && git commit -qm one")],
            ["Done."],
            [shell("echo two >2.txt && git add 2.txt && git commit -qm two")],
            ["Done."],
        )
        talk = claude.talk()
        talk.says("The first")
        tip = claude.task.git("rev-parse", "HEAD", cwd=claude.task.workspace())
        talk.says("The second")
        assert talk.ends() == 0
        claude.task.siding("undo")
        workspace = claude.task.workspace()
        assert (workspace / "1.txt").exists()
        assert not (workspace / "2.txt").exists()
        assert claude.task.git("rev-parse", "HEAD", cwd=workspace) == tip

    def test_a_turn_that_was_interrupted_has_its_step_at_the_next_prompt(
        self, claude: ClaudeAtWork
    ) -> None:
        claude.says([shell("echo half >half.txt; sleep 60")], [shell("echo whole >whole.txt")])
        talk = claude.talk()
        talk.types("Take long")
        half = claude.task.workspace() / "half.txt"
        while not half.exists():
            time.sleep(0.01)
        stop = {"type": "control_request", "request_id": "1", "request": {"subtype": "interrupt"}}
        talk.writes(stop)
        talk.until("result")
        talk.says("Another thing")
        talk.ends()
        assert [(turn["message"], turn["moment"]) for turn in claude.turns] == [
            ("Take long", "prompt"),
            ("Another thing", "stopped"),
        ]
        assert claude.turns[0]["diff_stat"]["file_list"] == ["half.txt"]

    def test_what_changes_between_the_turns_is_of_none(self, claude: ClaudeAtWork) -> None:
        claude.says(["Hello."], [shell("echo b >b.txt")], ["Done."])
        talk = claude.talk()
        talk.says("Hello")
        (claude.task.workspace() / "mine.txt").write_text("a person's\n")
        talk.says("Write b")
        talk.ends()
        between = [step for step in claude.task.steps() if step.get("origin") == "running"]
        assert [step["diff_stat"]["file_list"] for step in between] == [["mine.txt"]]
        assert claude.turns[-1]["diff_stat"]["file_list"] == ["b.txt"]


class TestTheirSettings:
    def test_nothing_of_them_is_changed_and_their_hooks_run(self, claude: ClaudeAtWork) -> None:
        ran = claude.task.directory / "ran"
        hook = {"hooks": [{"type": "command", "command": f"echo one >>{ran}"}]}
        path = claude.configure({"hooks": {"Stop": [hook]}})
        before = path.read_bytes()
        given = {
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"echo two >>{ran}"}]}]}
        }
        claude.says(["Hello."])
        claude.prompt("Hello", "--settings", json.dumps(given))
        assert sorted(ran.read_text().split()) == ["one", "two"]
        assert path.read_bytes() == before
        assert len(claude.turns) == 1

    def test_a_settings_file_is_named_from_where_the_agent_runs(self, claude: ClaudeAtWork) -> None:
        ran = claude.task.directory / "ran"
        hook = {"hooks": [{"type": "command", "command": f"echo one >>{ran}"}]}
        theirs = claude.task.workspace() / "theirs.json"
        theirs.write_text(json.dumps({"hooks": {"Stop": [hook]}}))
        claude.says(["Hello."])
        claude.prompt("Hello", "--settings", "theirs.json")
        assert ran.read_text() == "one\n"
        assert len(claude.turns) == 1


class TestVerdicts:
    def test_require_refuses_what_cannot_be_judged(self, claude: ClaudeAtWork) -> None:
        judge(claude.task)
        for words in (["claude", "--bare", "-p", "x"], ["sh", "-c", "true"]):
            done = claude.task.siding("run", "--judge", "require", "--", *words, status=2)
            assert b"must be judged, and cannot be" in done.stderr
        settings = claude.task.project / "config.yaml"
        settings.write_text(json.dumps({"agents": {"judge": "require"}}))
        done = claude.task.siding("run", "--", "aider", "-m", "x", status=2)
        assert b"must be judged, and cannot be" in done.stderr
        claude.task.siding("-q", "run", "--no-record", "--", "true")  # no agent
        settings.unlink()
        (claude.task.repo / ".siding" / "policy.yaml").unlink()
        done = claude.task.siding("run", "--judge", "require", "--", "claude", "-p", "x", status=2)
        assert b"no policy is switched on" in done.stderr
        assert claude.task.steps() == []

    def test_an_agent_that_never_reports_is_named(self, claude: ClaudeAtWork) -> None:
        claude.configure({"disableAllHooks": True})
        claude.says(["Hello."])
        claude.prompt("Hello")
        assert claude.turns == []
        assert any("reported nothing" in note for note in claude.run["notes"])


def test_the_program_is_real(claude: ClaudeAtWork) -> None:
    """No twin of it: what the tests above see is what a person has."""
    path = claude.task.env["PATH"]
    done = subprocess.run(
        ["claude", "--version"], env={"PATH": path, "HOME": "/"}, capture_output=True, check=True
    )
    assert b"Claude Code" in done.stdout


@needs_bwrap
def test_a_person_who_is_asked_sees_what_the_command_would_do(claude: ClaudeAtWork) -> None:
    task = claude.task
    rule = "{name: look, action: ask, reason: it deletes, pattern: '^rm '}"
    judge(task, f"version: 1\nrules: [{rule}]\n")
    build = task.workspace() / "build"
    build.mkdir()
    (task.workspace() / ".gitignore").write_text("build/\n")
    for number in range(3):
        (build / f"{number}.o").write_text(f"{number}\n")
    claude.says([shell("rm -rf build/")], ["Gone."])
    with ThreadPoolExecutor() as pool:
        at_work = pool.submit(claude.prompt, "Clean up", options=["--ask", "wait"])
        effect: Any = None
        while effect is None or effect["state"] == "pending":
            assert not at_work.done()
            entries = task.json("inbox", "--json")
            effect = entries[0]["effect"] if entries else None
        assert (effect["state"], effect["summary"]) == ("tried", "deletes 3 files: build/")
        assert [each["path"] for each in effect["touched"]] == [f"build/{n}.o" for n in range(3)]
        assert len(list(build.iterdir())) == 3
        task.siding("decide", "answer", entries[0]["session_id"], "-c", "1=run")
        at_work.result(60)
    assert not build.exists()


class TestLimits:
    def test_a_prompt_waits_at_a_limit_until_a_person_lets_it_go_on(
        self, claude: ClaudeAtWork
    ) -> None:
        task = claude.task
        (task.project / "config.yaml").write_text("usage: {task: 50, at_limit: pause}\n")
        server = claude.says(["The first answer has more tokens than that."], ["And more."])
        talk = claude.talk()
        talk.says("The first")
        with ThreadPoolExecutor() as pool:
            second = pool.submit(talk.says, "The second")
            while not (asked := task.json("inbox", "--json")):
                assert not second.done()
            assert "has used 121 tokens; the limit is 50 tokens" in asked[0]["title"] + str(
                task.json("decide", "show", asked[0]["session_id"], "--json")
            )
            assert len(server.requests) == 1
            task.siding("decide", "answer", asked[0]["session_id"], "--choose", "1=all")
            assert second.result(60)["subtype"] == "success"
        assert talk.ends() == 0
        assert [turn["prompt"] for turn in claude.turns] == ["The first", "The second"]
        (note,) = claude.run["notes"]
        assert note.endswith("a person let it go on")
