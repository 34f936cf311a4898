"""Small functions, by cases that were written down for another engine, and neighbours of ours."""

from typing import Any

import pytest

from siding.workflows import display, limits, structured
from siding.workflows.acts import scripts


def text(value: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": value}]


CASES: list[tuple[Any, tuple[Any, ...], Any]] = [
    (scripts.contains_path, ("/tmp/a", "/tmp/a"), True),
    (scripts.contains_path, ("/tmp/foo", "/tmp/foobar/x.ts"), False),
    (scripts.contains_path, ("/tmp/a", "sub/file.ts"), True),
    (scripts.contains_path, ("/tmp/a", "../b"), False),
    (scripts.contains_path, ("/tmp/a", "x/../../a/y"), True),
    (scripts.contains_path, ("/tmp/a/", "/tmp/a/b"), True),
    (scripts.contains_path, ("/", "/etc"), True),
    (scripts.contains_path, ("/tmp/a", "/tmp/a/../b"), False),
    (scripts.sanitize_workflow_name, ("release",), "release"),
    (scripts.sanitize_workflow_name, ("my_workflow_2",), "my_workflow_2"),
    (scripts.sanitize_workflow_name, ("/abs/path",), None),
    (scripts.sanitize_workflow_name, (".",), None),
    (scripts.sanitize_workflow_name, ("..",), None),
    (scripts.sanitize_workflow_name, ("evil\0.ts",), None),
    (scripts.sanitize_workflow_name, ("",), None),
    (scripts.sanitize_workflow_name, ("a\\b",), None),
    (scripts.sanitize_workflow_name, ("...",), "..."),
    (limits.clamp_max_concurrency, (None,), 3),
    (limits.clamp_max_concurrency, (float("nan"),), 3),
    (limits.clamp_max_concurrency, (16,), 16),
    (limits.clamp_max_concurrency, (17,), 16),
    (limits.clamp_max_concurrency, (float("inf"),), 16),
    (limits.clamp_max_concurrency, (0,), 1),
    (limits.clamp_max_concurrency, (-5,), 1),
    (limits.clamp_max_concurrency, (2.9,), 2),
    (structured.extract_structured_output, (text("no json here"),), None),
    (structured.extract_structured_output, (text('A:\n```json\n{"f":[1]}\n```\nB.'),), {"f": [1]}),
    (structured.extract_structured_output, (text('```\n{"a":1}\n```'),), {"a": 1}),
    (structured.extract_structured_output, (text('bad { x\n{"real":1}\n{"no":2}'),), {"real": 1}),
    (structured.extract_structured_output, (text("[1,2,3]"),), None),
    (structured.extract_structured_output, (text("{broken: quotes}"),), None),
    (structured.extract_structured_output, (text('{"a":1,}'),), None),
    (structured.extract_structured_output, (text('{"a":"}"}'),), {"a": "}"}),
    (structured.extract_structured_output, (text('{"a":"\\"}"} x'),), {"a": '"}'}),
    (structured.extract_structured_output, (text('{"a":NaN} {"b":1}'),), {"b": 1}),
    (structured.extract_structured_output, (text('```\n[1]\n```\n{"b":1}'),), {"b": 1}),
    (
        structured.extract_structured_output,
        (text("no json") + text('```json\n{"k":"v"}\n```'),),
        {"k": "v"},
    ),
    (display.format_token_count, (None,), "0"),
    (display.format_token_count, (42,), "42"),
    (display.format_token_count, (999,), "999"),
    (display.format_token_count, (1000,), "1.0k"),
    (display.format_token_count, (22900,), "22.9k"),
    (display.format_duration, (0,), "0s"),
    (display.format_duration, (59999,), "59s"),
    (display.format_duration, (60000,), "1m00s"),
    (display.format_duration, (3599999,), "59m59s"),
    (display.format_duration, (7385000,), "2h03m"),
    (display.format_duration, (-1,), "0s"),
    (display.truncate_label, ("agent-1", 18), "agent-1"),
    (display.truncate_label, ("review:correctness", 18), "review:correctness"),
    (display.truncate_label, ("verify:correctness#0", 18), "verify:correctn…#0"),
    (display.truncate_label, ("verify:architecture#15", 18), "verify:archite…#15"),
    (display.truncate_label, ("a-very-long-label-no-suffix", 18), "a-very-long-label-"),
    (display.truncate_label, ("a-very-long-label#suffix", 18), "a-very-long-label#"),
    (display.tab_label, ("review-changes", "wf_abc123def"), "review-changes#3def"),
    (display.tab_label, ("x", "ab"), "x#ab"),
    (display.clamp_selected, (5, 3), 2),
    (display.clamp_selected, (-3, 3), 0),
    (display.clamp_selected, (1, 3), 1),
    (display.clamp_selected, (4, 0), 0),
]


@pytest.mark.parametrize(
    ("function", "arguments", "expected"), CASES, ids=[f"{c[0].__name__}{c[1]}" for c in CASES]
)
def test_a_function(function: Any, arguments: tuple[Any, ...], expected: Any) -> None:
    assert function(*arguments) == expected


def test_phases_are_merged() -> None:
    rows = display.merge_phases(["Scan"], [], [("X", "running"), ("X", "done")])
    assert [tuple(row) for row in rows] == [("Scan", "pending", 0, 0), ("X", "running", 1, 2)]
    rows = display.merge_phases(["A"], [("A", "done"), ("B", "running")], [("A", "running")])
    assert [tuple(row) for row in rows] == [("A", "done", 0, 1), ("B", "running", 0, 0)]
