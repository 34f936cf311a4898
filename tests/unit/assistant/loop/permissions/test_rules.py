"""The grammar of rules: what is one, what is none, and lists of them."""

import pytest

from siding.assistant.loop.permissions.rules import (
    BadRule,
    BypassRefused,
    PermissionMode,
    mode_named,
    parse_allow,
    parse_rule,
    require_allowed,
    split_list,
)
from siding.ground.errors import UsageError


@pytest.mark.parametrize(
    ("text", "tool", "pattern"),
    [
        ("Bash", "Bash", ""),
        (" Bash ", "Bash", ""),
        ("Bash()", "Bash", ""),
        ("Bash(*)", "Bash", ""),
        ("Bash(git commit:*)", "Bash", "git commit:*"),
        ("Bash(python -c 'print(1)')", "Bash", "python -c 'print(1)'"),
        (r"Bash(echo \(\))", "Bash", "echo ()"),
        (r"Bash(echo \*)", "Bash", r"echo \*"),
        ("Edit(//abs/**)", "Edit", "//abs/**"),
        ("mcp__a-b__c.d", "mcp__a-b__c.d", ""),
        ("WebFetch(domain:*.example.org)", "WebFetch", "domain:*.example.org"),
    ],
)
def test_a_text_is_read_as_a_rule(text: str, tool: str, pattern: str) -> None:
    assert parse_rule(text)[:2] == (tool, pattern)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no name of a tool"),
        ("Bash(git", "not closed"),
        ("Bash)", "not closed"),
        ("Bash(git) x", "not closed"),
        (r"Bash(git\)", "not closed"),
        ("git commit", "no name of a tool"),
        ("Bash(git:* push)", "at its end"),
        ("Bash(:*)", "no command"),
        ("WebFetch(example.org)", "domain:"),
        ("WebFetch(domain:a/b)", "domain:"),
        ("mcp__a__b(x)", "no pattern"),
        ("B*(x)", "no pattern"),
        ("Bash(a\0)", "NUL"),
        ("x" * 20_000, "characters"),
    ],
)
def test_a_text_that_is_no_rule_is_told_why(text: str, says: str) -> None:
    with pytest.raises(BadRule, match=says):
        parse_rule(text)


@pytest.mark.parametrize("text", ["*", "mcp__*", "Ba*", "mcp__*__x"])
def test_nothing_that_nobody_has_named_is_allowed(text: str) -> None:
    parse_rule(text)
    with pytest.raises(BadRule, match="does not name"):
        parse_allow([text])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        ("Read", ("Read",)),
        ("Read,Edit", ("Read", "Edit")),
        ("Read Edit\nBash", ("Read", "Edit", "Bash")),
        ("Read, Edit ,", ("Read", "Edit")),
        ("Bash(git log:*),Read", ("Bash(git log:*)", "Read")),
        ("Bash(a, b) Edit(c d)", ("Bash(a, b)", "Edit(c d)")),
        ("Bash(f (x) y) Read", ("Bash(f (x) y)", "Read")),
        (r"Bash(a\) b) Read", (r"Bash(a\) b)", "Read")),
    ],
)
def test_a_list_is_separated_outside_of_brackets(text: str, found: tuple[str, ...]) -> None:
    assert split_list(text) == found


def test_modes_have_the_names_that_the_sdk_knows() -> None:
    assert [mode_named(mode.value) for mode in PermissionMode] == list(PermissionMode)
    assert mode_named("manual") is PermissionMode.DEFAULT
    assert mode_named("auto") is PermissionMode.DEFAULT
    with pytest.raises(UsageError, match="freely"):
        mode_named("freely")


def test_everything_is_allowed_in_a_sandbox_only() -> None:
    require_allowed(PermissionMode.BYPASS, is_sandboxed=True)
    require_allowed(PermissionMode.ACCEPT_EDITS, is_sandboxed=False, may_bypass=False)
    with pytest.raises(BypassRefused, match="needs a sandbox"):
        require_allowed(PermissionMode.BYPASS, is_sandboxed=False)
    with pytest.raises(BypassRefused, match="settings forbid"):
        require_allowed(PermissionMode.BYPASS, is_sandboxed=True, may_bypass=False)
