"""``policy.yaml``: the bar tool's file reads; what is not understood blocks, and says where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.shellguard.face import Action, Policy

from .setting import judged, rules_of

BAR = rb"""
version: 1
rules:
  - name: no-rm-rf-root
    pattern: "rm\\s+-rf\\s+/"
    action: block
    reason: "Dangerous: recursive delete from root"
  - name: no-disk-write
    pattern: ">\\s*/dev/sd"
    action: block
    reason: "Dangerous: write to disk device"
  - name: warn-make
    pattern: "^make\\s+"
    action: warn
    reason: "Warning"
"""


def test_a_policy_of_the_bar_tool_reads() -> None:
    policy = Policy.read(BAR)
    assert policy.broken == ""
    assert [rule.name for rule in policy.rules] == ["no-rm-rf-root", "no-disk-write", "warn-make"]
    assert policy.loosens == ()
    assert "no-rm-rf-root" in rules_of(judged("sudo rm -rf /", policy))
    assert judged("make all", policy).action is Action.WARN


def test_the_empty_file_is_the_built_in_rules() -> None:
    assert Policy.read(b"").broken == ""
    assert not judged("rm -rf /", Policy.read(b"# nothing\n")).runs


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("rules: [", "line"),
        ("version: 1\nrules:\n  - {name: a, pattern: '(', action: block}", "line 3"),
        ("version: 1\nrules:\n  - name: a\n    pattern: x\n    action: blok\n", "line 5"),
        ("version: 1\nrules:\n  - name: a\n    action: block\n", "line 3"),
        ("version: 1\nrule:\n  - x\n", "line 2"),
        ("version: 2\n", "line 1"),
        ("version: true\n", "line 1"),
        ("rules: 3\n", "line 1"),
        ("rules:\n  - a\n", "line 2"),
        ("rules:\n  - {name: a, pattern: x, action: log, when: never}\n", "rules[0].when"),
        ("disable: [nothing-like-it]\n", "line 1"),
        ("disable: [not-whole]\n", "never let through"),
        ("disable: [unclear]\n", "never let through"),
        ("actions: {unknown-program: log}\n", "at least asked"),
        ("actions: {delete-outside: maybe}\n", "maybe"),
        ("rules: []\nrules: []\n", "given twice"),
        ("- a\n", "mapping"),
        (
            "rules:\n  - {name: a, pattern: x, action: log}\n"
            "  - {name: a, pattern: y, action: log}\n",
            "used twice",
        ),
        ("rules:\n  - {name: git-discards, pattern: x, action: log}\n", "built-in"),
        ("a: &a [*a]\n", "deeply"),
        ("\x00", ""),
        ("x: !!python/object/apply:os.system ['id']\n", ""),
    ],
)
def test_what_is_not_a_policy_blocks_and_says_where(text: str, where: str) -> None:
    policy = Policy.read(text.encode())
    assert where in policy.broken
    assert policy.broken
    assert judged("ls", policy).action is Action.BLOCK


@given(st.binary(max_size=60))
def test_any_bytes_are_a_policy_or_a_broken_one(raw: bytes) -> None:
    policy = Policy.read(raw)
    assert policy.broken or policy.rules == ()


def test_what_loosens_is_named() -> None:
    policy = Policy.read(
        b"disable: [git]\nactions: {delete-outside: warn, git-discards: block}\n"
        b"programs: [x]\nwritable: [../cache]\n"
        b"rules:\n  - {name: r, pattern: x, action: allow}\n",
        root="/repos/proj",
    )
    assert policy.broken == ""
    assert policy.writable == ("/repos/cache",)
    assert len(policy.loosens) == 5


def test_examples_are_kept() -> None:
    policy = Policy.read(b"examples:\n  allow: [make]\n  block: ['rm -rf /', 'dd of=/dev/sda']\n")
    assert policy.examples == (
        ("make", Action.ALLOW),
        ("rm -rf /", Action.BLOCK),
        ("dd of=/dev/sda", Action.BLOCK),
    )


def test_a_pattern_that_spans_commands_is_found_in_the_line_and_no_other_is_found_twice() -> None:
    policy = Policy.read(
        b"rules:\n"
        b"  - {name: spans, pattern: 'make && rm', action: ask}\n"
        b"  - {name: each, pattern: 'rm', action: warn}\n"
        b"  - {name: fine, pattern: 'make', action: allow}\n"
    )
    found = judged("make && rm x", policy)
    ours = sorted(each.rule for each in found.findings if each.rule in ("spans", "each", "fine"))
    assert ours == ["each", "fine", "spans"]
    assert found.action is Action.ASK
