"""The fingerprint of a repository: what it tells apart, and what it must not take for a change."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import Sandbox
from siding.ground.git.index_file import entry_count, read_entries
from siding.record.snapshots import fingerprint
from siding.record.snapshots.fingerprint import (
    LooseRef,
    RefChange,
    changed_index,
    changed_marks,
    changed_refs,
    changed_settings,
    has_ref,
    take,
    values,
)

SHA1 = 20


def test_the_index_is_read_as_git_reads_it(sandbox: Sandbox) -> None:
    for name in ("a b.txt", "ä.txt", "deep/er/x", "x" * 200):
        path = sandbox.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (sandbox.repo / "run.sh").write_text("#!/bin/sh\n")
    (sandbox.repo / "run.sh").chmod(0o755)
    (sandbox.repo / "link").symlink_to("hello.txt")
    sandbox.git("add", "-A")
    data = (sandbox.repo / ".git" / "index").read_bytes()
    entries = read_entries(data, SHA1)
    assert entries is not None
    listed = sandbox.git("ls-files", "-s", "-z").split("\0")
    wanted = {}
    for line in filter(None, listed):
        head, _, name_listed = line.partition("\t")
        mode, sha, _stage = head.split()
        wanted[os.fsencode(name_listed)] = int(mode, 8).to_bytes(4, "big") + bytes.fromhex(sha)
    assert entries == wanted
    assert entry_count(data[:12]) == len(wanted)


@pytest.mark.parametrize("how", [("--index-version", "4"), ("--split-index",)], ids="".join)
def test_an_index_of_another_form_is_not_guessed_at(sandbox: Sandbox, how: tuple[str, ...]) -> None:
    sandbox.git("update-index", *how)
    assert read_entries((sandbox.repo / ".git" / "index").read_bytes(), SHA1) is None


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reading_of_an_index(data: bytes) -> None:
    read_entries(b"DIRC\0\0\0\2" + data, SHA1)
    read_entries(data, SHA1)
    entry_count(data)


def test_a_staged_change_is_one_and_a_refresh_is_none(sandbox: Sandbox) -> None:
    git_dir = sandbox.repo / ".git"
    before = take(git_dir)
    (sandbox.repo / "hello.txt").touch()
    sandbox.git("update-index", "--refresh")
    after = take(git_dir)
    assert before.index_mark != after.index_mark, "git rewrote it"
    assert changed_index(before, after, SHA1) == []
    (sandbox.repo / "hello.txt").write_text("more\n")
    sandbox.git("add", "hello.txt")
    later = take(git_dir)
    assert changed_index(before, later, SHA1) == [b"hello.txt"]
    assert changed_index(after, later, SHA1) == [b"hello.txt"]
    for each in (before, after, later):
        each.close()


def test_refs_have_values_wherever_they_are_kept(sandbox: Sandbox) -> None:
    git_dir = sandbox.repo / ".git"
    sandbox.git("branch", "a")
    sandbox.git("pack-refs", "--all")
    before = take(git_dir)
    assert changed_refs(before, take(git_dir)) == []
    sandbox.git("commit", "-q", "--allow-empty", "-m", "x")
    sandbox.git("branch", "b")
    sandbox.git("pack-refs", "--all")
    sandbox.git("branch", "-D", "a")
    found = {change.name: change for change in changed_refs(before, take(git_dir))}
    head = sandbox.git("rev-parse", "HEAD")
    assert set(found) == {"refs/heads/main", "refs/heads/a", "refs/heads/b"}
    assert found["refs/heads/main"].after == head
    assert (found["refs/heads/a"].after, found["refs/heads/b"].before) == (None, None)


@pytest.mark.parametrize(
    ("before", "after", "keys"),
    [
        ("[user]\n\tname = a\n", "[user]\n\tname = b\n", ["user.name"]),
        ("[user]\n\tname = a\n", "[core]\n[user]\n\tname = a\n", ["(its layout)"]),
        ("", '[branch "x/y"]\n\tremote = o\n', ["branch.x/y.remote"]),
        ('[url "https://t0ken@h/"]\n\tinsteadOf = g\n', "", ["url.https://t0ken@h/.insteadOf"]),
        ("[a] b = c\n", "[a] b = d\n", ["a.b"]),
        ("[user]\n name = a\n", "[user]\n name = a\n", []),
        ("[user]\n# x = 1\n name = a\n", "[user]\n; y = 2\n name = a\n", ["(its layout)"]),
    ],
)
def test_settings_are_told_by_their_keys(before: str, after: str, keys: list[str]) -> None:
    assert changed_settings(before.encode(), after.encode()) == keys


def test_a_configuration_that_comes_or_goes_has_all_its_keys() -> None:
    for before, after in ((None, b"[a]\nb = 1\n"), (b"[a]\nb = 1\n", None)):
        assert changed_settings(before, after) == ["a.b"]
    assert changed_settings(None, None) == []


@given(st.binary(max_size=80), st.binary(max_size=80))
def test_any_configuration_can_be_compared(before: bytes, after: bytes) -> None:
    assert bool(changed_settings(before, after)) == (before != after)


def test_an_empty_directory_has_a_fingerprint(tmp_path: Path) -> None:
    empty = take(tmp_path)
    assert changed_refs(empty, empty) == []
    assert changed_index(empty, empty, SHA1) == []
    assert changed_marks(empty.steering, empty.steering) == []


def test_of_very_many_refs_it_is_still_seen_which_one_moved(sandbox: Sandbox) -> None:
    git_dir = sandbox.repo / ".git"
    head = sandbox.git("rev-parse", "HEAD")
    heads = git_dir / "refs" / "heads"
    for number in range(700):
        (heads / f"b{number}").write_text(head + "\n")
    before = take(git_dir)
    assert changed_refs(before, take(git_dir)) == []
    sandbox.git("commit", "-q", "--allow-empty", "-m", "x")
    for name in ("b3", "b333", "b699"):
        sandbox.git("update-ref", f"refs/heads/{name}", "HEAD")
    sandbox.git("update-ref", "-d", "refs/heads/b500")
    found = {change.name for change in changed_refs(before, take(git_dir))}
    assert found == {f"refs/heads/{name}" for name in ("main", "b3", "b333", "b699", "b500")}


def test_so_many_refs_are_read_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "refs").mkdir()
    for number in range(5):
        (tmp_path / "refs" / str(number)).write_text("12" * 20)
    for most in (0, 1, 4, 5):
        monkeypatch.setattr(fingerprint, "MOST_REFS", most)
        found = take(tmp_path)
        assert len(found.loose) == 5
        assert len(values(found)) == most


def test_the_order_of_a_directory_makes_no_ref_look_changed(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of very many refs are read depends on it, and a new ref may change all of it."""
    git_dir = sandbox.repo / ".git"
    head = sandbox.git("rev-parse", "HEAD")
    for number in range(700):
        (git_dir / "refs" / "heads" / f"b{number}").write_text(head + "\n")
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: sorted(scandir(path), key=named))
    before = take(git_dir)
    monkeypatch.setattr(os, "scandir", lambda path: sorted(scandir(path), key=named, reverse=True))
    assert changed_refs(before, take(git_dir)) == []
    sandbox.git("update-ref", "refs/heads/new", "HEAD")
    assert [change.name for change in changed_refs(before, take(git_dir))] == ["refs/heads/new"]


