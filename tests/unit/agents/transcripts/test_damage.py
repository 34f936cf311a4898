"""A damaged, cut or missing line costs what it covers: what was said before it stays reachable."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.transcripts.compaction import Making, full, partial
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.reading.chains import EndRule
from siding.agents.transcripts.reading.transcript import Transcript
from siding.agents.transcripts.store import SessionStore
from siding.ground.storage.writes import encode_line

from .building import SESSION, at, called, result, said, writer_of
from .test_transcript import MOVES, grown

DAMAGE = ("flip", "cut", "torn", "zeros", "delete")


def damaged(line: bytes, how: str) -> bytes:
    """Return a line as a fault leaves it, with its newline; nothing for a deleted one."""
    if how == "flip":  # in the middle of what was said
        middle = line.index(b'"message"') + 12 if b'"message"' in line else len(line) // 2
        return line[:middle] + b"\0" + line[middle + 1 :] + b"\n"
    if how == "cut":  # the end is missing, and with it the message's own id
        return line[: line.index(b'"type"')] + b"\n"
    if how == "torn":  # the beginning is missing, and with it the parent
        return line[line.index(b'"type"') :] + b"\n"
    return b"\0" * len(line) + b"\n" if how == "zeros" else b""


def stored(path: Path, records: list[Record], hurt: str, how: str) -> Path:
    """Write the records with one of them damaged."""
    lines = ((each["uuid"], encode_line(each)) for each in records)
    data = [damaged(raw, how) if uuid == hurt else raw + b"\n" for uuid, raw in lines]
    path.write_bytes(b"".join(data))
    return path


def chain_of(path: Path, rule: EndRule = EndRule.SESSION) -> list[str]:
    """Return the chain; from the whole file and from its live end it is the same."""
    with Transcript.whole(path) as whole, Transcript.live(path, rule) as live:
        found = [head.uuid for head in whole.chain(rule)]
        assert [head.uuid for head in live.chain(rule)] == found
        return found


def talk(count: int, **more: object) -> list[Record]:
    """Return messages that follow each other; ids do not contain each other."""
    ids = [f"m{number:03d}" for number in range(count)]
    return [
        said(uuid, parent, number, "assistant" if number % 2 else "user", **more)
        for number, (uuid, parent) in enumerate(zip(ids, [None, *ids], strict=False))
    ]


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("hurt", [0, 1, 34, 39])
def test_all_that_is_whole_stays_in_the_conversation(tmp_path: Path, how: str, hurt: int) -> None:
    records = talk(40)
    path = stored(tmp_path / "t.jsonl", records, f"m{hurt:03d}", how)
    expected = [each["uuid"] for each in records if each["uuid"] != f"m{hurt:03d}"]
    for rule in EndRule:
        assert chain_of(path, rule) == expected


@pytest.mark.parametrize("how", DAMAGE)
def test_the_place_of_a_missing_message_is_told(tmp_path: Path, how: str) -> None:
    path = stored(tmp_path / "t.jsonl", talk(8), "m004", how)
    with Transcript.live(path) as transcript:
        (gap,) = transcript.gaps(transcript.chain())
        damage = [each.number for each in transcript.numbered_damage()]
        records = list(transcript.records(transcript.chain()))
    assert (gap.message, gap.missing, gap.bridged_to) == ("m005", "m004", "m003")
    assert gap.number == (5 if how == "delete" else 6)
    assert damage == ([] if how == "delete" else [5])
    assert [each["parentUuid"] for each in records[3:5]] == ["m002", "m003"]


@pytest.mark.parametrize("how", ["flip", "cut"])
def test_a_wreck_that_tells_its_parent_leads_to_the_right_branch(tmp_path: Path, how: str) -> None:
    """Somebody went back, said something else, and went on where they had been before."""
    records = talk(4)
    aside = [said("x1", "m001", 10), said("x2", "x1", 11, "assistant")]
    on = [said("y1", "m003", 12), said("y2", "y1", 13, "assistant")]
    path = stored(tmp_path / "t.jsonl", [*records, *aside, *on], "y1", how)
    assert chain_of(path) == ["m000", "m001", "m002", "m003", "y2"]


def test_two_wrecks_in_a_row(tmp_path: Path) -> None:
    lines = [encode_line(each) for each in talk(8)]
    for one, two in [("flip", "flip"), ("cut", "cut"), ("torn", "zeros"), ("flip", "delete")]:
        data = [
            damaged(raw, {3: one, 4: two}[n]) if n in (3, 4) else raw + b"\n"
            for n, raw in enumerate(lines)
        ]
        path = tmp_path / f"{one}-{two}.jsonl"
        path.write_bytes(b"".join(data))
        assert chain_of(path) == ["m000", "m001", "m002", "m005", "m006", "m007"]


@pytest.mark.parametrize("kept", [None, 0, 40, 90])
def test_a_line_that_was_written_behind_another_one_is_read(
    tmp_path: Path, kept: int | None
) -> None:
    """Of the line before it, only so many bytes were written; None: all but the newline."""
    records = talk(8, text='ä {"type":"user","uuid":"x","timestamp":1} "')
    lines = [encode_line(each) for each in records]
    path = tmp_path / "t.jsonl"
    stub = lines[3] if kept is None else lines[3][:kept]
    path.write_bytes(b"\n".join([*lines[:3], stub + lines[4], *lines[5:], b""]))
    there = [each["uuid"] for each in records if kept is None or each["uuid"] != "m003"]
    assert chain_of(path) == there
    with Transcript.whole(path) as found:
        assert [each["uuid"] for each in found.records(found.chain())] == there
        assert [(each.number, each.end - each.offset) for each in found.numbered_damage()] == (
            [(4, kept)] if kept else []
        )


def compacted(count: int, keep: str | None) -> tuple[list[Record], list[str]]:
    """Return a conversation with a compaction in it, and its live chain."""
    records = talk(count)
    making = Making(new_id=iter(["bbbb", "cccc"]).__next__, now=at(100))
    lines = full(records, "s", making) if keep is None else partial(records, keep, "s", making)
    after = [said("z1", "cccc", 101), said("z2", "z1", 102, "assistant"), said("z3", "z2", 103)]
    kept = [each["uuid"] for each in records if keep is not None and each["uuid"] >= keep]
    return [*records, *lines, *after], ["bbbb", "cccc", *kept, "z1", "z2", "z3"]


@pytest.mark.parametrize("keep", [None, "m004"])
@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("hurt", ["cccc", "z1", "z2"])
def test_behind_a_compaction_nothing_more_is_lost(
    tmp_path: Path, keep: str | None, how: str, hurt: str
) -> None:
    records, chain = compacted(8, keep)
    path = stored(tmp_path / "t.jsonl", records, hurt, how)
    found = chain_of(path)
    expected = [uuid for uuid in chain if uuid != hurt]
    if keep is not None and hurt == "cccc":
        # The summary's id is what the kept part hangs on. It is there, whatever is before it.
        assert set(found) >= set(expected) - {"bbbb"}
    else:
        assert found == expected


@pytest.mark.parametrize("keep", [None, "m004"])
@pytest.mark.parametrize("how", DAMAGE)
def test_a_boundary_that_is_damaged_puts_nothing_away(
    tmp_path: Path, keep: str | None, how: str
) -> None:
    records, _ = compacted(8, keep)
    path = stored(tmp_path / "t.jsonl", records, "bbbb", how)
    expected = [f"m{number:03d}" for number in range(8)]
    assert chain_of(path) == [*expected, "cccc", "z1", "z2", "z3"]


@pytest.mark.parametrize("how", ["flip", "cut"])
@pytest.mark.parametrize("hurt", ["m004", "m005", "m007"])
def test_what_a_compaction_kept_stays_kept(tmp_path: Path, how: str, hurt: str) -> None:
    records, chain = compacted(8, "m004")
    path = stored(tmp_path / "t.jsonl", records, hurt, how)
    if how == "cut" and hurt in ("m004", "m007"):
        return  # its own id is what the compaction names, and it is cut off
    assert chain_of(path) == [uuid for uuid in chain if uuid != hurt]


@pytest.mark.parametrize("how", DAMAGE)
def test_what_was_compacted_away_is_shown_though_its_last_message_is_lost(
    tmp_path: Path, how: str
) -> None:
    records, _ = compacted(8, None)
    path = stored(tmp_path / "t.jsonl", records, "m007", how)
    with Transcript.unsettled(path) as whole:
        found = [head.uuid for head in whole.history("z3")]
    assert found[:7] == [f"m{number:03d}" for number in range(7)]


@pytest.mark.parametrize("how", DAMAGE)
def test_a_subagents_own_conversation(tmp_path: Path, how: str) -> None:
    records = talk(8, isSidechain=True, agentId="ag")
    path = stored(tmp_path / "agent-ag.jsonl", records, "m004", how)
    assert chain_of(path, EndRule.FILE) == [f"m{n:03d}" for n in range(8) if n != 4]


def test_the_first_message_of_a_forked_session_may_have_a_foreign_parent(tmp_path: Path) -> None:
    records = talk(4)
    records[0]["parentUuid"] = "in another file"
    path = stored(tmp_path / "t.jsonl", records, "", "flip")
    assert chain_of(path) == ["m000", "m001", "m002", "m003"]
    with Transcript.whole(path) as transcript:
        assert transcript.gaps(transcript.chain()) == []


def test_side_lines_are_never_hung_on_the_main_line(tmp_path: Path) -> None:
    side = [
        said("s1", "lost", 5, isSidechain=True),
        said("s2", "gone", 6, isSidechain=True, agentId="ag"),
    ]
    path = stored(tmp_path / "t.jsonl", [*talk(4), *side, said("m9", "m003", 9)], "", "flip")
    with Transcript.whole(path) as transcript:
        assert [head.uuid for head in transcript.chain()][-2:] == ["m003", "m9"]
        parents = [transcript.tree.parent(transcript.tree.heads[each]) for each in ("s1", "s2")]
    assert parents == [None, None]


def test_a_side_line_does_not_lead_the_main_line_astray(tmp_path: Path) -> None:
    side = said("s1", None, 5, isSidechain=True, agentId="ag")
    path = stored(tmp_path / "t.jsonl", [*talk(4), side, said("m9", "lost", 9)], "", "flip")
    assert chain_of(path) == ["m000", "m001", "m002", "m003", "m9"]


def test_a_second_conversation_in_the_file_stays_its_own(tmp_path: Path) -> None:
    again = [said("n1", None, 20), said("n2", "n1", 21, "assistant"), said("n3", "n2", 22)]
    path = stored(tmp_path / "t.jsonl", [*talk(4), *again], "n2", "flip")
    assert chain_of(path) == ["n1", "n3"]


def test_a_withdrawn_message_leaves_no_gap(tmp_path: Path) -> None:
    records = talk(4)
    tombstone = {"type": "tombstone", "uuid": "m002", "sessionId": SESSION, "v": 1}
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(encode_line(each) + b"\n" for each in [*records, tombstone]))
    assert chain_of(path) == ["m000", "m001", "m003"]
    with Transcript.whole(path) as transcript:
        assert transcript.gaps(transcript.chain()) == []


@pytest.mark.parametrize("how", DAMAGE)
def test_somebody_goes_back_before_a_compaction_right_behind_a_damaged_line(
    tmp_path: Path, how: str
) -> None:
    records, _ = compacted(8, None)
    path = stored(tmp_path / "t.jsonl", [*records, said("y1", "m003", 110)], "z3", how)
    assert chain_of(path) == ["m000", "m001", "m002", "m003", "y1"]


def test_results_of_parallel_calls_stay_when_the_last_of_them_is_lost(tmp_path: Path) -> None:
    records = [
        said("u1", None, 1),
        called("a1", "u1", 2, "t1", answer="M"),
        called("a2", "a1", 3, "t2", answer="M"),
        result("r1", "a1", 4, "t1"),
        result("r2", "a2", 5, "t2"),
        said("a3", "r2", 6, "assistant"),
    ]
    path = stored(tmp_path / "t.jsonl", records, "r2", "flip")
    assert chain_of(path) == ["u1", "a1", "a2", "r1", "a3"]


def test_what_is_said_next_hangs_on_what_is_there(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    stored(store.layout(SESSION).transcript, talk(6), "m005", "cut")
    with writer_of(store) as writer:
        writer.append([said("u9", None, 50)])
    assert chain_of(store.layout(SESSION).transcript)[-2:] == ["m004", "u9"]


@given(moves=MOVES, data=st.data())
def test_the_live_end_gives_what_the_whole_file_gives(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, int]], data: st.DataObject
) -> None:
    """Whatever line is damaged: the two ways agree, and a whole message before it is there."""
    conversation = grown(moves)
    if not conversation.chain:
        return
    hurt = data.draw(st.sampled_from([each["uuid"] for each in conversation.lines]), label="hurt")
    how = data.draw(st.sampled_from(DAMAGE), label="how")
    path = stored(tmp_path_factory.mktemp("hurt") / "t.jsonl", conversation.lines, hurt, how)
    found = chain_of(path)
    if conversation.chain[-1] != hurt:
        assert found[-1:] == conversation.chain[-1:]


@pytest.mark.parametrize("how", DAMAGE)
def test_the_first_message_that_a_compaction_kept_is_damaged(tmp_path: Path, how: str) -> None:
    """Somebody goes on from it: what is said then hangs on the summary, as the message did."""
    records, _live = compacted(8, "m003")
    on = [said("y1", "m003", 110)]
    path = stored(tmp_path / "t.jsonl", [*records, *on], "m003", how)
    assert chain_of(path) == ["bbbb", "cccc", "y1"]
