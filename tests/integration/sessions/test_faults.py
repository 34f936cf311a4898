"""What the session store promises holds at every call under every fault."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from faults import tracer
from faults.arena import Check, Command, GateFailed, Setup
from faults.damage import CONTENT, survives_damage
from faults.hammer import hammer
from faults.harness import ERRORS, KILLS, sweep
from faults.powercut import powercut
from faults.product import script
from siding.agents.transcripts.reading.transcript import Transcript
from siding.agents.transcripts.search import SearchIndex, files_of
from siding.agents.transcripts.store import SessionStore, listed_file
from siding.ground.errors import UnreadableFile

from . import session_victim as victims
from .session_victim import SESSION

pytestmark = pytest.mark.skipif(
    tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
)


def victim(act: str, *arguments: str, fault: str = "") -> Command:
    return script(victims.__file__, act, *arguments, fault=fault)


def talked(case: Path) -> None:
    """A session of three turns, and a transcript of another program."""
    os.chdir(case)
    for number in range(3):
        victims.say(f"old-{number}")
    transcript = SessionStore(Path("sessions")).layout(SESSION).transcript
    Path("theirs.jsonl").write_bytes(transcript.read_bytes())


def bare(_case: Path) -> None:
    """No session yet."""


def chain_holds(case: Path, promises: list[str], old: list[str]) -> None:
    """What was said before is in the conversation, what was promised too, and it goes on."""
    os.chdir(case)
    store = SessionStore(case / "sessions")
    path = store.layout(SESSION).transcript
    before = path.read_bytes() if path.exists() else b""
    with_promises = [*old, *promises]
    if with_promises:
        said = _said(path)
        for name in with_promises:
            assert {f"p-{name}", f"a-{name}"} <= set(said), (name, said)
        assert sorted(said, key=said.index) == said
    victims.say("more")
    assert path.read_bytes().startswith(before)
    assert _said(path)[-2:] == ["p-more", "a-more"]
    assert listed_file(path).title == "about more"


def _said(path: Path) -> list[str]:
    with Transcript.unsettled(path) as whole, Transcript.live(path) as live:
        end = live.end()
        assert end is not None
        assert [head.uuid for head in Transcript.whole(path).chain()] == [
            head.uuid for head in live.chain()
        ]
        return [head.uuid for head in whole.history(end.uuid) if head.is_spoken]


OLD = [f"old-{number}" for number in range(3)]


def compaction_holds(case: Path, promises: list[str]) -> None:
    with Transcript.live(case / "sessions" / f"{SESSION}.jsonl") as live:
        chain = list(live.records(live.chain()))
    if promises:
        assert chain[1]["message"]["content"].endswith("summary c")
    live_ids = [each["uuid"] for each in chain]
    assert "a-old-2" in live_ids or len(chain) == 1  # one: a boundary whose summary was cut off
    chain_holds(case, [], OLD)
    with Transcript.live(case / "sessions" / f"{SESSION}.jsonl") as live:
        assert {"a-old-2", "p-more"} <= {head.uuid for head in live.chain()}


def rewind_holds(case: Path, promises: list[str]) -> None:
    with Transcript.live(case / "sessions" / f"{SESSION}.jsonl") as live:
        ids = [head.uuid for head in live.chain()]
    assert ids == (["p-old-0", "r-x"] if promises else ids)
    assert ids[0] == "p-old-0"
    assert ids[-1] in ("r-x", "a-old-2")


def branch_holds(case: Path, promises: list[str]) -> None:
    path = case / "sessions" / "b1.jsonl"
    assert path.exists() or not promises
    if path.exists():
        assert _said(path) == [f"{kind}-{name}" for name in OLD for kind in "pa"]
    else:
        os.chdir(case)
        victims.branch("b1")
    chain_holds(case, [], OLD)


def arrival_holds(case: Path, promises: list[str]) -> None:
    os.chdir(case)
    target, source = Path("sessions/theirs.jsonl"), Path("theirs.jsonl").read_bytes()
    assert not promises or target.read_bytes() == source
    victims.arrive("theirs.jsonl")
    assert target.read_bytes() == source
    Path("theirs.jsonl").write_bytes(source + b'{"type":"mode","mode":"plan"}\n')
    victims.arrive("theirs.jsonl")
    assert target.read_bytes() == Path("theirs.jsonl").read_bytes()
    Path("theirs.jsonl").write_bytes(source)
    target.write_bytes(source)


class Act(NamedTuple):
    """An act, the state before it, and what must hold after it whatever happened."""

    setup: Setup
    words: tuple[str, ...]
    check: Check

    def command(self, fault: str = "") -> Command:
        return victim(*self.words, fault=fault)


ACTS = {
    "say": Act(talked, ("say", "n1", "n2"), lambda case, made: chain_holds(case, made, OLD)),
    "say first": Act(bare, ("say", "n1"), lambda case, made: chain_holds(case, made, [])),
    "say behind": Act(
        talked, ("say_behind", "n1"), lambda case, made: chain_holds(case, made, OLD)
    ),
    "compact": Act(talked, ("compact", "c"), compaction_holds),
    "rewind": Act(talked, ("rewind", "x"), rewind_holds),
    "branch": Act(talked, ("branch", "b1"), branch_holds),
    "arrive": Act(talked, ("arrive", "theirs.jsonl"), arrival_holds),
}
every_act = pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)


@every_act
def test_killed_or_torn_at_any_call(act: Act) -> None:
    sweep(act.setup, act.command(), act.check, modes=KILLS, budget=2)


@every_act
def test_one_call_fails_or_is_short_or_the_disk_is_full(act: Act) -> None:
    sweep(act.setup, act.command(), act.check, modes=(*ERRORS, "short", "full"), budget=3)


@every_act
@pytest.mark.parametrize("fs", ["strict", "ordered"])
def test_the_power_fails_at_any_moment(act: Act, fs: str) -> None:
    powercut(act.setup, act.command(), act.check, fs=fs, budget=6 if fs == "strict" else 3)


def test_the_next_turn_is_killed_too() -> None:
    act = ACTS["say"]
    sweep(
        act.setup,
        act.command(),
        lambda case, _: chain_holds(case, [], OLD),
        modes=("nested",),
        budget=5,
        recover=victim("say", "again"),
    )


def test_a_second_writer_comes_at_any_call() -> None:
    act = ACTS["say"]
    sweep(
        act.setup,
        act.command(),
        act.check,
        modes=("stop",),
        budget=4,
        rival=victim("say", "rival"),
    )


def test_many_writers_some_killed_some_frozen() -> None:
    def check(case: Path, promises: list[str]) -> None:
        path = case / "sessions" / f"{SESSION}.jsonl"
        with Transcript.whole(path) as whole:
            assert {f"a-{name}" for name in [*OLD, *promises]} <= set(whole.tree.heads)
        chain_holds(case, [], OLD)

    def read(case: Path) -> None:
        with Transcript.live(case / "sessions" / f"{SESSION}.jsonl") as live:
            assert live.chain()[0].uuid == "p-old-0"

    hammer(talked, lambda number: victim("say", f"{number}-n"), check, rounds=3, reader=read)


def test_a_damaged_transcript_costs_what_the_damage_covers() -> None:
    def check(case: Path, kind: str, before: bytes) -> None:
        os.chdir(case)
        path = case / "sessions" / f"{SESSION}.jsonl"
        damaged = path.read_bytes() if kind in CONTENT else b""
        try:
            with Transcript.live(path) as live, Transcript.whole(path) as whole:
                list(live.records(live.chain()))
                whole_lines = set(before.splitlines()) & set(damaged.split(b"\n")[:-1])
                seen = {whole.raw(head.offset, head.size) for head in whole.tree.heads.values()}
                lost = {raw for raw in whole_lines - seen if b'"uuid"' in raw}
                assert not lost or kind == "line twice", lost
            listed_file(path)
            with SearchIndex(case / "sessions") as index:
                index.update(files_of([SessionStore(case / "sessions").layout(SESSION)]))
            victims.say("more")
            assert path.read_bytes().startswith(damaged)
            with Transcript.live(path) as live:
                assert live.chain()[-1].uuid == "a-more"
        except FileNotFoundError:
            assert kind == "missing"
        except UnreadableFile:
            assert kind not in CONTENT

    survives_damage(talked, f"sessions/{SESSION}.jsonl", check, times=2)


PLANTED: dict[str, Callable[[], object]] = {
    "skip-fsync": lambda: powercut(
        talked, ACTS["say"].command("skip-fsync"), ACTS["say"].check, fs="ordered", budget=60
    ),
    "skip-directory-fsync": lambda: powercut(
        bare, ACTS["say first"].command("skip-directory-fsync"), ACTS["say first"].check, budget=60
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_each_planted_fault_is_caught(fault: str) -> None:
    with pytest.raises(GateFailed):
        PLANTED[fault]()
