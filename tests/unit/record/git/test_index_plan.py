"""What a capture has git do about each path of a status, and what it leaves out."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from privileges import bound_by_permissions
from siding.ground.git.status import EntryKind, StatusEntry
from siding.record.snapshots.changes import CaptureLimits, IndexPlan, plan
from siding.record.snapshots.coverage import Reason, Skipped

TRACKED, UNTRACKED = EntryKind.TRACKED, EntryKind.UNTRACKED
NOTHING = IndexPlan([], [], {}, [], [], staged=False)
LINK = "12" * 20


@pytest.fixture
def planned(tmp_path: Path) -> Callable[..., IndexPlan]:
    def planned(
        *entries: StatusEntry, links: dict[bytes, str] | None = None, most: int = 10
    ) -> IndexPlan:
        return plan(os.fsencode(tmp_path), entries, links or {}, CaptureLimits(most))

    return planned


def changed(path: bytes, kind: EntryKind = TRACKED) -> StatusEntry:
    return StatusEntry(kind, path, unstaged="M" if kind is TRACKED else ".")


def test_what_is_on_disk_is_recorded(planned: Callable[..., IndexPlan], tmp_path: Path) -> None:
    (tmp_path / "f").write_text("0123456789")
    (tmp_path / "l").symlink_to("nowhere")
    conflicted = StatusEntry(EntryKind.CONFLICTED, b"f")
    found = planned(changed(b"f"), changed(b"l", UNTRACKED), conflicted)
    assert found == NOTHING._replace(update=[b"f", b"l", b"f"])
    assert found.changes_index
    assert planned(StatusEntry(TRACKED, b"f")) == NOTHING
    assert not planned().changes_index


def test_what_is_staged_is_said(planned: Callable[..., IndexPlan]) -> None:
    staged = StatusEntry(TRACKED, b"f", staged="M")
    assert planned(staged) == NOTHING._replace(staged=True)
    assert planned(staged, StatusEntry(TRACKED, b"g")) == NOTHING._replace(staged=True)


def test_ignored_files_and_repositories_are_named(planned: Callable[..., IndexPlan]) -> None:
    ignored = StatusEntry(EntryKind.IGNORED, b"built/")
    found = planned(ignored, StatusEntry(UNTRACKED, b"inner/"))
    assert found == NOTHING._replace(ignored=[b"built"], opening={b"inner": ""})
    assert not found.changes_index


def test_what_went_before_it_was_looked_at(planned: Callable[..., IndexPlan]) -> None:
    found = planned(changed(b"tracked"), changed(b"untracked", UNTRACKED))
    assert found == NOTHING._replace(update=[b"tracked"])


def test_too_large_and_names_that_git_refuses(
    planned: Callable[..., IndexPlan], tmp_path: Path
) -> None:
    for name in ("large", "large-new"):
        (tmp_path / name).write_text("0123456789a")
    (tmp_path / "d").mkdir()
    (tmp_path / "d/.GIT").write_text("")
    (tmp_path / "d/.gitmodules").symlink_to("x")
    (tmp_path / ".gitmodules").write_text("")
    found = planned(
        changed(b"large"),
        changed(b"large-new", UNTRACKED),
        changed(b"d/.GIT", UNTRACKED),
        changed(b"d/.gitmodules"),
        changed(b".gitmodules"),
    )
    assert found == NOTHING._replace(
        update=[b".gitmodules"],
        drop=[b"large", b"d/.gitmodules"],
        skipped=[
            Skipped(b"large", Reason.TOO_LARGE, 11),
            Skipped(b"large-new", Reason.TOO_LARGE, 11),
            Skipped(b"d/.GIT", Reason.REFUSED_NAME),
            Skipped(b"d/.gitmodules", Reason.REFUSED_NAME),
        ],
    )
    assert found.changes_index


def test_what_cannot_be_read(planned: Callable[..., IndexPlan], tmp_path: Path) -> None:
    (tmp_path / "f").write_text("1")
    (tmp_path / "f").chmod(0)
    found = bound_by_permissions(lambda: planned(changed(b"f")))
    assert found.skipped == [Skipped(b"f", Reason.UNREADABLE, 1)]


def test_a_pipe_takes_the_place_of_a_file(
    planned: Callable[..., IndexPlan], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    found = planned(changed(b"pipe"))
    assert found == NOTHING._replace(drop=[b"pipe"])
    assert found.changes_index
    assert planned(changed(b"pipe", UNTRACKED)) == NOTHING


def test_submodules(planned: Callable[..., IndexPlan], tmp_path: Path) -> None:
    links = dict.fromkeys((b"empty", b"filled", b"gone", b"file", b"file/below"), LINK)
    (tmp_path / "empty").mkdir()
    (tmp_path / "filled").mkdir()
    (tmp_path / "filled/f").write_text("")
    (tmp_path / "file").write_text("")
    entries = [
        StatusEntry(TRACKED, path, unstaged=how) for path in links for how in ("D", "M", ".")
    ]
    assert planned(*entries, links=links) == NOTHING._replace(
        update=[b"file"], drop=[b"gone", b"file/below"], opening={b"filled": LINK}
    )


def test_a_submodule_that_cannot_be_looked_into(
    planned: Callable[..., IndexPlan], tmp_path: Path
) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    found = bound_by_permissions(lambda: planned(links={b"closed": LINK}))
    assert found == NOTHING._replace(skipped=[Skipped(b"closed", Reason.UNREADABLE)])


def test_a_deleted_path_goes_with_what_took_the_place_above_it(
    planned: Callable[..., IndexPlan], tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/f").write_text("")
    (tmp_path / "now-a-link").symlink_to("real")
    (tmp_path / "seen").symlink_to("real")
    gone = [
        StatusEntry(TRACKED, path, unstaged="D") for path in (b"now-a-link/f", b"seen/f", b"away")
    ]
    assert planned(*gone, changed(b"now-a-link", UNTRACKED)) == NOTHING._replace(
        update=[b"now-a-link", b"away"], drop=[b"seen/f"]
    )
