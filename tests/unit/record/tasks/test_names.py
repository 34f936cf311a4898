"""Names of tasks, slugs and branches."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.record.tasks.names import branch_name, name_after_command, problem_with_name, slug


@given(st.text())
def test_every_slug_is_a_piece_of_a_branch_name(name: str) -> None:
    made = slug(name)
    assert made
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert not made.startswith("-")
    assert not made.endswith("-")
    assert "--" not in made


@given(st.text(min_size=1, max_size=30))
def test_git_accepts_every_branch(name: str) -> None:
    branch = branch_name("siding/", name, "k3v9x2ab")
    done = subprocess.run(["git", "check-ref-format", "--branch", branch], check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Fix Bug #1", "fix-bug-1"),
        ("  spaces  ", "spaces"),
        ("日本語", "task"),
        ("naïve café", "na-ve-caf"),
        ("a" * 100, "a" * 48),
    ],
)
def test_slugs(name: str, expected: str) -> None:
    assert slug(name) == expected


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "a\x1b[31m", "x" * 201, "-rf"])
def test_names_that_cannot_be(name: str) -> None:
    assert problem_with_name(name) is not None


@pytest.mark.parametrize("name", ["fix", "Fix Bug #1", "日本語", "a/b", "🚂"])
def test_names_that_can(name: str) -> None:
    assert problem_with_name(name) is None


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["true"], "true"),
        (["/usr/bin/claude", "-p", "fix the parser"], "claude: fix the parser"),
        (["codex", "exec", "--json", "add a test for x"], "codex: add a test for x"),
        (["make", "test"], "make"),
        (["python3", "tools/agent.py", "--fast"], "agent.py"),
        (["npx", "some-agent", "fix all of it"], "some-agent: fix all of it"),
        (["sh", "-c", "echo a; echo b"], "sh: echo a; echo b"),
        (["-x"], "x"),
    ],
)
def test_tasks_named_after_commands(argv: list[str], expected: str) -> None:
    assert name_after_command(argv) == expected


@given(st.lists(st.text(), min_size=1))
def test_every_command_gives_a_name_that_can_be(argv: list[str]) -> None:
    assert problem_with_name(name_after_command(argv)) is None
