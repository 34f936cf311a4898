"""An apply beside a person who saves files, in checkouts of all kinds, and one that fails half way.

What fails or interferes is patched into this process, so the apply is called in it.
"""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import Sandbox
from siding.applying.apply import ApplyRequest, apply
from siding.applying.plan import Mode
from siding.ground.files import exchange
from siding.ground.files.exchange import Entry
from siding.record.files import displaced as displaced_list
from siding.record.moving.model import HalfMoved, RefusedMove
from siding.record.place.project import ensure_project
from siding.record.place.wiring import open_app
from siding.record.unfinished import displaced_files
from siding.undo.undo import UndoRequest, undo

from .conftest import Stage

Interfering = Callable[[int, Callable[[], None]], None]


@pytest.fixture
def at_exchange(monkeypatch: pytest.MonkeyPatch) -> Interfering:
    """Do something before the n-th rename of the exchange, counted from 0."""

    def interfere(number: int, act: Callable[[], None]) -> None:
        real, seen = exchange._renameat2, [0]

        def renameat2(source: Entry, target: Entry, flags: int) -> None:
            seen[0] += 1
            if seen[0] == number + 1:
                act()
            real(source, target, flags)

        monkeypatch.setattr(exchange, "_renameat2", renameat2)

    return interfere


def projects(stage: Stage) -> list[Path]:
    return list(Path(stage.box.env["SIDING_HOME"], "projects").iterdir())


def kept(stage: Stage) -> dict[str, str]:
    """Return the versions that the newest step kept, by name."""
    step = stage.box.steps(stage.task)[-1]
    (project,) = projects(stage)
    found = [project / path for path in step.get("kept", [])]
    return {path.name: path.read_text() for path in found}


def changed(stage: Stage) -> None:
    stage.agent("echo agent >>hello.txt; echo new >new.txt; mkdir d; echo d >d/e.txt")


def apply_here(stage: Stage, mode: Mode | None = None) -> list[str]:
    """Apply in this process; return the versions that were kept."""
    project, _made = ensure_project(open_app(env=stage.box.env, cwd=stage.repo))
    done = apply(project, ApplyRequest(task=stage.task, mode=mode, close=False))
    assert done.step is not None
    assert done.step.as_apply is not None
    return list(done.step.as_apply.kept)


def fail(number: int) -> Callable[[], None]:
    def act() -> None:
        raise OSError(number, os.strerror(number))

    return act


def test_files_that_are_saved_meanwhile(stage: Stage, at_exchange: Interfering) -> None:
    changed(stage)

    def save() -> None:
        (stage.repo / "hello.txt").write_text("hers\n")
        (stage.repo / "new.txt").write_text("hers, too\n")

    at_exchange(0, save)
    names = apply_here(stage)
    assert [name.rpartition("/kept/")[2] for name in names] == ["hello.txt", "new.txt"]
    assert kept(stage) == {"hello.txt": "hers\n", "new.txt": "hers, too\n"}
    assert (stage.repo / "new.txt").read_text() == "new\n"
    assert stage.status() == []
    shown = stage.box.siding("show", "-t", stage.task).stdout.decode()
    assert "displaced/kept/hello.txt" in shown


