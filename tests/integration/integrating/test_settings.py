"""`siding integrate`: a person's own settings of an agent are changed after they were shown."""

import json
import os
from pathlib import Path

import pytest

from sandbox import Sandbox


@pytest.fixture
def file(sandbox: Sandbox) -> Path:
    """The settings of Claude Code in the sandbox's home; there are none yet."""
    return Path(sandbox.env["HOME"]) / ".claude" / "settings.json"


def test_without_a_terminal_nobody_agrees(sandbox: Sandbox, file: Path) -> None:
    done = sandbox.siding("integrate", "claude", status=2)
    assert b"--yes agrees" in done.stderr
    assert b"UserPromptSubmit" in done.stdout  # but it was shown
    assert not file.exists()


def test_a_file_is_made_and_is_gone_again(sandbox: Sandbox, file: Path) -> None:
    sandbox.siding("integrate", "claude", "--yes")
    assert set(json.loads(file.read_text())["hooks"]) == {
        "SessionStart",
        "UserPromptSubmit",
        "Stop",
        "StopFailure",
    }
    assert file.stat().st_mode & 0o777 == 0o600
    again = sandbox.siding("integrate", "claude", "--yes")
    assert b"integrated already" in again.stderr
    done = sandbox.siding("integrate", "claude", "--remove", "--yes")
    assert b"the file goes" in done.stderr
    assert not file.exists()
    again = sandbox.siding("integrate", "claude", "--remove", "--yes")
    assert b"not integrated already" in again.stderr


def test_a_link_stays_one_and_permissions_stay(
    sandbox: Sandbox, file: Path, tmp_path: Path
) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text('{\n    "model": "opus"\n}')
    real.chmod(0o640)
    file.parent.mkdir(parents=True)
    file.symlink_to(real)
    sandbox.siding("integrate", "claude", "--yes")
    assert file.is_symlink()
    assert "UserPromptSubmit" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    sandbox.siding("integrate", "claude", "--remove", "--yes")
    assert real.read_text() == '{\n    "model": "opus"\n}'


@pytest.mark.parametrize("content", [b"{,", b'{"hooks": 1}', b"\xff\xfe{}"])
def test_what_cannot_be_read_is_left_alone(sandbox: Sandbox, file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    done = sandbox.siding("integrate", "claude", "--yes", status=1)
    assert b"cannot be changed" in done.stderr
    assert file.read_bytes() == content
    assert _state(sandbox) == "unreadable"


def test_the_list_says_what_is_where(sandbox: Sandbox, file: Path) -> None:
    assert _state(sandbox) == "no"
    sandbox.siding("integrate", "claude", "--yes")
    assert _state(sandbox) == "yes"
    # Somebody formats the file, or puts a hook of their own before ours.
    settings = json.loads(file.read_text())
    file.write_text(json.dumps(settings))
    assert _state(sandbox) == "yes"
    # Another Siding, in a directory of its own, was there before.
    file.write_text(file.read_text().replace(os.fspath(Path.cwd()), "/opt/other"))
    del settings["hooks"]["Stop"]
    file.write_text(json.dumps(settings))
    assert _state(sandbox) == "otherwise"
    sandbox.siding("integrate", "claude", "--yes")
    assert _state(sandbox) == "yes"


def test_hooks_of_a_siding_that_is_gone_do_nothing(sandbox: Sandbox, file: Path) -> None:
    sandbox.siding("integrate", "claude", "--yes")
    (entry,) = json.loads(file.read_text())["hooks"]["Stop"][0]["hooks"]
    program = entry["command"].split()[3]
    gone = entry["command"].replace(program, f"{program}.gone")
    assert os.system(gone) == 0


def test_an_unknown_agent_is_refused(sandbox: Sandbox) -> None:
    done = sandbox.siding("integrate", "nobody", "--yes", status=1)
    assert b"claude, codex" in done.stderr
    sandbox.siding("integrate", "--remove", status=2)


def _state(sandbox: Sandbox) -> str:
    (found,) = [
        each for each in sandbox.json("integrate", "--list", "--json") if each["agent"] == "claude"
    ]
    return str(found["integrated"])
