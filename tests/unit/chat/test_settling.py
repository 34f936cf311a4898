"""What an agent's record says of a prompt, against what the agent has said itself."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from siding.agents.talking.abilities import Abilities, Evidence
from siding.agents.talking.port import (
    Hold,
    Meaning,
    Opened,
    Opening,
    PromptTaken,
    Proof,
    Sent,
    Text,
    TurnStarted,
)
from siding.chat.events import Began, Hosted, Queued, Sending, record_of
from siding.chat.machine import Machine
from siding.chat.settling import settle
from siding.chat.state import folded
from siding.chat.store import Chat
from siding.chat.talk import Talk
from unit.chat.test_stopping import Talker


class Record:
    """An agent whose record proves what the test says."""

    @property
    def means(self) -> Mapping[str, Meaning]:
        return {}

    settles_s = 0.0

    def __init__(self, evidence: Evidence, proof: Proof) -> None:
        self.abilities = Abilities(evidence=evidence)
        self.asked: list[Sent] = []
        self._proof = proof

    def opened(self, hold: Hold) -> Opening:
        raise AssertionError(hold)

    def proof(self, sent: Sent, hold: Hold) -> Proof:
        del hold
        self.asked.append(sent)
        return self._proof

    def own_screen(self, hold: Hold) -> tuple[str, ...]:
        raise AssertionError(hold)


def settled(place: Path, events: Sequence[Any], record: Record) -> tuple[Talk, list[str]]:
    began = (Began("scripted", ("scripted",)), Hosted("r1"), Opened("s"))
    story = [record_of(each) for each in (*began, Queued("p1", "do"), Sending("p1"), *events)]

    def add(event: Any, request: str = "", *, now: bool = False) -> Talk:
        del request, now
        story.append(record_of(event))
        return folded(story)

    machine = Machine(folded(story), Talker(stops=True), add, lambda waiting: (waiting.text,))
    settle(machine, Chat(place), record, Hold(("scripted",), place), "it was killed")
    return machine.talk, [line["event"] for line in story[5 + len(events) :]]


SAYS_SO = (TurnStarted("p1"), PromptTaken("p1"))
HAS_BEGUN = (*SAYS_SO, Text("so"))


@pytest.mark.parametrize(
    ("events", "evidence", "proof", "noted"),
    [
        ((), Evidence.ID, Proof.NOT_TAKEN, "requeued"),
        ((), Evidence.TEXT, Proof.UNSURE, "unsure"),
        ((), Evidence.ID, Proof.TAKEN, "proven"),
        # Its word is no proof against its own record.
        (SAYS_SO, Evidence.ID, Proof.NOT_TAKEN, "requeued"),
        (SAYS_SO, Evidence.ID, Proof.UNSURE, "unsure"),
        (SAYS_SO, Evidence.ID, Proof.TAKEN, "turn-ended"),
        (SAYS_SO, Evidence.NONE, Proof.UNSURE, "turn-ended"),
        (HAS_BEGUN, Evidence.ID, Proof.NOT_TAKEN, "turn-ended"),
    ],
)
def test_its_record_decides_until_it_has_acted(
    tmp_path: Path, events: Sequence[Any], evidence: Evidence, proof: Proof, noted: str
) -> None:
    record = Record(evidence, proof)
    talk, found = settled(tmp_path, events, record)
    assert found[0] == noted
    assert [each.turn for each in record.asked] == ([] if events == HAS_BEGUN else [0])
    assert talk.sent is None
    assert not talk.is_running
    at = {"requeued": talk.queue, "unsure": talk.unsure}.get(noted, ())
    assert [each.prompt for each in at] == ["p1"] * (noted in ("requeued", "unsure"))
    assert talk.taken == (noted in ("proven", "turn-ended"))


def test_what_was_not_taken_comes_back_in_its_order(tmp_path: Path) -> None:
    into_it = [
        each
        for name in ("p2", "p3")
        for each in (Queued(name, name, steers=True), Sending(name, steers=True))
    ]
    events = (*HAS_BEGUN, Queued("p4", "last"), *into_it)
    talk, _ = settled(tmp_path, events, Record(Evidence.ID, Proof.NOT_TAKEN))
    assert [each.prompt for each in talk.queue] == ["p2", "p3", "p4"]
