"""The four views."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from siding.agents.transcripts.compaction import Making, full, partial, snip
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.reading.recovery import CUT_OFF_RESULT, as_blocks, recover
from siding.agents.transcripts.reading.views import active, screen, wire, with_replacements

from .building import at, called, line, result, said


def ids(records: list[Record]) -> list[str]:
    return [record["uuid"] for record in records]


def compacted(records: list[Record], *names: str) -> list[Record]:
    return full(records, "in short", Making(new_id=iter(names).__next__, now=at(50)))


def test_the_active_view_begins_at_the_newest_boundary_and_leaves_out_what_was_snipped() -> None:
    old = line([said("u1", None, 1), said("a1", None, 2, "assistant")])
    new = compacted(old, "b", "c")
    later = [said("u2", "c", 3), said("a2", "u2", 4, "assistant"), said("u3", "a2", 5)]
    cut = snip(["a2"], Making(new_id=lambda: "sn", now=at(6)))
    assert ids(active([*old, *new, *later, cut])) == ["b", "c", "u2", "u3", "sn"]
    assert active([]) == []


def test_the_screen_shows_what_was_compacted_away_once() -> None:
    old = line([said("u1", None, 1), said("a1", None, 2, "assistant"), said("u2", None, 3)])
    boundary, summary = partial(
        old, "u2", "in short", Making(new_id=iter("bc").__next__, now=at(50))
    )
    records = [*old, boundary, summary, said("x1", "u1", 51), said("u3", "c", 52)]
    assert ids(screen(records)) == ["u1", "a1", "u2", "b", "c", "u3"]
    assert ids(screen([*old[:2]])) == ["u1", "a1"]
    assert screen([]) == []


def test_the_wire_pairs_calls_with_results_and_alternates() -> None:
    error = said("e1", None, 5, "assistant", isApiErrorMessage=True)
    records = line(
        [
            said("s0", None, 0, "system"),
            said("u1", None, 1),
            called("a1", None, 2, "t1", answer="M"),
            called("a2", None, 2, "t2", answer="M"),
            result("r2", None, 3, "t2"),
            result("r9", None, 3, "nobody"),
            error,
            said("u2", None, 6),
        ]
    )
    found = wire(records)
    assert [each["role"] for each in found] == ["user", "assistant", "user"]
    assert [block["id"] for block in found[1]["content"]] == ["t1", "t2"]
    answers = found[2]["content"]
    assert [block.get("tool_use_id") for block in answers] == ["t1", "t2", None]
    assert answers[0]["content"] == CUT_OFF_RESULT
    assert answers[0]["is_error"] is True
    assert answers[2] == {"type": "text", "text": "words of u2"}


def test_attachments_are_rendered_by_who_knows_how() -> None:
    attached = said("t1", None, 2, "attachment", attachment={"type": "file", "filename": "f"})
    records = [said("u1", None, 1), attached]
    assert wire(records) == [{"role": "user", "content": "words of u1"}]
    found = wire(records, render=lambda attachment: f"see {attachment['filename']}")
    assert found[0]["content"][1]["text"] == "see f"


def test_replaced_results_are_sent_as_replaced() -> None:
    records = line([called("a1", None, 1, "t1"), result("r1", None, 2, "t1", "long")])
    short = with_replacements(records, [{"toolUseId": "t1", "replacement": "short"}])
    assert short[1]["message"]["content"][0]["content"] == "short"
    assert records[1]["message"]["content"][0]["content"] == "long"
    assert (
        wire(records, replacements=[{"toolUseId": "t1", "replacement": "short"}])[1]["content"][0][
            "content"
        ]
        == "short"
    )


BLOCKS = st.lists(
    st.one_of(
        st.builds(lambda t: {"type": "text", "text": t}, st.text(max_size=3)),
        st.builds(
            lambda n: {"type": "tool_use", "id": f"t{n}", "name": "B", "input": {}},
            st.integers(0, 4),
        ),
        st.builds(
            lambda n: {"type": "tool_result", "tool_use_id": f"t{n}", "content": "x"},
            st.integers(0, 4),
        ),
    ),
    max_size=3,
)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), BLOCKS), max_size=10))
def test_whatever_the_chain_the_wire_is_fit_to_send(
    messages: list[tuple[str, list[dict[str, Any]]]],
) -> None:
    used: set[str] = set()
    records = []
    for number, (kind, content) in enumerate(messages):
        wrong = "tool_result" if kind == "assistant" else "tool_use"
        fresh = [
            block for block in content if block["type"] != wrong and block.get("id") not in used
        ]
        used |= {block["id"] for block in fresh if "id" in block}
        unique = {str(block.get("id", at)): block for at, block in enumerate(fresh)}
        message = {"role": kind, "content": list(unique.values())}
        records.append(said(f"m{number}", None, number, kind, message=message))
    found = wire(line(records))
    roles = [each["role"] for each in found]
    assert all(first != second for first, second in pairwise(roles))
    for number, each in enumerate(found):
        blocks = as_blocks({"message": each})
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if each["role"] == "assistant" and calls:
            answers = as_blocks({"message": found[number + 1]})[: len(calls)]
            assert [block.get("tool_use_id") for block in answers] == calls
        before = as_blocks({"message": found[number - 1]}) if number else []
        assert all(result in [block.get("id") for block in before] for result in results)


def test_what_a_model_is_sent_never_ends_with_an_answer_nobody_asked_for() -> None:
    for records in (
        [said("u1", None, 1)],
        [said("u1", None, 1), said("s1", "u1", 2, "system")],
        [said("u1", None, 1), called("a1", "u1", 2, "t1"), result("r1", "a1", 3, "t1")],
        [said("u1", None, 1, isMeta=True)],
        [said("u1", None, 1, isCompactSummary=True)],
    ):
        found = recover(records, new_id=iter("xyz").__next__, now=at(9)).records
        assert wire(found)[-1]["role"] == "user"
        assert [each["role"] for each in wire(found)][:1] == ["user"]
