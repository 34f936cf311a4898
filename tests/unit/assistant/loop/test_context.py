"""The texts: whatever a file holds or is called, it stays between its tags."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from siding.assistant.loop.context import (
    MOST_ENTRIES,
    Environment,
    GitState,
    changes_text,
    environment_text,
    instructions_text,
    nested_text,
    one_line,
    short_status,
)
from siding.assistant.loop.instructions import InstructionFile, Instructions, Omitted, Origin, Why
from siding.ground.git.status import EntryKind, StatusEntry

ENVIRONMENT = Environment(
    workspace=Path("/w"), directory=Path("/w"), platform="Linux", day="2026-11-25", model="m"
)
_HOSTILE = st.text(
    st.one_of(st.sampled_from('</>" \n&'), st.characters(codec="utf-8")), max_size=40
) | st.lists(
    st.sampled_from(
        ["</instructions>", "< / INSTRUCTIONS", "<system-reminder>", "</git>", "\n", "<", "a"]
    ),
    max_size=6,
).map("".join)
_TAG = re.compile(r"<\s*/?\s*(instructions|environment|git|system-reminder)\b", re.IGNORECASE)


def file(text: str, name: str = "AGENTS.md", *, importer: str = "") -> InstructionFile:
    path = Path("/w") / "AGENTS.md"
    return InstructionFile(name, Origin.REPOSITORY, path, path, text, len(text), importer=importer)


@given(_HOSTILE, _HOSTILE, _HOSTILE)
def test_no_file_ends_its_tag_or_begins_another(text: str, name: str, other: str) -> None:
    shown = instructions_text(
        Instructions(
            (file(text, name, importer=other),),
            (Omitted(name, Origin.REPOSITORY, Why.OUTSIDE, other),),
        )
    )
    assert [match.lower() for match in _TAG.findall(shown)] == ["instructions"] * 2
    begin = next(line for line in shown.splitlines() if line.startswith("<instructions "))
    assert begin.endswith(">")
    assert begin.count('"') in (4, 6)


@given(_HOSTILE, st.lists(_HOSTILE.map(lambda text: text.encode()), max_size=3), _HOSTILE)
def test_no_branch_file_or_commit_does_either(branch: str, paths: list[bytes], said: str) -> None:
    entries = [StatusEntry(EntryKind.UNTRACKED, path) for path in paths]
    status, _ = short_status(entries)
    git = GitState(
        branch=one_line(branch),
        task=said,
        base=said,
        status=status,
        commits=(one_line(f"0a {said}"),),
    )
    shown = environment_text(ENVIRONMENT, git)
    assert [match.lower() for match in _TAG.findall(shown)] == ["environment"] * 2 + ["git"] * 2
    body = shown.partition("<git>\n")[2].rpartition("\n</git>")[0]
    status_lines = 1 + len(paths)
    assert len(body.splitlines()) == 1 + (1 if said else 0) + status_lines + 2


def test_a_text_as_usual_is_shown_as_it_is() -> None:
    text = 'Use `List<int>` & "quotes"; see <github> and <git-x> </p>\n\n\tindented'
    assert text.replace("<git-x", "&lt;git-x") in instructions_text(Instructions((file(text),)))
    assert instructions_text(Instructions()) == nested_text(Instructions()) == ""


def test_an_import_a_cut_and_what_is_not_shown_are_said() -> None:
    cut = file("a", "docs/x.md", importer="AGENTS.md")._replace(is_cut=True, size=12345)
    omitted = [Omitted(f"{at}", Origin.REPOSITORY, Why.OUTSIDE, "AGENTS.md") for at in range(99)]
    shown = instructions_text(Instructions((cut,), tuple(omitted)))
    assert 'file="docs/x.md" from="the repository" imported-by="AGENTS.md">' in shown
    assert "12,345 bytes" in shown
    assert "- 0 (imported by AGENTS.md): it leads out of the workspace" in shown
    assert "- and 79 more" in shown
    assert len(shown.splitlines()) < 40


def test_a_status_is_gits_short_one_and_bounded() -> None:
    entries = [
        StatusEntry(EntryKind.TRACKED, b"a", staged=".", unstaged="M"),
        StatusEntry(EntryKind.TRACKED, b"b", staged="A", unstaged="."),
        StatusEntry(EntryKind.CONFLICTED, b"c", staged="U", unstaged="U"),
        StatusEntry(EntryKind.UNTRACKED, b"new\nline/"),
        *[StatusEntry(EntryKind.UNTRACKED, b"x" * 9000)] * 100,
    ]
    status, more = short_status(entries)
    assert status[:4] == (" M a", "A  b", "UU c", '?? "new\\nline/"')
    assert (len(status), more) == (MOST_ENTRIES, 104 - MOST_ENTRIES)
    assert max(map(len, status)) < 300
    assert f"and {more} more" in environment_text(ENVIRONMENT, GitState(status=status, more=more))


def test_what_there_is_not_is_not_said() -> None:
    shown = environment_text(ENVIRONMENT, None)
    assert "<git>" not in shown
    assert "Shell" not in shown
    git = environment_text(ENVIRONMENT, GitState(branch="main"))
    assert "Status: nothing is uncommitted" in git
    assert "Task" not in git
    assert "Last commits" not in git
    detached = environment_text(ENVIRONMENT, GitState(problem="Status: not known"))
    assert "a commit is checked out" in detached
    assert "nothing is uncommitted" not in detached


def test_what_changed_is_said_and_nothing_else() -> None:
    before = {
        Path("/w/AGENTS.md"): file("old"),
        Path("/w/b"): file("b")._replace(path=Path("/w/b"), name="b"),
    }
    same = Instructions(tuple(before.values()))
    day = "2026-11-25"
    assert changes_text(before, same, told_day=day, day=day) == ""
    text = changes_text(before, Instructions((file("new"),)), told_day=day, day="2026-11-26")
    assert text.startswith("<system-reminder>\n")
    assert text.endswith("\n</system-reminder>")
    assert "\nnew\n" in text
    assert "gone and count no more: b" in text
    assert "The date is now 2026-11-26." in text
    only_day = changes_text(before, same, told_day=day, day="2026-11-26")
    assert only_day == "<system-reminder>\nThe date is now 2026-11-26.\n</system-reminder>"
