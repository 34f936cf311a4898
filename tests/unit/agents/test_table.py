"""The list of agents is whole and agrees with itself, and nothing else lists them."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import siding
from siding.agents import table
from siding.agents.table import (
    AGENTS,
    BY_NAME,
    BY_PROGRAM,
    OBEYED,
    PORTS,
    draws_no_screen,
    talks,
)

SOURCE = Path(siding.__file__).parent
MODULES = Path(table.__file__).parent


def test_names_and_programs_are_an_agents_own() -> None:
    assert len(BY_NAME) == len(AGENTS)
    assert len(BY_PROGRAM) == sum(len(agent.programs) for agent in AGENTS)
    for agent in AGENTS:
        assert agent.programs
        for word in (agent.name, *agent.programs):
            assert re.fullmatch(r"[a-z][a-z0-9-]*", word), word


def test_what_an_agent_obeys_is_its_own_and_relative() -> None:
    assert len(OBEYED) == len(set(OBEYED))
    for name in OBEYED:
        assert re.fullmatch(r"[A-Z]+\.md|\.[a-z][a-z.]*/?", name), name


def test_a_run_loads_the_names_alone() -> None:
    script = "import sys, siding.running.run, siding.guard.judgement; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True, timeout=30
    )
    ours = f"{table.__package__}."
    loaded = {name for name in done.stdout.split() if name.startswith(ours)}
    # What agents obey is known to who looks for traps.
    assert loaded == {table.__name__, f"{ours}start_up_files"}


def test_nothing_else_lists_agents() -> None:
    """A second list would soon differ from the first: the domains are given the names."""
    models = (
        SOURCE / "assistant" / "models"
    )  # families of models, some of which are called like agents
    others = [
        path
        for path in SOURCE.rglob("*.py")
        if not path.is_relative_to(MODULES) and not path.is_relative_to(models)
    ]
    texts = {path: path.read_text(encoding="utf-8") for path in others}
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {sorted(named)}"
        for path, text in texts.items()
        if len({*_names_in(re.sub(r"\\[nrt]", " ", text))}) > 1  # else it lists none
        for line, named in _lists(ast.parse(text))
    ]
    assert others
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "X = {'claude', 'codex'}",
        "X = frozenset(['codex', 'aider'])",
        "X = {'claude': 1, 'gemini': 2}",
        "if name in ('claude', 'codex'): pass",
        "X = names('''\nclaude\ncodex\n''')",
        "X = r'\\.(?:claude|codex)/'",
    ],
)
def test_a_list_of_agents_is_seen_however_it_is_written(text: str) -> None:
    assert [*_lists(ast.parse(text))]


@pytest.mark.parametrize("text", ["'''claude or codex'''", "X = ['claude', 'clang', 'Codex']"])
def test_one_name_or_a_sentence_is_no_list(text: str) -> None:
    assert not [*_lists(ast.parse(text))]


def _lists(tree: ast.AST) -> Iterator[tuple[int, set[str]]]:
    """Find the literals, of one text or of several, that name two agents or more."""
    sentences = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    sentences |= {  # the help of a verb
        id(node.args[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) == "Verb"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict | ast.Constant):
            named = {name for text in _texts(node) for name in _names_in(text)}
            if len(named) > 1 and id(node) not in sentences:
                yield node.lineno, named


def _texts(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def _names_in(text: str) -> Iterator[str]:
    words = re.split(r"[^\w.-]+", text)
    return (word for word in words if word in BY_PROGRAM or word in BY_NAME)


def test_which_command_lines_draw_no_screen() -> None:
    for line in ("claude -p x", "/bin/codex exec x", "gemini -p x", "opencode run x"):
        assert draws_no_screen(line.split()), line
    for line in ("claude", "claude --continue", "codex", "make -p", "opencode"):
        assert not draws_no_screen(line.split()), line


def test_which_command_lines_wait_for_a_person() -> None:
    for line in ("claude", "/bin/codex --search", "gemini -i x", "opencode", "kimi", "aider a.py"):
        assert talks(line.split()), line
    for line in (
        "claude -p x",
        "codex review",
        "aider --message=x",
        "opencode serve",
        "make",
        "mini",
    ):
        assert not talks(line.split()), line


def test_what_is_known_of_all_agents_is_made_of_their_rows() -> None:
    assert set(BY_NAME.values()) == set(BY_PROGRAM.values()) == set(AGENTS)
    assert set(OBEYED) == {name for agent in AGENTS for name in agent.obeys}
    assert {1455, 4096, 4097} == PORTS
    assert {agent.name for agent in AGENTS if agent.traps} == {
        agent.name for agent in AGENTS if agent.title
    }
    starts = [start for agent in AGENTS for start in agent.models]
    assert {"claude", "gpt-", "o3", "gemini-", "anthropic:"} <= set(starts)
    assert len(starts) == len(set(starts))


# They have no option that switches questions off: `llm` runs no tools unasked, and of Auggie none
# is known.
WITHOUT_GUARDS = {"llm", "auggie"}


def test_what_an_agent_may_not_be_started_with_by_another_is_known() -> None:
    rows = Path(siding.__file__).parent / "shellguard/programs/table/agents.yaml"
    known = {name for row in yaml.safe_load(rows.read_text("utf-8")) for name in row.split()}
    programs = {program for agent in table.AGENTS for program in agent.programs}
    assert programs - known == WITHOUT_GUARDS
