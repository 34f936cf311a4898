"""What a tool that edits would change is worked out from what it was given."""

import os
from pathlib import Path
from typing import Any

import pytest

from siding.agents.edits import PatchText, Replacement, WholeFile, as_records, from_records
from siding.agents.hooks import Report, adapter_of
from siding.agents.table import AGENTS
from siding.effect.edited import LARGEST, Edited, NotKnown, edited, state_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").write_text("a = 1\nb = 2\na = 1\n")
    (root / "crlf.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    (root / "binary").write_bytes(b"\0\1\2")
    (root / "latin").write_bytes("é".encode("latin-1"))
    (root / "huge").write_bytes(b"x" * (LARGEST + 1))
    os.mkfifo(root / "pipe")
    (tmp_path / "outside").write_text("theirs\n")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "away").symlink_to(tmp_path)
    return root


def after(root: Path, *edits: Any) -> dict[str, str | None]:
    found = edited(root, root, edits)
    assert not found.outside
    return {each.path: None if each.after is None else each.after.decode() for each in found.made}


def patch(*lines: str) -> PatchText:
    return PatchText("\n".join(("*** Begin Patch", *lines, "*** End Patch")))


def test_edits_follow_each_other(root: Path) -> None:
    first = Replacement("src/app.py", "b = 2", "b = 3")
    assert after(root, first) == {"src/app.py": "a = 1\nb = 3\na = 1\n"}
    second = Replacement(str(root / "src/app.py"), "b = 3", "c = 4")
    assert after(root, first, second) == {"src/app.py": "a = 1\nc = 4\na = 1\n"}
    everywhere = Replacement("src/app.py", "a", "z", 0)
    assert after(root, everywhere) == {"src/app.py": "z = 1\nb = 2\nz = 1\n"}
    assert after(root, Replacement("src/app.py", "a = 1", "z", 2)) == {
        "src/app.py": "z\nb = 2\nz\n"
    }
    assert after(root, Replacement("crlf.txt", "one\ntwo", "1\n2")) == {
        "crlf.txt": "1\r\n2\r\nthree\r\n"
    }
    assert after(root, Replacement("new/x", "", "made\n")) == {"new/x": "made\n"}
    assert after(root, WholeFile("src/app.py", "all\n")) == {"src/app.py": "all\n"}
    assert after(root, WholeFile("binary", "text")) == {"binary": "text"}
    same = WholeFile("src/app.py", "a = 1\nb = 2\na = 1\n")
    assert after(root, same) == {}
    assert (root / "src" / "app.py").read_text() == "a = 1\nb = 2\na = 1\n"
    assert not (root / "new").exists()


def test_patches(root: Path) -> None:
    update = ("*** Update File: src/app.py", "@@", " b = 2", "-a = 1", "+a = 9")
    assert after(root, patch(*update)) == {"src/app.py": "a = 1\nb = 2\na = 9\n"}
    below = ("*** Update File: src/app.py", "@@ b = 2", "-a = 1", "+a = 9")
    assert after(root, patch(*below)) == {"src/app.py": "a = 1\nb = 2\na = 9\n"}
    blank = ("*** Update File: src/app.py", "@@", "-b = 2  ", "+b")
    assert after(root, patch(*blank)) == {"src/app.py": "a = 1\nb\na = 1\n"}
    at_end = ("*** Update File: src/app.py", "@@", "-a = 1", "+a = 9", "*** End of File")
    assert after(root, patch(*at_end)) == {"src/app.py": "a = 1\nb = 2\na = 9\n"}
    moved = (update[0], "*** Move to: src/other.py", *update[1:])
    assert after(root, patch(*moved)) == {
        "src/app.py": None,
        "src/other.py": "a = 1\nb = 2\na = 9\n",
    }
    several = ("*** Add File: n", "+new", "*** Delete File: src/app.py")
    assert after(root, patch(*several)) == {"n": "new\n", "src/app.py": None}
    append = ("*** Update File: src/app.py", "@@", "+last")
    assert after(root, patch(*append)) == {"src/app.py": "a = 1\nb = 2\na = 1\nlast\n"}


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (Replacement("src/app.py", "c", "d"), "is not in src/app.py as it is now"),
        (Replacement("src/app.py", "a = 1", "d"), "is 2 times in src/app.py, and not once"),
        (Replacement("src/app.py", "b", "d", 2), "is 1 times in src/app.py, and not 2 times"),
        (Replacement("src/app.py", "", "d"), "src/app.py is there already"),
        (Replacement("nowhere", "c", "d"), "nowhere is not there"),
        (Replacement("binary", "c", "d"), "binary is binary"),
        (Replacement("latin", "c", "d"), "latin is binary, or no text in UTF-8"),
        (Replacement("huge", "x", "d", 0), "huge is larger than 1 MiB"),
        (Replacement("pipe", "x", "d"), "pipe is no regular file"),
        (WholeFile("src", "x"), "src is no regular file"),
        (WholeFile("src/app.py/x", "x"), "src/app.py/x cannot be looked at"),
        (WholeFile("a" * 5000, "x"), "cannot be looked at"),
        (WholeFile("n\0n", "x"), "names no file"),
        (WholeFile("", "x"), "names no file"),
        (WholeFile("n", "x" * (LARGEST + 1)), "n would have more than 1 MiB"),
        (WholeFile("n", "x" * (16 << 10)), "was cut off after 16,384 characters"),
        (Replacement("src/app.py", "a", "x" * LARGEST, 0), "would have more than 1 MiB"),
        (patch("*** Update File: src/app.py", "@@", "-c"), "is not in src/app.py as it is now"),
        (patch("*** Update File: src/app.py", "?"), "neither kept, added nor taken away"),
        (patch("*** Update File: nowhere", "-c"), "nowhere is not there"),
        (patch("*** Delete File: src"), "src is no regular file"),
        (patch("*** Add File: n", "no"), "lines that are not added"),
        (PatchText("hello"), "does not begin with the name of a file"),
    ],
)
def test_what_cannot_be_known_is_said(root: Path, edit: Any, why: str) -> None:
    with pytest.raises(NotKnown) as refused:
        edited(root, root, [edit])
    assert why in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    "path", ["../outside", "link", "away/outside", "~/x", "/etc/passwd", "away/n"]
)
def test_nothing_outside_of_the_workspace_is_read(root: Path, path: str) -> None:
    for edit in (
        Replacement(path, "guess", "new"),
        WholeFile(path, "new"),
        patch(f"*** Update File: {path}", "-guess", "+new"),
        patch(f"*** Delete File: {path}"),
    ):
        found = edited(root, root, [edit])
        (given,) = found.outside
        assert not found.made
        assert not found.looked_at
        assert given.path == (path if path[0] == "~" else os.path.realpath(root / path))
        assert "theirs" not in str(given.lines)
    both = edited(
        root, root, [patch("*** Update File: src/app.py", f"*** Move to: {path}", "-b = 2")]
    )
    assert not both.made
    assert len(both.outside) == 2


