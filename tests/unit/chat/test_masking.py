"""Secrets in what an agent says piece by piece, however it is cut."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siding.agents.talking.port import (
    How,
    Text,
    Thought,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEnded,
    Used,
)
from siding.chat.events import Queued
from siding.chat.masking import Masker
from siding.record.place.redaction import Redaction

VALUE = "zebra-quilt-9981-lantern"
SECRETS = (
    VALUE,
    "ghp_" + "Qx7Rk2Vw9Lm4Tz8Bn3Hc6Yd1Jf5Gs0PaWe2U",
    "sk-ant-api03-" + "hT5vQ9zKx2Lw8Rn4Bc7Yd1Jf6Gs0PaWe3UmXoIi" * 2 + "AA",
    "AKIA" + "Q3ZRV7XKW2LM5TNB",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\nx9dk2Lw8Rn4Bc7Yd1Jf\n"
    "-----END RSA PRIVATE KEY-----",
)
REDACTION = Redaction({"SOME_TOKEN": VALUE})
WORDS = st.sampled_from(["so", "the key is", "línea", "字", "\n", "token =", "```", "ok.", "🦓"])
texts = st.lists(WORDS | st.sampled_from(SECRETS), min_size=1, max_size=12).map(" ".join)
BESIDE: Sequence[Any] = (Used(input=3), Queued("p9", "next"), ToolOutput("other", "out "))


def pieces(text: str, cuts: Sequence[int]) -> list[str]:
    places = [0, *sorted({cut % (len(text) + 1) for cut in cuts}), len(text)]
    return [text[a:b] for a, b in pairwise(places) if a < b]


def said(events: Sequence[Any], kind: type[Any], about: str = "") -> str:
    return "".join(
        each.text
        for each in events
        if isinstance(each, kind)
        and (each.call if isinstance(each, ToolOutput) else each.inside) == about
    )


@settings(max_examples=200, deadline=None)
@given(
    text=texts,
    cuts=st.lists(st.integers(0, 500), max_size=30),
    beside=st.lists(st.sampled_from(BESIDE) | st.none(), min_size=1, max_size=5),
    kind=st.sampled_from(["text", "thought", "output", "inside"]),
)
def test_no_cut_of_a_text_shows_a_secret(
    text: str, cuts: list[int], beside: list[Any], kind: str
) -> None:
    masker = Masker(REDACTION)
    noted: list[Any] = []
    for number, piece in enumerate(pieces(text, cuts)):
        event: Any = {
            "text": Text(piece),
            "thought": Thought(piece),
            "output": ToolOutput("c1", piece),
            "inside": Text(piece, inside="c1"),
        }[kind]
        noted += masker.of(event)
        other = beside[number % len(beside)]
        noted += [] if other is None else masker.of(other)
    noted += masker.of(ToolEnded("c1") if kind in ("output", "inside") else TurnEnded(How.DONE))
    classes = {"thought": Thought, "output": ToolOutput}
    about = "c1" if kind in ("output", "inside") else ""
    shown = said(noted, classes.get(kind, Text), about)
    assert shown == REDACTION.text(text)
    assert not [secret for secret in SECRETS if secret in shown]


def test_what_is_held_back_comes_before_what_follows_and_no_later_than_needed() -> None:
    masker = Masker(REDACTION)
    assert [*masker.of(Text("Hello "))] == [Text("Hello ")]
    assert [*masker.of(Text("wor"))] == []
    assert [*masker.of(Used(input=1))] == [Used(input=1)]
    assert [*masker.of(Text("ld, now"))] == [Text("world, ")]
    assert [*masker.of(ToolOutput("c1", "a line\nand"))] == [ToolOutput("c1", "a line\n")]
    started = ToolStarted("c2", "Bash")
    assert [*masker.of(started)] == [Text("now"), started]
    assert [*masker.of(Thought("hm"))] == []
    assert [*masker.of(Text("so"))] == [Thought("hm")]
    end = TurnEnded(How.DONE)
    assert [*masker.of(end)] == [ToolOutput("c1", "and"), Text("so"), end]
    assert [*masker.rest()] == []


@pytest.mark.parametrize("secret", SECRETS)
def test_without_redaction_nothing_is_held_back(secret: str) -> None:
    masker = Masker(Redaction({}, enabled=False))
    noted = [each for piece in pieces(secret, [3, 9]) for each in masker.of(Text(piece))]
    assert said(noted, Text) == secret
