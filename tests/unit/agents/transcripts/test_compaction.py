"""Compactions: what they keep, where they cut, what their boundary says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.transcripts import compaction
from siding.agents.transcripts.compaction import (
    CLEARED,
    Breaker,
    Keep,
    Making,
    Trigger,
    by_memory,
    clean_summary,
    full,
    micro,
    partial,
    rounds,
    safe_cut,
    snippable,
)
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.messages import (
    text_of,
    tool_results,
    tool_uses,
)
from siding.ground.errors import UsageError

from .building import at, called, line, result, said


def making(**more: object) -> Making:
    return Making(new_id=iter(["b", "c"]).__next__, now=at(50))._replace(**more)  # type: ignore[arg-type]


def talk() -> list[Record]:
    return line(
        [
            said("u1", None, 1),
            called("a1", None, 2, "t1", answer="M"),
            result("r1", None, 3, "t1", "one"),
            said("a2", None, 4, "assistant"),
            said("u2", None, 5),
            called("a3", None, 6, "t2", "t3"),
            result("r2", None, 7, "t2", "two"),
            result("r3", None, 8, "t3", "three"),
        ]
    )


def test_the_boundary_says_what_there_is_to_know() -> None:
    boundary, summary = full(
        talk(),
        "in short",
        making(
            trigger=Trigger.AUTO,
            pre_tokens=900,
            user_context="mind the tests",
            discovered_tools=("Grep",),
        ),
    )
    assert (boundary["type"], boundary["subtype"]) == ("system", "compact_boundary")
    assert boundary["parentUuid"] is None
    assert boundary["logicalParentUuid"] == "r3"
    assert boundary["compactMetadata"] == {
        "trigger": "auto",
        "preTokens": 900,
        "userContext": "mind the tests",
        "messagesSummarized": 8,
        "preCompactDiscoveredTools": ["Grep"],
    }
    assert summary["isCompactSummary"] is True
    assert summary["parentUuid"] == "b"
    assert text_of(summary).endswith("in short")


@pytest.mark.parametrize(
    ("keep", "segment"),
    [(Keep.TAIL, ("u2", "c", "r3")), (Keep.HEAD, ("u1", "b", "a2"))],
)
def test_a_part_is_kept_by_naming_it(keep: Keep, segment: tuple[str, str, str]) -> None:
    boundary, _ = partial(talk(), "u2", "s", making(), keep=keep)
    kept = boundary["compactMetadata"]["preservedSegment"]
    assert (kept["headUuid"], kept["anchorUuid"], kept["tailUuid"]) == segment
    assert boundary["compactMetadata"]["messagesSummarized"] == 4


def test_a_cut_never_parts_a_call_from_its_result() -> None:
    boundary, _ = partial(talk(), "r3", "s", making())
    assert boundary["compactMetadata"]["preservedSegment"]["headUuid"] == "a3"
    with pytest.raises(UsageError, match="nothing is left"):
        partial(talk()[1:3], "r1", "s", making())
    with pytest.raises(UsageError, match="not in the active part"):
        partial(talk(), "nobody", "s", making())


@given(st.integers(0, 8))
def test_any_cut_is_safe(index: int) -> None:
    records = talk()
    found = safe_cut(records, index)
    assert found <= index
    calls = {call["id"] for each in records[:found] for call in tool_uses(each)}
    results = {each["tool_use_id"] for one in records[found:] for each in tool_results(one)}
    assert not calls & results


def test_memory_is_a_summary_nobody_has_to_write() -> None:
    boundary, summary = by_memory(talk(), "what I remember", "a2", making())
    assert boundary["compactMetadata"]["preservedSegment"]["headUuid"] == "u2"
    assert text_of(summary).endswith("what I remember")
    boundary, _ = by_memory(talk(), "all of it", None, making())
    assert "preservedSegment" not in boundary["compactMetadata"]


def test_micro_replaces_old_results_once() -> None:
    entry = micro(talk(), keep_last=1)
    assert entry is not None
    assert [each["toolUseId"] for each in entry["replacements"]] == ["t1", "t2"]
    assert {each["replacement"] for each in entry["replacements"]} == {CLEARED}
    assert micro(talk(), keep_last=3) is None
    assert micro(talk(), keep_last=0, tools=frozenset({"Read"})) is None


def test_a_snip_takes_the_results_of_its_calls_along() -> None:
    assert snippable(talk(), "u2", "a3") == ["u2", "a3", "r2", "r3"]
    line_ = compaction.snip(["u2"], making())
    assert (line_["type"], line_["subtype"]) == ("system", "snip_boundary")
    with pytest.raises(UsageError):
        snippable(talk(), "a3", "u2")


def test_rounds_begin_with_each_new_answer() -> None:
    def shape(records: list[Record]) -> list[list[str]]:
        return [[each["uuid"] for each in group] for group in rounds(records)]

    assert shape([]) == []
    assert shape(talk()) == [["u1"], ["a1", "r1"], ["a2", "u2"], ["a3", "r2", "r3"]]
    streamed = line(
        [called("x1", None, 1, "t1", answer="M"), called("x2", None, 2, "t2", answer="M")]
    )
    assert shape(streamed) == [["x1", "x2"]]
    assert shape([said("u1", None, 1), said("u2", None, 2)]) == [["u1", "u2"]]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("<analysis>a\nb</analysis>", ""),
        ("<summary> x </summary>", "Summary:\nx"),
        ("<analysis>a</analysis>\n\n<summary>x</summary>\n", "Summary:\nx"),
        ("plain", "plain"),
        ("a\n\n\n\nb", "a\n\nb"),
        ("  x  ", "x"),
        ("", ""),
        ("<analysis>a</analysis> between <summary>s</summary>", "between Summary:\ns"),
    ],
)
def test_a_models_summary_is_cleaned(text: str, clean: str) -> None:
    assert clean_summary(text) == clean


def test_three_failures_in_a_row_stop_it() -> None:
    breaker = Breaker()
    for _ in range(2):
        breaker.failed()
    breaker.succeeded()
    for _ in range(3):
        assert not breaker.is_open
        breaker.failed()
    assert breaker.is_open