def test_many_lines_that_nearly_fit_end_in_time(root: Path) -> None:
    (root / "many").write_text("a\n" * 200_000)
    chunk = ("@@", *["-a"] * 20_000, "-b")
    with pytest.raises(NotKnown, match="takes too long"):
        edited(root, root, [patch("*** Update File: many", *chunk)])


def test_a_file_that_changes_gives_another_digest(root: Path) -> None:
    def found() -> Edited:
        return edited(root, root, [WholeFile("src/app.py", "x"), WholeFile("n", "y")])

    first = found()
    assert state_of(root, first.looked_at).digest == first.seen.digest
    (root / "n").write_text("there")
    assert state_of(root, first.looked_at).digest != first.seen.digest
    assert state_of(root, first.looked_at).digest == found().seen.digest


def test_edits_are_kept_whole() -> None:
    edits = (Replacement("p", "o", "n", 0), WholeFile("p", "c"), PatchText("t"))
    assert from_records(as_records(edits)) == edits
    assert from_records([{"kind": "other"}, 1, None]) == ()
    assert from_records("no list") == ()


def said(agent: str, tool: str, given: object) -> Report:
    adapter = adapter_of(agent)
    assert adapter is not None
    payload = {
        "codex": {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given},
        "claude": {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given},
        "gemini": {"hook_event_name": "BeforeTool", "tool_name": tool, "tool_input": given},
        "opencode": {"moment": "tool", "tool": tool, "given": given},
    }[agent]
    found = adapter.read(payload)
    assert found is not None
    return found


OLD_NEW = {"old_string": "a", "new_string": "b"}
PATCH = "*** Begin Patch\n*** Add File: n\n+x\n*** End Patch\n"


@pytest.mark.parametrize(
    ("agent", "tool", "given", "edits"),
    [
        ("claude", "Write", {"file_path": "f", "content": "c"}, [WholeFile("f", "c")]),
        ("claude", "Edit", {"file_path": "f", **OLD_NEW}, [Replacement("f", "a", "b")]),
        (
            "claude",
            "Edit",
            {"file_path": "f", **OLD_NEW, "replace_all": True},
            [Replacement("f", "a", "b", 0)],
        ),
        (
            "claude",
            "MultiEdit",
            {"file_path": "f", "edits": [OLD_NEW, {**OLD_NEW, "replace_all": True}]},
            [Replacement("f", "a", "b"), Replacement("f", "a", "b", 0)],
        ),
        ("claude", "MultiEdit", {"file_path": "f", "edits": [OLD_NEW, 7]}, []),
        ("claude", "Edit", {"file_path": "f", "old_string": 1, "new_string": "b"}, []),
        ("claude", "Write", {"file_path": "f"}, []),
        ("claude", "NotebookEdit", {"notebook_path": "f"}, []),
        ("codex", "apply_patch", {"command": PATCH}, [PatchText(PATCH)]),
        (
            "codex",
            "Bash",
            {"command": f"apply_patch <<'EOF'\n{PATCH}EOF\n"},
            [PatchText(f"\n{PATCH}")],
        ),
        ("gemini", "write_file", {"file_path": "f", "content": "c"}, [WholeFile("f", "c")]),
        (
            "gemini",
            "replace",
            {"file_path": "f", **OLD_NEW, "expected_replacements": 3},
            [Replacement("f", "a", "b", 3)],
        ),
        ("opencode", "write", {"filePath": "f", "content": "c"}, [WholeFile("f", "c")]),
        (
            "opencode",
            "edit",
            {"filePath": "f", "oldString": "a", "newString": "b", "replaceAll": True},
            [Replacement("f", "a", "b", 0)],
        ),
        ("opencode", "apply_patch", {"patchText": PATCH}, [PatchText(PATCH)]),
    ],
)
def test_what_agents_say(agent: str, tool: str, given: object, edits: list[Any]) -> None:
    assert agent in {each.name for each in AGENTS}
    assert said(agent, tool, given).edits == tuple(edits)