def test_an_index_that_cannot_be_compared_is_not_guessed_at(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    git_dir = sandbox.repo / ".git"
    before = take(git_dir)
    size = (git_dir / "index").stat().st_size
    (sandbox.repo / "hello.txt").write_text("more\n")
    sandbox.git("add", "hello.txt")
    after = take(git_dir)
    size = max(size, (git_dir / "index").stat().st_size)
    monkeypatch.setattr(fingerprint, "LARGEST_INDEX", size)
    assert changed_index(before, after, SHA1) == [b"hello.txt"]
    monkeypatch.setattr(fingerprint, "LARGEST_INDEX", size - 1)
    assert changed_index(before, after, SHA1) is None
    assert changed_index(before, before, SHA1) == []
    monkeypatch.undo()
    (git_dir / "index").unlink()
    (git_dir / "index").write_bytes(b"x" * size)
    torn = take(git_dir)
    (git_dir / "index").unlink()
    (git_dir / "index").symlink_to("config")
    link = take(git_dir)
    (git_dir / "index").unlink()
    os.mkfifo(git_dir / "index")
    pipe = take(git_dir)  # it waits for no writer
    (git_dir / "index").unlink()
    gone = take(git_dir)
    others = (torn, link, pipe, gone)
    for each in others:
        assert changed_index(after, each, SHA1) is None
        assert changed_index(each, after, SHA1) is None
    assert changed_index(gone, take(git_dir), SHA1) == []
    for each in (before, after, *others):
        each.close()
        if each.index_file is not None:
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(each.index_file)


def test_an_index_that_was_written_over_in_its_place_is_not_taken_for_the_same(
    sandbox: Sandbox,
) -> None:
    git_dir = sandbox.repo / ".git"
    before = take(git_dir)
    with (git_dir / "index").open("r+b") as file:
        file.seek(50)
        file.write(b"another")
    after = take(git_dir)
    assert changed_index(before, after, SHA1) is None
    for each in (before, after):
        each.close()


def test_what_a_ref_names_and_whether_there_is_one(sandbox: Sandbox) -> None:
    git_dir, head = sandbox.repo / ".git", sandbox.git("rev-parse", "HEAD")
    sandbox.git("tag", "-a", "-m", "x", "v1")
    tag = sandbox.git("rev-parse", "v1")
    sandbox.git("branch", "packed")
    sandbox.git("pack-refs", "--all")
    sandbox.git("commit", "-q", "--allow-empty", "-m", "x")
    new = sandbox.git("rev-parse", "HEAD")
    heads = git_dir / "refs" / "heads"
    (heads / "locked.lock").write_text(head + "\n")
    (heads / "deep").mkdir()
    (heads / "deep" / "er").write_text(new)
    (heads / "link").symlink_to("main")
    (heads / "to").symlink_to(heads / "deep")
    os.mkfifo(heads / "pipe")
    (heads / "empty").write_text("")
    (heads / "symbolic").write_text("ref: refs/heads/main\n")
    found = take(git_dir)
    assert values(found) == {
        "refs/heads/main": new,
        "refs/heads/packed": head,
        "refs/heads/deep/er": new,
        "refs/tags/v1": tag,
    }
    for name in (*values(found), "refs/heads/link", "refs/heads/pipe"):
        assert has_ref(found, name)
    for name in ("refs/heads/locked.lock", "refs/heads/deep", "refs/heads/to/er", "# pack-refs"):
        assert not has_ref(found, name)
    assert found.loose["refs/heads/link"].value is None
    assert found.head == b"ref: refs/heads/main\n"


def test_a_ref_has_the_id_of_either_hash_and_no_other_value(tmp_path: Path) -> None:
    (tmp_path / "refs").mkdir()
    for size in (39, 40, 41, 63, 64, 65):
        (tmp_path / "refs" / str(size)).write_text("a" * size + "\n")
    assert values(take(tmp_path)) == {"refs/40": "a" * 40, "refs/64": "a" * 64}


def test_of_packed_refs_only_lines_with_a_name_are_refs(tmp_path: Path) -> None:
    before = take(tmp_path)
    lines = ("# pack-refs with: peeled", f"{'a' * 40} refs/tags/v1", f"^{'b' * 40}", "nonsense")
    (tmp_path / "packed-refs").write_text("\n".join(lines))
    change = RefChange("refs/tags/v1", None, "a" * 40)
    assert changed_refs(before, take(tmp_path)) == [change]


def test_a_ref_that_went_away_while_it_was_looked_at_is_gone_later(tmp_path: Path) -> None:
    later = take(tmp_path)
    before = later._replace(loose={"refs/x": LooseRef(None, None)})
    assert changed_refs(before, before) == []
    assert changed_refs(before, later) == [RefChange("refs/x", "?", None)]


def test_an_index_that_was_written_anew_as_it_was_has_not_changed(sandbox: Sandbox) -> None:
    index = sandbox.repo / ".git/index"
    before = take(sandbox.repo / ".git")
    (sandbox.repo / "copy").write_bytes(index.read_bytes())
    (sandbox.repo / "copy").rename(index)
    after = take(sandbox.repo / ".git")
    assert before.index_mark != after.index_mark
    assert changed_index(before, after, SHA1) == []
    for each in (before, after):
        each.close()


def test_a_change_of_a_ref_has_both_values(sandbox: Sandbox) -> None:
    git_dir, head = sandbox.repo / ".git", sandbox.git("rev-parse", "HEAD")
    heads = git_dir / "refs" / "heads"
    sandbox.git("pack-refs", "--all")
    (heads / "link").symlink_to("main")
    before = take(git_dir)
    mark = before.loose["refs/heads/link"].mark
    assert mark is not None
    sandbox.git("branch", "new")
    (heads / "link").unlink()
    assert changed_refs(before, take(git_dir)) == [
        RefChange("refs/heads/link", "?" + ".".join(map(str, mark)), None),
        RefChange("refs/heads/new", None, head),
    ]
    sandbox.git("commit", "-q", "--allow-empty", "-m", "x")
    now = sandbox.git("rev-parse", "HEAD")
    third = take(git_dir)
    assert RefChange("refs/heads/main", head, now) in changed_refs(before, third)
    sandbox.git("update-ref", "refs/heads/main", head)  # loose, as it was packed
    assert "refs/heads/main" not in [each.name for each in changed_refs(before, take(git_dir))]


def test_what_steers_git_is_compared_by_marks(sandbox: Sandbox) -> None:
    git_dir = sandbox.repo / ".git"
    (git_dir / "hooks").mkdir(exist_ok=True)
    for name in ("pre-commit", "post-merge", "pre-push.sample"):
        (git_dir / "hooks" / name).write_text("#!/bin/sh\n")
    sandbox.git("worktree", "add", "-q", str(sandbox.directory / "linked"))
    before = take(git_dir)
    assert set(before.hooks) >= {"pre-commit", "post-merge"}
    assert not any(name.endswith(".sample") for name in before.hooks)
    assert list(before.worktrees) == ["linked"]
    (git_dir / "hooks" / "pre-commit").chmod(0o755)
    (git_dir / "hooks" / "post-merge").unlink()
    (git_dir / "hooks" / "pre-push").write_text("")
    (git_dir / "info" / "exclude").write_text("*.o\n")
    (git_dir / "shallow").write_text("")
    sandbox.git("checkout", "-q", "--detach", cwd=sandbox.directory / "linked")
    after = take(git_dir)
    assert changed_marks(before.hooks, after.hooks) == [
        ("post-merge", "removed"),
        ("pre-commit", "changed"),
        ("pre-push", "made"),
    ]
    steering = dict(changed_marks(before.steering, after.steering))
    assert steering == {"info/exclude": steering["info/exclude"], "shallow": "made"}
    assert changed_marks(before.worktrees, after.worktrees) == [("linked", "changed")]


def named(entry: "os.DirEntry[str]") -> str:
    return entry.name
