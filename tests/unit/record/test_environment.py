"""Variables that lead into the checkout: a run in a workspace does not use what is installed there
without a word."""

from pathlib import Path

import pytest

from integration.undo.desk import Desk
from sandbox import Sandbox
from siding.record.place.environment import environment_in, taken_along
from siding.tasks.start import StartRequest, start

THERE = {"/ws", "/ws/.venv", "/ws/.venv/bin", "/ws/lib"}


@pytest.mark.parametrize(
    ("name", "value", "mapped", "strict"),
    [
        ("VIRTUAL_ENV", "/repo/.venv", "/ws/.venv", "/ws/.venv"),
        (
            "PATH",
            "/repo/.venv/bin:/bin:/repo/n",
            "/ws/.venv/bin:/bin:/repo/n",
            "/ws/.venv/bin:/bin",
        ),
        ("PYTHONPATH", "/repo", "/ws", "/ws"),
        ("NODE_PATH", "/repo/n/", "/repo/n/", None),
        ("CARGO_TARGET_DIR", "/repo/target", "/ws/target", "/ws/target"),
        ("OTHER", "/repository/lib:x/repo:/repo/ws/lib", None, None),
        ("GIT_SSH", "/repo/lib", None, None),
        ("PLAIN", "/link/lib", "/ws/lib", "/ws/lib"),
    ],
)
def test_paths_in_a_checkout_become_those_of_the_workspace(
    name: str, value: str, mapped: str | None, strict: str | None
) -> None:
    """`strict` is what becomes of it with "drop"; the workspace can lie in the checkout."""
    env = {name: value}
    for how, wanted in (("map", mapped), ("drop", strict), ("leave", None)):
        root = "/repo/ws" if name == "OTHER" else "/ws"
        moved = taken_along(env, ("/repo", "/link"), root, how, THERE.__contains__)
        expected = {} if how == "leave" or wanted == value else {name: wanted}
        if mapped is None:
            expected = {}
        assert moved.values == expected
        assert bool(moved.names) == (how != "leave" and mapped is not None)


def test_it_is_said_once_for_each_task(sandbox: Sandbox) -> None:
    (sandbox.repo / ".gitignore").write_text(".venv\n")
    (sandbox.repo / ".worktreeinclude").write_text(".venv\n")
    scripts = sandbox.repo / ".venv/bin"
    scripts.mkdir(parents=True)
    (sandbox.repo / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    (scripts / "activate").write_text(f"VIRTUAL_ENV={sandbox.repo}/.venv\n")
    link = sandbox.directory / "link"
    link.symlink_to(sandbox.repo)
    sandbox.env |= {
        "PWD": str(link),
        "VIRTUAL_ENV": f"{link}/.venv",
        "NODE_PATH": f"{sandbox.repo}/node_modules",
    }
    said: list[str] = []
    desk = Desk(sandbox)
    desk.project.app = desk.project.app._replace(warn=said.append)
    started = start(desk.project, StartRequest(name="other"))
    assert started.card is not None
    assert started.card.tied == (".venv/",)
    (line,) = [each for each in said if "lead into your checkout" in each]
    assert "taken along into the workspace: VIRTUAL_ENV;" in line
    assert "no such path: NODE_PATH" in line
    assert started.workspace is not None
    workspace = Path(started.workspace.path)
    for _ in range(2):
        env = environment_in(
            desk.project, started.task, started.workspace, {"NODE_PATH": "/mine"}, cwd=workspace
        )
        assert (env["VIRTUAL_ENV"], env["NODE_PATH"]) == (f"{workspace}/.venv", "/mine")
    assert len([each for each in said if "lead into your checkout" in each]) == 1


def test_tools_of_a_home_that_is_a_checkout_stay(sandbox: Sandbox) -> None:
    """Where somebody keeps dotfiles in a repository, all that is in the home leads into it."""
    sandbox.env |= {"HOME": str(sandbox.repo), "TOOL": f"{sandbox.repo}/src"}
    desk = Desk(sandbox)
    workspace = desk.project.registry.of_task(desk.task.id)
    assert workspace is not None
    env = environment_in(desk.project, desk.task, workspace, {}, cwd=desk.root)
    assert env["PATH"] == sandbox.env["PATH"], "without PWD nothing leads there by accident"
    assert env["TOOL"] == f"{sandbox.repo}/src"
