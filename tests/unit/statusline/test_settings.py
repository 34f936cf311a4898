"""Which command counts: of which file, and whether it may run."""

import json
from pathlib import Path

import pytest

from integration.undo.desk import Desk
from sandbox import Sandbox
from siding.ground.errors import UsageError
from siding.guard.hooks import repository_hooks, trust
from siding.record.place.wiring import open_app
from siding.statusline.settings import files_of, read_said, settings_here


def _write(path: Path, **said: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"status_line": said}))
    return path


def test_the_command_of_the_home_counts_where_nothing_else_says_one(tmp_path: Path) -> None:
    app = open_app(env={"SIDING_HOME": str(tmp_path)}, cwd=tmp_path)
    assert settings_here(app, None).command == ""
    _write(app.home.config_path, command=" echo hi ", refresh=2, padding=1, type="command")
    found = settings_here(app, None, tmp_path / "none")
    assert (found.command, found.refresh_s, found.padding) == ("echo hi", 2.0, 1)
    assert found.source == str(app.home.config_path)


def test_the_machine_goes_first_and_can_turn_commands_off(tmp_path: Path) -> None:
    app = open_app(env={"SIDING_HOME": str(tmp_path)}, cwd=tmp_path)
    _write(app.home.config_path, command="echo home")
    managed = _write(tmp_path / "managed.yaml", command="echo machine")
    assert settings_here(app, None, managed).command == "echo machine"
    _write(managed, enabled=False)
    off = settings_here(app, None, managed)
    assert off.command == ""
    assert "turns the status line's commands off" in off.notes[0]
    _write(managed, enabled="managed", command="")
    assert settings_here(app, None, managed).command == ""
    _write(managed, enabled="managed", command="echo only")
    assert settings_here(app, None, managed).command == "echo only"


def test_a_line_that_is_off_has_no_command(tmp_path: Path) -> None:
    app = open_app(env={"SIDING_HOME": str(tmp_path)}, cwd=tmp_path)
    _write(app.home.config_path, command="echo home", enabled=False)
    found = settings_here(app, None, tmp_path / "none")
    assert not found.is_on
    assert found.command == ""


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"command": 7}, "a line of shell"),
        ({"refresh": "soon"}, "a time such as 5s"),
        ({"padding": -1}, "a number from 0 to 20"),
        ({"padding": True}, "a number from 0 to 20"),
        ({"enabled": "perhaps"}, "true or false"),
        ({"type": "static"}, "'command'"),
        ({"colour": "red"}, "has no meaning"),
    ],
    ids=str,
)
def test_a_mistake_names_its_place(tmp_path: Path, said: dict[str, object], told: str) -> None:
    path = _write(tmp_path / "config.yaml", **said)
    with pytest.raises(UsageError, match=told):
        read_said(path)


def test_a_command_of_the_repository_runs_once_exactly_it_is_trusted(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)
    app, project = desk.project.app, desk.project
    none = sandbox.repo / "none"
    _write(app.home.config_path, command="echo home")
    theirs = _write(sandbox.repo / ".siding" / "config.yaml", command="echo repository")
    assert theirs in files_of(app, project, none)
    before = settings_here(app, project, none)
    assert before.command == "echo home"
    assert "`siding trust`" in before.notes[0]
    found = repository_hooks(project)
    assert found.hooks == {"status_line": ("echo repository",)}
    trust(project, found)
    assert settings_here(app, project, none).command == "echo repository"
    _write(theirs, command="rm -rf /")
    assert settings_here(app, project, none).command == "echo home"
    _write(project.layout.config_yaml, command="echo project")
    assert settings_here(app, project, none).command == "echo project"
    theirs.write_text("status_line: [")
    assert "left out" in settings_here(app, project, none).notes[0]
