"""Nothing of a person's own settings is changed, whichever agent runs, and however it ends."""

import json
import os
import signal
import subprocess
import time
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from agents.at_terminal import AtTerminal
from agents.conftest import AgentAtWork
from agents.models import Failure, Held
from sandbox import SIDING

SIGNALS = {
    "interrupted": signal.SIGINT,
    "terminated": signal.SIGTERM,
    "hung up": signal.SIGHUP,
    "killed": signal.SIGKILL,
}
HOWS = ("ends", "fails", "quits", *SIGNALS, "agent killed", "timed out")
# What an agent keeps there of its own: it is written without Siding as well.
STATE = {".claude.json"}
CODEX = ".codex/config.toml"
# What a person may have of each agent, and of everything else. (Other settings are the tests' own.)
MINE = {
    ".bashrc": "# mine\n",
    ".gitconfig": "[core]\n\tpager = cat\n",
    ".claude/CLAUDE.md": "Be brief.\n",
    ".claude/settings.json": '{"cleanupPeriodDays": 99,\n "hooks": {"Stop": []}}',
    ".codex/AGENTS.md": "Be brief.\n",
    CODEX: '# mine\nfile_opener = "none"   # and this\n',
    ".gemini/GEMINI.md": "Be brief.\n",
    ".config/opencode/AGENTS.md": "Be brief.\n",
}
LOG = ".jsonl"  # of a conversation: the model may say anything in it


def is_only_longer(before: bytes, after: bytes | None) -> None:
    """Codex itself notes at the end of its settings what its screen has shown, and no more."""
    assert after is not None
    assert after.startswith(before)
    added = tomllib.loads(after.decode())
    del added["tui"]
    assert added == tomllib.loads(before.decode())


def bytes_below(directory: Path) -> Mapping[str, bytes]:
    files = (path for path in directory.rglob("*") if path.is_file() and path.name not in STATE)
    found = {}
    for path in files:
        with suppress(FileNotFoundError):  # an agent that was not ended with its run still writes
            found[str(path.relative_to(directory))] = path.read_bytes()
    return found


def started(agent: AgentAtWork, *options: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*SIDING, "run", *options, "--", *agent.words("Wait")],
        cwd=agent.task.repo,
        env=agent.task.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def pid_of(agent: AgentAtWork) -> int:
    (record,) = agent.task.project.glob("tasks/*/runs/r*.json")
    return int(json.loads(record.read_text())["command"]["pid"])


def ended_by_signal(agent: AgentAtWork, how: str) -> None:
    run = started(agent, *(["--timeout", "20s"] if how == "timed out" else []))
    while how != "timed out" and not (agent.task.workspace() / "up.txt").exists():
        assert run.poll() is None
        time.sleep(0.02)
    if how in SIGNALS:
        os.kill(run.pid, SIGNALS[how])
    elif how == "agent killed":
        os.kill(pid_of(agent), signal.SIGKILL)
    run.wait(90)


def quit_at_the_screen(agent: AgentAtWork) -> None:
    person = AtTerminal(agent)
    try:
        person.until_shown(agent.ready)
        person.says("a-prompt", lambda: "It streams." in person.screen)
        person.interrupts()
        assert person.quits() == 0
    finally:
        person.kill()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("how", HOWS)
def test_the_persons_settings_stay_however_it_ends(agent: AgentAtWork, how: str) -> None:
    home = Path(agent.task.env["HOME"])
    for name, text in MINE.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    if how == "fails":
        agent.says(*[Failure(400)] * 20)
    elif how == "quits":
        agent.says(Held("It streams."))
    else:
        agent.says([agent.shell(f"echo up >up.txt; sleep {0 if how == 'ends' else 60}")], ["Done."])
    before = bytes_below(home)

    if how in ("ends", "fails"):
        words = agent.words("Wait")
        agent.task.siding("run", "--", *words, status=None if how == "fails" else 0)
    elif how == "quits":
        quit_at_the_screen(agent)
    else:
        ended_by_signal(agent, how)

    agent.task.siding("status")  # ends what was cut off
    found = bytes_below(home)
    changed = {name: found.get(name) for name in before if found.get(name) != before[name]}
    if how == "quits" and agent.name == "codex":
        is_only_longer(before[CODEX], changed.pop(CODEX, before[CODEX]))
    assert changed == {}
    for name, data in found.items():
        assert b"hook.py" not in data or name.endswith(LOG), name
