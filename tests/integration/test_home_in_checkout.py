"""Siding's home in a checkout, as where somebody keeps dotfiles in a repository: no part of it."""

from pathlib import Path

import pytest

from integration.undo.desk import Desk
from sandbox import Sandbox
from siding.record.place.project import ensure_project
from siding.record.place.wiring import open_app
from siding.tasks.start import StartRequest, start


def with_home_at(tmp_path: Path, place: str) -> Sandbox:
    found = Sandbox(tmp_path)
    found.env["SIDING_HOME"] = str(found.repo / place)
    if place == "a link":
        found.env["SIDING_HOME"] = str(tmp_path / "link")
        (found.repo / "sub/real").mkdir(parents=True)
        (tmp_path / "link").symlink_to(found.repo / "sub/real")
    (found.repo / "mine.txt").write_text("mine\n")
    return found


@pytest.mark.parametrize(
    ("place", "hidden"), [(".siding", True), ("deep/er/home", False), ("a link", False)]
)
def test_the_home_is_in_no_card_and_is_not_carried(
    tmp_path: Path, place: str, hidden: bool
) -> None:
    """Also where the person has emptied its `.gitignore`."""
    sandbox = with_home_at(tmp_path, place)
    (sandbox.repo / ".worktreeinclude").write_text("*.jsonl\n*.env\n")
    (sandbox.repo / ".git/info/exclude").write_text("*.jsonl\n*.env\n/.worktreeinclude\n")
    (sandbox.repo / "dev.env").write_text("K=1\n")
    desk = Desk(sandbox)
    ignores = Path(sandbox.env["SIDING_HOME"]) / ".gitignore"
    assert not hidden or ignores.read_bytes().endswith(b"\n*\n")
    if not hidden:
        ignores.write_text("")
    desk.run("true")  # a second task in the project's records
    made = start(desk.project, StartRequest(name="two")).card
    assert made is not None
    assert made.left_out == ("mine.txt",)
    assert set(made.missing) <= {".worktreeinclude"}
    assert made.included == ("dev.env",)
    carried = start(desk.project, StartRequest(name="three", carry=True))
    assert carried.carried is not None
    assert carried.carried.diff_stat.file_list == ("mine.txt",)


def test_git_add_takes_none_of_the_home(tmp_path: Path) -> None:
    """An old home gets its `.gitignore`; one that is a repository itself gets none."""
    sandbox = with_home_at(tmp_path, "home")
    desk = Desk(sandbox)
    ignores = Path(sandbox.env["SIDING_HOME"]) / ".gitignore"
    ignores.unlink()
    Desk.again(desk)
    sandbox.git("add", "-A")
    assert sandbox.git("diff", "--cached", "--name-only") == "mine.txt"
    ignores.unlink()
    sandbox.git("init", "-q", str(ignores.parent))
    ensure_project(open_app(env=sandbox.env, cwd=sandbox.repo))
    assert not ignores.exists()


def test_a_run_that_looks_at_the_checkout_does_not_see_the_home(tmp_path: Path) -> None:
    sandbox = with_home_at(tmp_path, "a link")
    desk = Desk(sandbox)
    (Path(sandbox.env["SIDING_HOME"]) / ".gitignore").write_text("")
    step = desk.run(
        "sh", "-c", f"echo x >{sandbox.env['SIDING_HOME']}/projects/x; touch {sandbox.repo}/new"
    )
    assert step.as_run is not None
    assert step.as_run.isolation is not None
    files = [each.name for each in step.as_run.isolation.changes if each.what == "files"]
    assert files == ["new"]
