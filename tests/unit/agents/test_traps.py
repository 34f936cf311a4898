"""What a pattern of the table matches, against a plain reading of the rules; which part counts."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.traps import (
    LARGEST,
    TABLE,
    BadPattern,
    Pattern,
    Table,
    TrapRow,
    has_form,
    part_of,
    spread,
)

LETTERS = st.sampled_from("aAbB.")
COMPONENT = st.text(LETTERS, min_size=1, max_size=4).filter(lambda each: each.strip("."))
WILD = st.text(st.sampled_from("aAb.*?"), min_size=1, max_size=4).filter(
    lambda each: each.strip(".*?")
)
PATH = st.lists(COMPONENT, min_size=1, max_size=4).map("/".join)
PATTERN = st.builds(
    lambda anchor, parts, below: f"{anchor}{'/'.join(parts)}{below}",
    st.sampled_from(["", "/"]),
    st.lists(WILD, min_size=1, max_size=3),
    st.sampled_from(["", "/"]),
)


def matches(pattern: str, path: str) -> bool:
    return Table([TrapRow("x", "y", pattern)]).row_of(path.encode()) is not None


def plainly(pattern: str, path: str) -> bool:
    """The rules as one regular expression over the whole path."""
    inner = "".join(
        {"*": "[^/]*", "?": "[^/]"}.get(each, re.escape(each)) for each in pattern.strip("/")
    )
    begin = "" if pattern.startswith("/") else "(.*/)?"
    end = "/.+" if pattern.endswith("/") else ""
    return re.fullmatch(begin + inner + end, path, re.IGNORECASE) is not None


@given(PATTERN, PATH)
def test_it_is_what_the_rules_say(pattern: str, path: str) -> None:
    assert matches(pattern, path) is plainly(pattern, path)


@given(PATTERN, PATH, st.integers(1, 4))
def test_below_a_directory_it_is_the_rest_of_the_path(pattern: str, path: str, cut: int) -> None:
    """For patterns that begin within the directory: nobody walks through what is below it."""
    parts = path.split("/")
    directory, rest = parts[:cut], [each.casefold() for each in parts[cut:]]
    table = Table([TrapRow("x", "y", pattern)])
    found = any(
        _fits(each.components, each.is_directory, rest)
        for each in table.below("/".join(directory).encode())
    )
    anchored = pattern.strip("/") if pattern.endswith("/") is False else pattern.strip("/") + "/"
    begins = [0] if pattern.startswith("/") else range(len(directory))
    assert found is any(plainly("/" + anchored, "/".join(parts[at:])) for at in begins)


def _fits(components: tuple[str, ...], is_directory: bool, rest: list[str]) -> bool:
    more = len(rest) - len(components)
    if more < 0 or (more > 0) is not is_directory:
        return False
    return all(has_form(one, other) for one, other in zip(components, rest, strict=False))


@given(st.lists(PATTERN, min_size=1, max_size=6), PATH)
def test_the_first_row_that_matches_names_the_path(patterns: list[str], path: str) -> None:
    found = Table([TrapRow(each, "", each) for each in patterns]).row_of(path.encode())
    first = next((each for each in patterns if plainly(each, path)), None)
    assert (None if found is None else found.by) == first


@given(st.lists(st.lists(COMPONENT, max_size=3), min_size=1, max_size=3))
def test_braces_stand_for_every_choice(choices: list[list[str]]) -> None:
    written = "x".join("{" + ",".join(each or [""]) + "}" for each in choices)
    wanted = [""]
    for number, each in enumerate(choices):
        between = "x" if number else ""
        wanted = [f"{before}{between}{one}" for before in wanted for one in each or [""]]
    assert list(spread(written)) == wanted


@pytest.mark.parametrize("pattern", ["", "/", "*", "*/", "a//b", "../a", "./a", "a/..", "a\0"])
def test_what_could_match_everything_or_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(BadPattern):
        Pattern.parse(pattern)


@pytest.mark.parametrize("pattern", ["{a", "a}", "{a,{b}", "{a,b}" * 12])
def test_braces_that_do_not_close_or_are_too_many_are_refused(pattern: str) -> None:
    with pytest.raises(BadPattern):
        list(spread(pattern))


@pytest.mark.parametrize(
    ("path", "by"),
    [
        (".envrc", "direnv"),
        ("deep/in/.ENVRC", "direnv"),
        (".vscode/tasks.json", "VS Code"),
        ("app/.vscode/launch.json", "VS Code"),
        (".idea/runConfigurations/all.xml", "JetBrains' IDEs"),
        (".claude/settings.json", "Claude Code"),
        (".claude/settings.local.json", "Claude Code"),
        (".mcp.json", "agents, by MCP"),
        (".codex/config.toml", "Codex"),
        (".gemini/settings.json", "Gemini CLI"),
        ("opencode.json", "opencode"),
        (".husky/pre-commit", "husky"),
        (".githooks/post-checkout", "git"),
        (".pre-commit-config.yaml", "pre-commit"),
        ("node_modules/.bin/tsc", "npm and its kind"),
        ("web/node_modules/.bin/tsc", "npm and its kind"),
        ("Makefile", "make"),
        ("sub/makefile", "make"),
        ("justfile", "just"),
        ("conftest.py", "pytest"),
        ("lib/sitecustomize.py", "Python"),
        ("lib/x.pth", "Python"),
        ("package.json", "npm and its kind"),
        (".npmrc", "npm, yarn, pnpm, bun, node"),
        (".gitattributes", "git"),
        (".gitmodules", "git"),
        (".devcontainer/devcontainer.json", "a container of the editor"),
        (".github/workflows/ci.yml", "GitHub, Gitea, Forgejo"),
        (".siding/policy.yaml", "Siding"),
        ("eslint.config.mjs", "Node.js tools"),
        (".eslintrc.cjs", "linters and formatters"),
        ("build.gradle.kts", "Gradle"),
        (".cargo/config.toml", "cargo, rust-analyzer"),
        ("AGENTS.md", "agents"),
    ],
)
def test_the_table_names_what_runs_it(path: str, by: str) -> None:
    row = Table.usual().row_of(path.encode())
    assert row is not None
    assert row.by == by


@pytest.mark.parametrize(
    "path",
    [
        "src/main.py",
        "README.md",
        "docs/Makefile-notes.txt",
        "src/envrc",
        "test_conftest.py",
        ".gitignore",
        ".github/ISSUE_TEMPLATE.md",
        "package-lock.json",
        "claude/settings.json",
        "vscode/tasks.json",
        "src/config.js",
        "app/tasks.py",
        ".editorconfig",
        "Dockerfile",
    ],
)
def test_ordinary_files_are_none(path: str) -> None:
    assert Table.usual().row_of(path.encode()) is None


def test_every_pattern_of_the_table_can_match() -> None:
    for row in TABLE:
        for text in row.patterns.split():
            for form in spread(text):
                path = form.strip("/").replace("*", "x").replace("?", "x")
                assert matches(form, path + ("/x" if form.endswith("/") else "")), form


def test_names_that_are_no_text_are_looked_up_as_well() -> None:
    assert Table.usual().row_of(b"\xff\xfe/.envrc") is not None
    assert Table.usual().row_of(b"\xff\xfe") is None


def test_the_page_has_the_whole_table() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/traps.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \*\*(.+):\*\* (.+)$", page, re.MULTILINE)
    parts = {
        (when, each.partition(" (")[0]) for when, items in listed for each in items.split("; ")
    }
    named = {
        (row.when, " ".join([row.by, *(f"`{each}`" for each in row.patterns.split())]))
        for row in TABLE
    }
    assert parts == named


# -- Which part of a file counts as what is run ----------------------------------------------------

SCRIPTS = "json:scripts,husky"


def package(**more: object) -> bytes:
    return json.dumps({"name": "x", "version": "1", **more}).encode()


def test_only_the_values_below_the_keys_count() -> None:
    one, other = package(scripts={"a": "b"}), package(scripts={"a": "b"}, dependencies={"y": "1"})
    assert part_of(one, SCRIPTS) == part_of(other, SCRIPTS)
    assert part_of(one, SCRIPTS) != part_of(package(scripts={"a": "c"}), SCRIPTS)
    assert part_of(package(), SCRIPTS) == b""


@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff", b"[" * 100_000, b"nul"])
def test_what_cannot_be_parsed_counts_as_a_whole(content: bytes) -> None:
    assert part_of(content, SCRIPTS) == content
    if content != b"[1]":  # which is a table
        assert part_of(content, "toml:build-system") == content


def test_a_large_file_counts_as_a_whole() -> None:
    content = package(scripts={"a": "x" * LARGEST})
    assert part_of(content, SCRIPTS) == content


def test_of_attributes_only_the_lines_that_name_a_driver() -> None:
    (part,) = [row.part for row in TABLE if ".gitattributes" in row.patterns]
    assert part_of(b"* text=auto\n*.png binary\n", part) == b""
    assert part_of(b"* text\n*.bin filter=lfs diff=lfs\n", part) == b"*.bin filter=lfs diff=lfs"
    assert part_of(b"[attr]big merge=mine\n", part) == b"[attr]big merge=mine"


def test_of_toml_the_tables_below_the_keys() -> None:
    (part,) = [row.part for row in TABLE if "pyproject.toml" in row.patterns]
    plain = b'[project]\nname = "x"\nversion = "1"\n'
    assert part_of(plain, part) == b""
    assert part_of(plain + b'[build-system]\nrequires = ["y"]\n', part) != b""


def test_every_part_of_the_table_can_be_read() -> None:
    for row in TABLE:
        part_of(b"{}", row.part)
        part_of(b"\xff = x", row.part)
