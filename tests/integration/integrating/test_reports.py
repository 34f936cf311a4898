"""What an integrated agent reports, through the program that its hooks start."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import siding
from client_homes import put, session_id
from integration.usage import homes
from integration.usage.test_runs import answers
from sandbox import Sandbox

PROGRAM = Path(siding.__file__).parent / "ground/process/broker/integrated.py"
EARLIER = Path(siding.__file__).parent / "process/broker/integrated.py"


class Says:
    """Claude Code, as far as its hooks are concerned, in one conversation."""

    def __init__(
        self, sandbox: Sandbox, where: Path, session: str = "session-1", transcript: str = "/t"
    ) -> None:
        self._sandbox = sandbox
        self._where = where
        self._session = session
        self._transcript = transcript
        self._prompts = 0
        self.program = PROGRAM

    def meanwhile(self, text: str) -> str:
        """A prompt that is typed while a turn runs has the id of that turn."""
        return self._event("UserPromptSubmit", prompt=text, prompt_id=f"p{self._prompts}")

    def prompt(self, text: str) -> str:
        self._prompts += 1
        return self._event("UserPromptSubmit", prompt=text, prompt_id=f"p{self._prompts}")

    def stops(self) -> str:
        return self._event("Stop")

    def _event(self, name: str, **more: str) -> str:
        words = {
            "hook_event_name": name,
            "session_id": self._session,
            "transcript_path": self._transcript,
            **more,
        }
        done = subprocess.run(
            [sys.executable, "-S", "-E", "-I", str(self.program), "claude"],
            cwd=self._where,
            env=self._sandbox.env,
            input=json.dumps(words).encode(),
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()


def turns(sandbox: Sandbox) -> list[dict[str, Any]]:
    found = sandbox.json("turns", "--json")
    assert isinstance(found, list)
    return found


@pytest.fixture
def known(sandbox: Sandbox) -> Sandbox:
    """A sandbox whose repository is a project, without a task."""
    sandbox.siding("init")
    return sandbox


def test_a_turn_has_its_own_change_alone(known: Sandbox) -> None:
    says, repo = Says(known, known.repo), known.repo
    (repo / "before").write_text("1\n")
    says.prompt("First\nwith more")
    (repo / "first").write_text("1\n")
    says.stops()
    (repo / "between").write_text("1\n")
    says.prompt("Second")
    (repo / "first").unlink()
    says.stops()
    found = turns(known)
    assert [each["prompt"] for each in found] == ["First\nwith more", "Second"]
    patches = [known.siding("turns", str(each["number"])).stdout for each in found]
    assert [patch.count(b"diff --git") for patch in patches] == [1, 1]
    assert b"+++ b/first" in patches[0]
    assert b"--- a/first" in patches[1]


def test_hooks_of_an_earlier_version_still_report(known: Sandbox) -> None:
    """The settings of an agent name the path that the program had when it was integrated."""
    says = Says(known, known.repo)
    says.program = EARLIER
    says.prompt("First")
    (known.repo / "first").write_text("1\n")
    says.stops()
    assert [each["prompt"] for each in turns(known)] == ["First"]


def test_what_a_turn_has_changed_can_be_taken_out(known: Sandbox) -> None:
    says, repo = Says(known, known.repo), known.repo
    says.prompt("Do it")
    (repo / "hello.txt").write_bytes(b"changed\0\xff\n")
    (repo / "new").mkdir()
    (repo / "new" / "file").write_text("new\n")
    says.stops()
    patch = known.siding("turns", "last").stdout
    subprocess.run(["git", "apply", "-R"], cwd=repo, env=known.env, input=patch, check=True)
    assert known.git("status", "--porcelain") == ""


def test_a_turn_whose_end_was_not_told_ends_at_the_next_prompt(known: Sandbox) -> None:
    says, repo = Says(known, known.repo), known.repo
    says.prompt("Cut off")
    (repo / "a").write_text("1\n")
    (listed,) = turns(known)
    assert not listed["after"]
    assert b"has not ended" in known.siding("turns", "1", status=2).stderr
    assert b"(not ended)" in known.siding("turns").stdout
    says.prompt("Next")
    says.stops()
    assert [(each["files"], each["moment"]) for each in turns(known)] == [
        (1, "prompt"),
        (0, "stopped"),
    ]


def test_what_is_typed_while_a_turn_runs_is_of_the_turn(known: Sandbox) -> None:
    """As in a run: all that the model got in the turn is named, and what waited begins the next."""
    transcript = homes.claude(Path(known.env["HOME"]), homes.CLAUDE, [])
    says, repo = Says(known, known.repo, homes.CLAUDE, str(transcript)), known.repo

    def writes(**record: Any) -> None:
        with transcript.open("a") as file:
            file.write(json.dumps(record, separators=(",", ":")) + "\n")

    def queues(operation: str, content: str = "") -> None:
        writes(type="queue-operation", operation=operation, content=content)

    def takes(prompt: str) -> None:
        """The model gets what was typed."""
        says.meanwhile(prompt)
        queues("enqueue", prompt)
        queues("remove", prompt)
        queued = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}
        writes(type="attachment", attachment={**queued, "origin": {"kind": "human"}})

    says.prompt("do alpha")
    (repo / "a").write_text("1\n")
    takes("do beta")
    (repo / "b").write_text("1\n")
    says.meanwhile("do gamma")
    queues("enqueue", "do gamma")
    says.stops()
    (repo / "c").write_text("1\n")
    queues("dequeue")
    says.stops()
    found = turns(known)
    assert [[each["prompt"], *each["later_prompts"]] for each in found] == [
        ["do alpha", "do beta"],
        ["do gamma"],
    ]
    assert [each["files"] for each in found] == [2, 1]
    assert "do alpha · do beta" in known.siding("turns").stdout.decode()

    # What was known of the conversation is lost: the journal alone says that a turn is under way.
    says.prompt("do delta")
    for known_of_it in known.project.rglob("checkout-*/*.agent"):
        known_of_it.unlink()
    takes("do epsilon")
    says.stops()
    last = turns(known)[-1]
    assert (last["prompt"], last["later_prompts"]) == ("do delta", ["do epsilon"])
    assert last["moment"] == "stopped"


def test_two_conversations_at_once_have_turns_of_their_own(known: Sandbox) -> None:
    one, two = Says(known, known.repo, "one"), Says(known, known.repo, "two")
    one.prompt("One")
    two.prompt("Two")
    (known.repo / "a").write_text("1\n")
    two.stops()
    one.stops()
    two.stops()  # of nothing: there was no prompt
    assert [(each["session"], each["prompt"]) for each in turns(known)] == [
        ("one", "One"),
        ("two", "Two"),
    ]


def test_what_nobody_typed_is_no_prompt_of_its_own(known: Sandbox) -> None:
    says = Says(known, known.repo)
    says.prompt("Start a server")
    says.prompt("<task-notification>it has ended</task-notification>")
    says.stops()
    Says(known, known.repo, "another").prompt("Meanwhile")
    says.prompt("<task-notification>and another</task-notification>")
    says.stops()
    prompts = [each["prompt"] for each in turns(known)]
    assert prompts == ["Start a server", "Meanwhile", "Start a server"]


def test_in_a_workspace_the_end_of_a_helper_is_of_its_turn(known: Sandbox) -> None:
    known.siding("task", "start", "job")
    says = Says(known, known.workspace())
    says.prompt("Have it counted")
    (known.workspace() / "one").write_text("1\n")
    says.prompt("<task-notification>it has ended</task-notification>")
    says.stops()
    (step,) = known.steps()
    assert (step["prompt"], step["turn"], step["moment"]) == ("Have it counted", "p1", "stopped")


def test_secrets_are_not_kept(known: Sandbox) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    Says(known, known.repo).prompt(f"use {secret}")
    assert secret.encode() not in b"".join(
        path.read_bytes() for path in known.project.rglob("*") if path.is_file()
    )
    assert "[redacted" in turns(known)[0]["prompt"]


def test_a_branch_without_a_commit_has_no_turns(known: Sandbox) -> None:
    known.git("checkout", "-q", "--orphan", "empty")
    says = Says(known, known.repo)
    says.prompt("Begin")
    says.stops()
    assert turns(known) == []


def test_a_worktree_of_the_persons_has_turns_of_its_own(known: Sandbox, tmp_path: Path) -> None:
    known.git("worktree", "add", "-q", str(tmp_path / "other"))
    (tmp_path / "other" / "below").mkdir()
    says = Says(known, tmp_path / "other" / "below")
    says.prompt("There")
    says.stops()
    assert turns(known) == []
    there = known.siding("turns", "--json", cwd=tmp_path / "other").stdout
    assert [each["prompt"] for each in json.loads(there)] == ["There"]


def test_gc_and_doctor_leave_turns_alone(known: Sandbox) -> None:
    known.siding("task", "start", "done")
    known.siding("run", "--", "sh", "-c", "echo 1 > in-task")
    known.siding("task", "close", "done", "--delete", "--force", cwd=known.repo)
    says = Says(known, known.repo)
    says.prompt("Write")
    (known.repo / "a").write_text("kept?\n")
    says.stops()
    (known.repo / "a").unlink()
    for words in (["gc"], ["gc", "--older", "1d", "--yes"], ["doctor"]):
        done = known.siding(*words)
        assert b"checkout-" not in done.stdout + done.stderr, words
    assert b"+kept?" in known.siding("turns", "1").stdout


def test_in_a_workspace_a_turn_is_a_step_that_can_be_taken_back(known: Sandbox) -> None:
    known.siding("task", "start", "job")
    where = known.workspace()
    says = Says(known, where)
    (where / "mine").write_text("1\n")
    says.prompt("Write one")
    (where / "one").write_text("1\n")
    says.stops()
    steps = known.steps()
    assert [step.get("origin") for step in steps] == ["outside", "turn"]
    assert steps[1]["diff_stat"]["file_list"] == ["one"]
    assert (steps[1]["agent"], steps[1]["session"], steps[1]["turn"]) == (
        "claude",
        "session-1",
        "p1",
    )
    known.siding("undo")
    assert (where / "mine").exists()
    assert not (where / "one").exists()
    told = says.prompt("Now two")
    assert (
        "Taken back: your work on “Write one”"
        in json.loads(told)["hookSpecificOutput"]["additionalContext"]
    )
    says.stops()
    assert says.prompt("And three") == ""  # it was told
    rewound = known.json("rewind", "--list", "--json")
    assert rewound[0]["again"] == ["claude", "--resume", "session-1"]
    assert rewound[0]["agent"] == "claude"


def test_in_a_workspace_a_turn_has_what_was_used_in_it(known: Sandbox) -> None:
    known.siding("task", "start", "work")
    old = homes.answered("2026-01-01T12:00:01.000Z", "L", 9_000)
    transcript = homes.claude(Path(known.env["HOME"]), homes.CLAUDE, [old])
    says = Says(known, known.workspace(), homes.CLAUDE, str(transcript))
    for message, tokens in (("M", 700), ("N", 30)):
        says.prompt("more")
        answers(transcript, message, tokens)
        says.stops()
    used = [step["usage"]["claude-opus-4-8"]["input"] for step in known.steps()]
    assert used == [700, 30]


def test_outside_of_a_project_and_in_a_run_nothing_happens(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    def home() -> Sequence[Path]:
        return sorted(Path(sandbox.env["SIDING_HOME"]).rglob("*"))

    before = home()
    Says(sandbox, sandbox.repo).prompt("Of no project")
    (tmp_path / "bare").mkdir()
    Says(sandbox, tmp_path / "bare").prompt("Of no repository")
    assert home() == before
    sandbox.siding("init")
    before = home()
    sandbox.env["SIDING_RUN_ID"] = "r1"
    Says(sandbox, sandbox.repo).prompt("In a run")
    assert home() == before


def test_whatever_goes_wrong_keeps_no_agent_from_its_prompt(known: Sandbox) -> None:
    """An exit status of 2 would: that of a mistake in the settings, as of any usage error."""
    (known.project / "config.yaml").write_text("redaction: 7\nno_such: [\n")
    for words in (b"{}", b"", b"[]", b'{"hook_event_name":"Stop","session_id":"s"}'):
        done = known.siding("__report", "claude", stdin=words, status=None)
        assert done.returncode in (0, 1), (words, done.stderr)
    assert b"not recorded" in done.stderr
    assert known.siding("status", status=None).returncode == 2


def test_in_a_workspace_the_list_of_turns_says_where_they_are(known: Sandbox) -> None:
    known.siding("task", "start", "job")
    done = known.siding("turns", cwd=known.workspace(), status=2)
    assert b"siding log" in done.stderr


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_conversation_shows_the_step_of_each_turn(known: Sandbox, form: str) -> None:
    known.siding("task", "start", "job")
    where = known.workspace()
    session = session_id(1)
    path = put(known.directory / "home", "claude", 1, cwd=str(where))
    says = Says(known, where, session)
    says.prompt("Write one")
    (where / "one").write_text("1\n")
    says.stops()
    last = [json.loads(line) for line in path.read_bytes().splitlines()]
    parent = [each["uuid"] for each in last if each.get("type") in ("user", "assistant")][-1]
    later = {
        "type": "user",
        "uuid": "77777777-2222-4333-8444-555555555555",
        "parentUuid": parent,
        "sessionId": session,
        "timestamp": "2099-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": "Something later"},
    }
    with path.open("a") as file:
        file.write(json.dumps(later) + "\n")
    shown = known.siding("session", "show", session, "--format", form).stdout.decode()
    before, step, after = shown.partition("step 0001 of task job: 1 file +1 -0")
    assert step
    assert "Something later" not in before
    assert "Something later" in after
    row = known.json("session", "list", "--task", "job", "--format", "json")[0]
    assert (row["id"], row["step"]) == (session, 1)
    assert session in known.siding("show", "1").stdout.decode()
