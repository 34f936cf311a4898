"""`task start --carry` takes the checkout along as it is, whatever became of a name."""

from pathlib import Path

import pytest

from sandbox import Sandbox
from siding.record.place.project import ensure_project
from siding.record.place.wiring import open_app
from siding.tasks.start import StartRequest, start


def _carried(sandbox: Sandbox) -> Path:
    project = ensure_project(open_app(env=sandbox.env, cwd=sandbox.repo))[0]
    started = start(project, StartRequest(name="carried", base=None, carry=True))
    return Path(started.workspace.path if started.workspace else "")


@pytest.mark.parametrize("carry", [False, True])
def test_a_repository_inside_is_named_and_left_out(sandbox: Sandbox, carry: bool) -> None:
    """Another worktree of the same repository in the checkout is nobody's change."""
    sandbox.git("init", "-q", "nested")
    (sandbox.repo / "nested/x").write_text("x")
    sandbox.git("worktree", "add", "-q", "-b", "side", "side")
    (sandbox.repo / "mine").write_text("mine")
    project = ensure_project(open_app(env=sandbox.env, cwd=sandbox.repo))[0]
    card = start(project, StartRequest(name="x", carry=carry)).card
    assert card is not None
    assert card.nested == ("nested/",)
    assert card.left_out == (() if carry else ("mine",))


@pytest.mark.parametrize("link", [False, True], ids=["file", "link"])
def test_a_directory_that_became_a_file(sandbox: Sandbox, link: bool) -> None:
    _commit(sandbox, {"d/x": "x", "d/deep/y": "y", "e": "e"})
    for name in ("d/x", "d/deep/y"):
        (sandbox.repo / name).unlink()
    (sandbox.repo / "d/deep").rmdir()
    (sandbox.repo / "d").rmdir()
    if link:
        (sandbox.repo / "d").symlink_to("e")
    else:
        (sandbox.repo / "d").write_text("now a file")
    workspace = _carried(sandbox)
    assert (workspace / "d").is_symlink() == link
    assert (workspace / "d").read_text() == ("e" if link else "now a file")


@pytest.mark.parametrize("link", [False, True], ids=["file", "link"])
def test_a_file_that_became_a_directory(sandbox: Sandbox, link: bool) -> None:
    if link:
        (sandbox.repo / "d").symlink_to("nowhere")
        sandbox.git("add", "-A")
        sandbox.git("commit", "-qm", "a link")
    else:
        _commit(sandbox, {"d": "a file"})
    (sandbox.repo / "d").unlink()
    (sandbox.repo / "d/deep").mkdir(parents=True)
    (sandbox.repo / "d/deep/y").write_text("y")
    workspace = _carried(sandbox)
    assert (workspace / "d/deep/y").read_text() == "y"


def test_what_was_deleted_is_not_there(sandbox: Sandbox) -> None:
    _commit(sandbox, {"gone": "gone", "d/gone": "gone"})
    (sandbox.repo / "gone").unlink()
    (sandbox.repo / "d/gone").unlink()
    workspace = _carried(sandbox)
    assert not (workspace / "gone").exists()
    assert not (workspace / "d/gone").exists()


def _commit(sandbox: Sandbox, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = sandbox.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "files")
