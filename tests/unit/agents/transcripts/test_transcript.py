"""The live end of a file gives what the whole file gives, and damage costs what it covers."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.transcripts.compaction import Keep, Making, full, partial, snip
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.reading.chains import EndRule
from siding.agents.transcripts.reading.transcript import Transcript
from siding.ground.storage.writes import encode_line

from .building import at, said, written


class Conversation:
    """A model: lines as they are written, and the chain there should be."""

    def __init__(self) -> None:
        self.lines: list[Record] = []
        self.chain: list[str] = []
        self.ends: list[list[str]] = []  # the chain after each line
        self._next = 0
        self._clock = 0

    def making(self) -> Making:
        self._clock += 1
        return Making(new_id=self._id, now=at(self._clock))

    def _id(self) -> str:
        self._next += 1
        return f"n{self._next}"

    def add(self, record: Record, chain: list[str]) -> None:
        self.lines.append(record)
        self.chain = chain
        self.ends.append(chain)

    def say(self, parent: str | None, before: list[str]) -> None:
        self._clock += 1
        uuid = self._id()
        kind = "assistant" if len(before) % 2 else "user"
        self.add(said(uuid, parent, self._clock, kind), [*before, uuid])

    def records(self) -> list[Record]:
        """Return the records of the chain, parents as the chain has them."""
        by_id = {record["uuid"]: record for record in self.lines}
        return [by_id[uuid] for uuid in self.chain]


def grown(moves: list[tuple[str, int]]) -> Conversation:
    """Play moves: say, branch back to a message, compact (fully or keeping a tail)."""
    talk = Conversation()
    for move, number in moves:
        chain = talk.chain
        if move == "say" or not chain:
            talk.say(chain[-1] if chain else None, chain)
        elif move == "branch":
            kept = chain[: number % len(chain) + 1]
            if kept[-1] not in _boundaries(talk) | _anchors(talk):
                talk.say(kept[-1], kept)
        elif move == "snip" and len(chain) > 3:
            _snip(talk, number)
        elif len(chain) > 2:
            _compact(talk, move, number)
    return talk


def _boundaries(talk: Conversation) -> set[str]:
    return {each["uuid"] for each in talk.lines if each.get("subtype") == "compact_boundary"}


def _anchors(talk: Conversation) -> set[str]:
    """Return the summaries before what was kept: what hangs on them goes behind what was kept."""
    return {
        each["compactMetadata"].get("preservedSegment", {}).get("anchorUuid", "")
        for each in talk.lines
        if each.get("subtype") == "compact_boundary"
    }


def _snip(talk: Conversation, number: int) -> None:
    chain = talk.chain
    inner = [each for each in chain[1:-1] if each not in _boundaries(talk)]
    if not inner:
        return
    removed = inner[number % len(inner)]
    line = snip([removed], talk.making())
    talk.add(
        {**line, "parentUuid": chain[-1], "isSidechain": False},
        [*(each for each in chain if each != removed), line["uuid"]],
    )


def _compact(talk: Conversation, move: str, number: int) -> None:
    chain = talk.chain
    making = talk.making()
    records = talk.records()
    if move == "compact":
        boundary, summary = full(records, "summary", making)
        kept: list[str] = []
    else:
        view = [each for each in chain if each not in _boundaries(talk)]
        cut = 1 + number % (len(view) - 1) if len(view) > 1 else 0
        if cut == 0:
            return
        boundary, summary = partial(records, view[cut], "summary", making, keep=Keep.TAIL)
        kept = view[cut:]
    talk.add(boundary, [boundary["uuid"]])
    # What is written next hangs on the summary; the reader puts it behind what was kept.
    talk.add(summary, [boundary["uuid"], summary["uuid"], *kept])
    if kept:
        talk.say(summary["uuid"], talk.chain)


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["say", "say", "say", "branch", "compact", "keep", "snip"]),
        st.integers(0, 20),
    ),
    max_size=25,
)


@given(moves=MOVES)
def test_whole_and_live_give_the_chain_the_model_predicts(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, int]]
) -> None:
    talk = grown(moves)
    path = written(tmp_path_factory.mktemp("talk") / "t.jsonl", talk.lines)
    with Transcript.whole(path) as whole, Transcript.live(path) as live:
        assert [head.uuid for head in live.chain()] == talk.chain
        assert [head.uuid for head in whole.chain()] == talk.chain


@given(moves=MOVES, data=st.data())
def test_a_crash_at_any_byte_leaves_the_chain_of_what_was_stored(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, int]], data: st.DataObject
) -> None:
    talk = grown(moves)
    lines = [encode_line(record) + b"\n" for record in talk.lines]
    whole = b"".join(lines)
    cut = data.draw(st.integers(0, len(whole)), label="cut")
    stored = whole[:cut].count(b"\n")
    if whole[cut : cut + 1] == b"\n":
        stored += 1  # a line of which only the end is missing is whole, and counts
    expected = talk.ends[stored - 1] if stored else []
    path = tmp_path_factory.mktemp("cut") / "t.jsonl"
    path.write_bytes(whole[:cut])
    with Transcript.whole(path) as found, Transcript.live(path) as live:
        ids = [head.uuid for head in found.chain()]
        assert ids == [head.uuid for head in live.chain()]
        is_whole = whole[:cut].endswith(b"\n") or whole[cut : cut + 1] == b"\n"
        assert len(found.damage) == (0 if is_whole or not cut else 1)
        assert ids == expected


def _talk(count: int) -> list[Record]:
    ids = [f"m{number}" for number in range(count)]
    return [
        said(uuid, parent, number, "assistant" if number % 2 else "user")
        for number, (uuid, parent) in enumerate(zip(ids, [None, *ids], strict=False))
    ]


@pytest.mark.parametrize(
    "junk",
    [b"{not json", b"\xff\xfe\x00", b"[1,2]", b'{"type":"user","uuid":', b"null", b'{"a":NaN}'],
)
def test_a_damaged_line_is_counted_and_hides_nothing(tmp_path: Path, junk: bytes) -> None:
    lines = [encode_line(record) for record in _talk(4)]
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"\n".join([*lines[:2], junk, *lines[2:], b'{"torn', b""]))
    with Transcript.whole(path) as transcript:
        assert [head.uuid for head in transcript.chain()] == ["m0", "m1", "m2", "m3"]
        assert [each.number for each in transcript.damage] == [3, 6]


def test_a_record_that_only_shows_its_damage_when_it_is_read(tmp_path: Path) -> None:
    records = _talk(3)
    records[1]["message"]["content"][0]["text"] = "caf\u00e9"
    path = written(tmp_path / "t.jsonl", records)
    path.write_bytes(path.read_bytes().replace("caf\u00e9".encode(), b"caf\xe9"))
    with Transcript.live(path) as transcript:
        found = [record["uuid"] for record in transcript.records(transcript.chain())]
        damage = transcript.damage
    assert found in (["m0", "m2"], ["m2"])  # the chain went on past it
    assert len(damage) == 1


def test_foreign_field_types_are_read_leniently(tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [
        {"type": "user", "uuid": "u1", "parentUuid": 7, "timestamp": at(1), "message": "words"},
        {
            "type": "assistant",
            "uuid": "a1",
            "parentUuid": "u1",
            "timestamp": at(2),
            "message": {"id": 5, "content": None},
            "isSidechain": "no",
            "agentId": 3,
        },
        {"type": 3, "uuid": "x"},
        {"type": "user", "uuid": 9},
        {"type": "system", "subtype": "compact_boundary", "uuid": "b", "compactMetadata": [1]},
    ]
    path = written(tmp_path / "t.jsonl", odd)
    with Transcript.whole(path) as transcript:
        assert list(transcript.tree.heads) == ["u1", "a1", "b"]
        assert transcript.damage == []


def test_going_on_from_before_a_compaction_reads_back_to_there(tmp_path: Path) -> None:
    records = _talk(6)
    boundary, summary = full(records, "s", Making(new_id=iter("bc").__next__, now=at(10)))
    back = said("u9", "m1", 12)
    path = written(tmp_path / "t.jsonl", [*records, boundary, summary, back])
    with Transcript.live(path) as transcript:
        assert [head.uuid for head in transcript.chain()] == ["m0", "m1", "u9"]
        assert transcript.start == 0


def test_a_missing_parent_does_not_make_the_reader_search_for_ever(tmp_path: Path) -> None:
    records = _talk(6)
    boundary, summary = full(records, "s", Making(new_id=iter("bc").__next__, now=at(10)))
    lost = said("u9", "nobody", 12)
    path = written(tmp_path / "t.jsonl", [*records, boundary, summary, lost])
    with Transcript.live(path) as transcript:
        assert [head.uuid for head in transcript.chain()] == ["b", "c", "u9"]
        assert transcript.start > 0


def test_the_live_end_is_all_that_is_read(tmp_path: Path) -> None:
    records = _talk(6)
    boundary, summary = full(records, "s", Making(new_id=iter("bc").__next__, now=at(10)))
    path = written(tmp_path / "t.jsonl", [*records, boundary, summary])
    with Transcript.live(path) as transcript:
        assert list(transcript.tree.heads) == ["b", "c"]
        assert transcript.start == sum(len(encode_line(each)) + 1 for each in records)
    with Transcript.live(path, EndRule.LISTED) as transcript:
        assert [head.uuid for head in transcript.chain(EndRule.LISTED)] == ["b", "c"]


def test_what_was_kept_is_there_right_after_the_compaction(tmp_path: Path) -> None:
    records = _talk(6)
    lines = partial(records, "m4", "s", Making(new_id=iter("bc").__next__, now=at(10)))
    path = written(tmp_path / "t.jsonl", [*records, *lines])
    for rule in EndRule:
        with Transcript.live(path, rule) as transcript:
            assert [head.uuid for head in transcript.chain(rule)] == ["b", "c", "m4", "m5"]


def test_a_second_compaction_may_keep_what_the_first_one_kept(tmp_path: Path) -> None:
    records = _talk(6)
    making = Making(new_id=iter("bc").__next__, now=at(10))
    first = partial(records, "m4", "s", making)
    said_after = said("u9", "c", 11)
    path = written(tmp_path / "t.jsonl", [*records, *first, said_after])
    with Transcript.live(path) as transcript:
        chain = list(transcript.records(transcript.chain()))
    assert [each["uuid"] for each in chain] == ["b", "c", "m4", "m5", "u9"]
    second = partial(chain, "m5", "s", Making(new_id=iter("de").__next__, now=at(20)))
    last = said("u10", "e", 21)
    written(path, [*records, *first, said_after, *second, last])
    with Transcript.live(path) as live, Transcript.whole(path) as whole:
        assert [head.uuid for head in live.chain()] == ["d", "e", "m5", "u9", "u10"]
        assert [head.uuid for head in whole.chain()] == ["d", "e", "m5", "u9", "u10"]
