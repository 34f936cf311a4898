"""A whole task: scripted model, real tools, a session on the disk; and a process that is killed.

The model answers by what the tools have returned, and says so if an edit went wrong.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from siding.agents.transcripts.messages import tool_results, tool_uses
from siding.agents.transcripts.store import SessionStore

ID = "5a3d1c2e-0000-4000-8000-000000000003"
WORKER = Path(__file__).with_name("worker.py")

FIX = r"""
answers:
  - match: fix (\S+)
    steps:
      - text: I look.
        tools: [{Read: {file_path: "{1}"}}]
      - results: 'return a - (?P<name>\w)'
        tools: [{Edit: {file_path: "{1}", old_string: "a - {name}", new_string: "a + {name}"}}]
        otherwise: {text: This is not the file that I know.}
      - lacks: rror
        tools: [{Bash: {command: "python3 -c 'import calc; print(calc.add(2, 3))'"}}]
        otherwise: {text: The edit went wrong.}
      - results: '5'
        text: "{1} is fixed."
        otherwise: {text: It still does not add.}
"""
KILL = r"""
answers:
  - match: die
    steps:
      - tools: [{Bash: {command: "echo once >>ran; kill -9 $AGENT"}}]
      - text: I went on.
  - match: go on
    text: Here I am.
"""
STEPS = r"""
answers:
  - match: begin
    steps:
      - text: First.
        tools: [{Read: {file_path: calc.py}}, {Bash: {command: "echo one >>ran"}}]
      - tools: [{Bash: {command: "echo two >>ran"}}]
      - text: Done.
  - match: go on
    text: Here I am.
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    real = tmp_path.resolve()
    for name in ("work", "home", "sessions"):
        (real / name).mkdir()
    (real / "work/calc.py").write_text("def add(a, b):\n    return a - b\n")
    return real


def started(root: Path, script: str, prompt: str, **more: str) -> subprocess.CompletedProcess[str]:
    file = root / "script.yaml"
    file.write_text(script)
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **more}
    words = [sys.executable, str(WORKER), str(root), ID, str(file), prompt]
    return subprocess.run(
        words, env=env, capture_output=True, text=True, timeout=120, check=False, cwd=root / "work"
    )


def test_a_task_is_done_and_remembered(root: Path) -> None:
    done = started(root, FIX, "fix calc.py")
    assert done.stdout.splitlines()[-1].strip() == "TurnEnded completed calc.py is fixed."
    assert (root / "work/calc.py").read_text() == "def add(a, b):\n    return a + b\n"
    with SessionStore(root / "sessions").live(ID) as transcript:
        records = list(transcript.records(transcript.chain()))
    calls = [call["name"] for each in records for call in tool_uses(each)]
    assert calls == ["Read", "Edit", "Bash"]
    assert len([block for each in records for block in tool_results(each)]) == 3
    # It is known that the file was changed, so the same task cannot be done twice.
    again = started(root, FIX, "fix calc.py")
    assert "This is not the file that I know." in again.stdout


def test_a_tool_that_kills_the_agent_is_not_run_again(root: Path) -> None:
    killed = started(root, KILL, "die")
    assert killed.returncode == -signal.SIGKILL
    assert (root / "work/ran").read_text() == "once\n"
    went_on = started(root, KILL, "go on")
    assert went_on.stdout.splitlines()[-1].strip() == "TurnEnded completed Here I am."
    assert (root / "work/ran").read_text() == "once\n"
    with SessionStore(root / "sessions").live(ID) as transcript:
        records = list(transcript.records(transcript.chain()))
    (result,) = [block for each in records for block in tool_results(each)]
    assert (result["content"], result["is_error"]) == ("[cut off]", True)


@pytest.mark.parametrize("event", [1, 4, 7, 9, 11, 13, 16, 18])
def test_killed_at_an_event_it_goes_on_and_runs_nothing_twice(root: Path, event: int) -> None:
    killed = started(root, STEPS, "begin", KILLED_AT=str(event))
    assert killed.returncode == -signal.SIGKILL
    told = [line.split()[1] for line in killed.stdout.splitlines() if line.startswith("ToolEnded")]
    went_on = started(root, STEPS, "go on")
    # Killed before an answer had begun, both prompts are answered together.
    assert went_on.stdout.splitlines()[-1].startswith("TurnEnded completed")
    ran = (root / "work/ran").read_text().split() if (root / "work/ran").exists() else []
    assert ran == ["one", "two"][: len(ran)]
    with SessionStore(root / "sessions").live(ID) as transcript:
        records = list(transcript.records(transcript.chain()))
    calls = [call["id"] for each in records for call in tool_uses(each)]
    results = [block["tool_use_id"] for each in records for block in tool_results(each)]
    assert sorted(calls) == sorted(results)
    assert set(told) <= set(results)
    assert len(ran) <= sum("Bash" in str(each) for each in records if tool_uses(each))
