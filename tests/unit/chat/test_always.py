"""As what a yes may be kept, and what it allows from then on."""

from pathlib import Path
from typing import Any

import pytest

from siding.agents.talking.port import Asked, Choice, Edit
from siding.assistant.loop.permissions.facts import PermissionGround
from siding.chat.always import allows, facts_of_ask, offered, rule_in, words_of
from unit.assistant.loop.permissions.ground import PLACE

GROUND = PermissionGround(PLACE)
WORKSPACE = PLACE.workspace


def run(command: str, **more: Any) -> Asked:
    return Asked("a", command, "Bash", kind="execute", command=command, **more)


def edit(*paths: str, **more: Any) -> Asked:
    edits = tuple(Edit(f"{WORKSPACE}/{path}", new="x") for path in paths)
    return Asked("a", "Edit", "Edit", **{"kind": "edit", "edits": edits, **more})


def use(tool: str, kind: str = "other", **given: Any) -> Asked:
    return Asked("a", tool, tool, kind=kind, input=given)


def rules_of(asked: Asked) -> list[str]:
    facts = facts_of_ask(asked, GROUND)
    return [] if facts is None else [each.text for each in offered(facts, GROUND)]


def lets(rules: list[str], asked: Asked) -> bool:
    facts = facts_of_ask(asked, GROUND)
    kept = [rule for rule in map(rule_in, rules) if rule is not None]
    assert len(kept) == len(rules)
    return facts is not None and allows(kept, facts, GROUND)


@pytest.mark.parametrize(
    ("asked", "rules", "words"),
    [
        (run("git status --short"), ["Bash(git status:*)"], "run `git status …`"),
        (run("touch one"), ["Bash(touch:*)"], "run `touch …`"),
        (run("rm -rf build"), ["Bash(rm -rf build)"], "run exactly `rm -rf build`"),
        (run("python3 x.py"), ["Bash(python3 x.py)"], "run exactly `python3 x.py`"),
        (
            run("git add a && git commit -m x"),
            ["Bash(git add:*)", "Bash(git commit:*)"],
            "run `git add …` and `git commit …`",
        ),
        (edit("src/a.py"), ["Edit(/src/**)"], "change files in src/"),
        (edit("a.py"), ["Edit(/a.py)"], "change a.py"),
        (
            edit("src/a.py", "src/b.py", "doc/c"),
            ["Edit(/src/**)", "Edit(/doc/**)"],
            "change files in src/ and doc/",
        ),
        (
            use("WebFetch", "fetch", url="https://a.example/x"),
            ["WebFetch(domain:a.example)"],
            "fetch from a.example",
        ),
        (use("Read", "read", file_path="/srv/x/y"), ["Read(//srv/x/**)"], "read files in /srv/x/"),
        (use("mcp__shop__buy", what="milk"), ["mcp__shop__buy"], "use mcp__shop__buy"),
        (use("shop.buy"), ["shop.buy"], "use shop.buy"),
    ],
)
def test_a_yes_is_kept_as_a_narrow_rule_that_says_what_it_allows(
    asked: Asked, rules: list[str], words: str
) -> None:
    assert rules_of(asked) == rules
    assert words_of([rule for rule in map(rule_in, rules) if rule]) == words
    assert lets(rules, asked)


NOT_UNDERSTOOD = {
    "a variable's value": run("$CMD x"),
    "what another command prints": run("eval $(cat x)"),
    "a broken line": run("git status '"),
    "two lines": run("make a\nmake b\nsh -c 'x'"),
    "a long one": run(f"sh -c '{'x' * 200}'"),
    "a pattern": run("rm *"),
    "many commands": run("touch a; mkdir b; cp a b; git add b"),
    "a command into a file": run("echo x > ~/.bashrc"),
    "a command that is more": run("ls", gives_more=True),
    "a command that is an edit": run("ls", edits=(Edit("a"),)),
    "no command": Asked("a", "PowerShell", "PowerShell", kind="execute"),
    "a question": Asked("a", "Which?", choices=(Choice("Which?"),)),
    "a file that steers agents": edit("CLAUDE.md"),
    "a file that git runs": edit(".git/hooks/pre-commit"),
    "a file elsewhere": edit("../other/a.py"),
    "a name that is a pattern": edit("src/[a]/x.py"),
    "no file": edit(),
    "a removal": edit("src/a.py", kind="delete"),
    "an edit of another kind": edit("src/a.py", kind="other"),
    "no address": use("WebFetch", "fetch"),
    "an address of two minds": use("WebFetch", "fetch", url="https://a.example@b.example/"),
    "no path": use("Grep", "search", pattern="x"),
    "no tool": use(""),
    "a name that means all commands": use("Bash"),
    "a name that means all edits": use("Edit"),
    "a whole server": use("mcp__shop"),
    "all tools": use("*"),
}


@pytest.mark.parametrize("asked", NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
def test_what_is_not_understood_is_never_kept(asked: Asked) -> None:
    assert rules_of(asked) == []


@pytest.mark.parametrize(
    ("rule", "asked"),
    [
        ("Bash(git status:*)", run("git status && rm -rf x")),
        ("Bash(git status:*)", run("git status > /etc/passwd")),
        ("Bash(git status:*)", run("git statusx")),
        ("Bash(git status:*)", run("git push")),
        ("Bash(git status:*)", run("ls")),  # it changes nothing, and nobody has said it
        ("Bash(git status:*)", run("LD_PRELOAD=/tmp/x.so git status")),
        ("Bash(git status:*)", run("$(rm -rf x) git status")),
        ("Bash(git status:*)", run("git status", gives_more=True)),
        ("Bash(make test)", run("make test all")),
        ("Edit(/src/**)", edit("src/a.py", "a.py")),
        ("Edit(/src/**)", edit("src/a.py", kind="delete")),
        ("Edit(/src/**)", edit("src/../a.py")),
        ("Edit(/src/**)", edit("src/CLAUDE.md")),
        ("Edit(/src/**)", run("rm src/a.py")),
        ("WebFetch(domain:a.example)", use("WebFetch", "fetch", url="https://b.example")),
        ("Read(//srv/x/**)", use("Read", "read", file_path="/srv/y")),
        ("mcp__shop__buy", use("mcp__shop__sell")),
        ("search", run("search x")),
    ],
)
def test_a_rule_allows_nothing_else(rule: str, asked: Asked) -> None:
    assert not lets([rule], asked)


def test_rules_together_allow_a_line_and_each_alone_does_not() -> None:
    line = run("cd src && git add a && git commit -m 'fix it'")
    rules = ["Bash(git add:*)", "Bash(git commit:*)"]
    assert lets(rules, line)
    assert not any(lets([each], line) for each in rules)


def test_a_link_out_of_the_workspace_is_no_file_of_it(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "src").symlink_to(outside)
    place = PLACE._replace(
        workspace=str(workspace), cwd=str(workspace), resolve=lambda path: str(Path(path).resolve())
    )
    asked = Asked("a", "Edit", "Edit", kind="edit", edits=(Edit("src/a.py"),))
    assert facts_of_ask(asked, PermissionGround(place)) is None