@pytest.mark.parametrize("number", range(3))
def test_a_disk_that_fails_half_way(
    stage: Stage, at_exchange: Interfering, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """What was exchanged is exchanged back: nothing has changed, and it can be tried again."""
    changed(stage)
    before = stage.everything()
    at_exchange(number, fail(errno.EIO))
    with pytest.raises(RefusedMove, match="Input/output error"):
        apply_here(stage)
    assert stage.everything() == before
    assert not (stage.repo / "d").exists()
    monkeypatch.undo()
    stage.apply("--no-close")
    assert {"new.txt", "d/e.txt"} <= set(stage.files())
    assert stage.status() == []


def test_a_save_between_the_exchange_and_its_reversal(
    stage: Stage, at_exchange: Interfering
) -> None:
    """She writes into a file that was exchanged already: hers stays, the others go back."""
    changed(stage)

    def save_and_fail() -> None:
        (stage.repo / "hello.txt").write_text("hers\n")
        fail(errno.EIO)()

    at_exchange(3, save_and_fail)  # of a new file it takes two
    with pytest.raises(RefusedMove) as refused:
        apply_here(stage)
    assert "but for hello.txt, saved meanwhile" in str(refused.value.hint)
    assert (stage.repo / "hello.txt").read_text() == "hers\n"
    assert stage.status() == [" M hello.txt"]
    assert stage.box.siding("doctor", status=None).returncode == 0


def test_undoing_an_apply_beside_a_save(stage: Stage, at_exchange: Interfering) -> None:
    changed(stage)
    stage.apply("--no-close")
    at_exchange(0, lambda: _write(stage.repo / "hello.txt", "hers\n"))
    project, _made = ensure_project(open_app(env=stage.box.env, cwd=stage.repo))
    undo(project, UndoRequest(task=stage.task))
    assert kept(stage) == {"hello.txt": "hers\n"}
    assert stage.status() == []
    assert not (stage.repo / "new.txt").exists()


@pytest.mark.parametrize("mode", ["patch", "squash", "commit", "merge"])
def test_there_and_back_in_every_mode(stage: Stage, mode: str) -> None:
    changed(stage)
    before = stage.everything()
    stage.apply("--mode", mode, "--no-close")
    assert (stage.repo / "d/e.txt").read_text() == "d\n"
    assert stage.status() == (
        [" M hello.txt", "?? d/e.txt", "?? new.txt"] if mode == "patch" else []
    )
    stage.box.siding("undo", "-t", stage.task)
    assert stage.everything() == before


def test_no_version_is_kept_for_gits_filters(sandbox: Sandbox) -> None:
    """On disk are other bytes than in git; that alone is nobody's change."""
    stage = Stage(sandbox)
    stage.git("config", "--global", "core.autocrlf", "true")
    stage.git("config", "--global", "filter.rot.clean", "tr a-z n-za-m")
    stage.git("config", "--global", "filter.rot.smudge", "tr a-z n-za-m")
    (stage.repo / ".gitattributes").write_text("*.rot filter=rot\n")
    (stage.repo / "text.txt").write_bytes(b"one\r\ntwo\r\n")
    (stage.repo / "word.rot").write_bytes(b"hello\n")
    stage.git("add", "-A")
    stage.git("commit", "-qm", "filtered")
    stage.git("rm", "-rq", "--cached", ".")
    stage.git("reset", "-q", "--hard")
    assert stage.show("word.rot") == "uryyb\n"
    stage.start()
    stage.agent("printf 'three\\r\\n' >>text.txt; echo world >>word.rot")
    stage.apply("--no-close")
    assert (stage.repo / "text.txt").read_bytes() == b"one\r\ntwo\r\nthree\r\n"
    assert (stage.repo / "word.rot").read_text().split() == ["hello", "world"]
    assert stage.show("word.rot").split() == ["uryyb", "jbeyq"]
    assert stage.status() == []
    assert kept(stage) == {}
    stage.box.siding("undo", "-t", stage.task)
    assert (stage.repo / "text.txt").read_bytes() == b"one\r\ntwo\r\n"
    assert (stage.repo / "word.rot").read_text() == "hello\n"
    assert kept(stage) == {}


def test_attributes_that_git_does_not_track_count(stage: Stage) -> None:
    stage.git("config", "core.excludesFile", str(stage.repo.parent / "excludes"))
    (stage.repo.parent / "excludes").write_text(".gitattributes\n")
    (stage.repo / ".gitattributes").write_text("*.txt text eol=crlf\n")
    changed(stage)
    stage.apply("--no-close")
    assert (stage.repo / "new.txt").read_bytes() == b"new\r\n"
    assert (stage.repo / ".gitattributes").read_text() == "*.txt text eol=crlf\n"


def test_a_sparse_checkout_stays_sparse(stage: Stage) -> None:
    stage.agent(
        "mkdir -p shown hidden; echo s >shown/s; echo h >hidden/h; git add -A; git commit -qm x"
    )
    stage.apply("--no-close")
    stage.git("sparse-checkout", "set", "shown")
    assert not (stage.repo / "hidden").exists()
    stage.agent("echo more >>shown/s; echo more >hidden/other")
    stage.apply("--no-close")
    assert (stage.repo / "shown/s").read_text() == "s\nmore\n"
    assert not (stage.repo / "hidden").exists()
    assert stage.show("hidden/other") == "more\n"
    assert stage.status() == []


def test_an_index_that_plumbing_finds_clean(stage: Stage) -> None:
    """`git diff-index` does not refresh: it would take a file with other times for changed."""
    changed(stage)
    stage.apply("--no-close")
    assert stage.git("diff-index", "--name-only", "HEAD") == ""


def test_a_home_on_another_file_system(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then what is displaced is in the git directory; only versions of others stay there."""

    def other(path: Path) -> tuple[int, str]:
        return 1 if "projects" in path.parts else 2, ""

    changed(stage)
    monkeypatch.setattr(displaced_files, "_mount_of", other)
    assert apply_here(stage) == []
    monkeypatch.undo()
    assert stage.status() == []
    assert not list((stage.repo / ".git").glob("siding-*"))
    (project,) = projects(stage)
    assert not list(project.glob("trash/*/displaced"))


def _write(path: Path, text: str) -> None:
    path.write_text(text)


@pytest.mark.parametrize("mode", [Mode.COMMIT, Mode.PATCH])
def test_a_list_that_could_not_be_written_counts_for_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, mode: Mode
) -> None:
    """Half a list would be taken for the whole change."""
    changed(stage)
    before = stage.everything()
    monkeypatch.setattr(displaced_list, "flush", lambda _fd: fail(errno.EIO)())
    with pytest.raises(OSError, match="Input/output error"):
        apply_here(stage, mode)
    monkeypatch.undo()
    stage.box.siding("doctor")
    assert stage.everything() == before
    (project,) = projects(stage)
    assert not list(project.glob("trash/*"))


def test_a_disk_that_fails_on_the_way_back_too(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the lock stays, and the message says what to do; `siding doctor` ends it."""
    changed(stage)
    real, seen = exchange._renameat2, [0]

    def renameat2(source: Entry, target: Entry, flags: int) -> None:
        seen[0] += 1
        if seen[0] > 3:  # a new file takes two, and one is replaced
            fail(errno.EIO)()
        real(source, target, flags)

    monkeypatch.setattr(exchange, "_renameat2", renameat2)
    with pytest.raises(HalfMoved, match=r"changed in part.*Input/output error"):
        apply_here(stage)
    assert (stage.repo / ".git/index.lock").exists()
    monkeypatch.undo()
    stage.box.siding("doctor")
    assert not (stage.repo / ".git/index.lock").exists()
    assert stage.status() == []
    assert {"new.txt", "d/e.txt"} <= set(stage.files())


def test_a_branch_that_cannot_be_moved_back(stage: Stage, at_exchange: Interfering) -> None:
    """The files are as before and the branch is not: that is not an apply that changed nothing."""
    changed(stage)
    lock = stage.repo / ".git/refs/heads/main.lock"

    def lock_and_fail() -> None:
        lock.write_text("f" * 40)  # of another git
        fail(errno.EIO)()

    at_exchange(2, lock_and_fail)
    with pytest.raises(HalfMoved, match="could not be moved"):
        apply_here(stage)
    lock.unlink()
    assert stage.box.siding("doctor", "--check").stdout == b"everything agrees\n"
    assert stage.leftovers() == []
    assert stage.status() == []
    assert {"new.txt", "d/e.txt"} <= set(stage.files())
