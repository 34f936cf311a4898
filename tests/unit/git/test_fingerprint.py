"""The fingerprint of a repository: what it tells apart, and what it must not take for a change."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import Sandbox
from siding.git.index_file import entry_count, read_entries
from siding.git.snapshots.fingerprint import (
    changed_index,
    changed_marks,
    changed_refs,
    changed_settings,
    take,
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
    ],
)
def test_settings_are_told_by_their_keys(before: str, after: str, keys: list[str]) -> None:
    assert changed_settings(before.encode(), after.encode()) == keys


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


def named(entry: "os.DirEntry[str]") -> str:
    return entry.name
