"""`siding note` inside a run: its text is the word, or what comes in."""

import io
import sys
from typing import Any

import pytest

from siding.broker import inside
from unit.faces.cli.in_process import CommandLine


@pytest.mark.parametrize(("word", "text"), [("a word", "a word"), ("-", "read\nfrom there\n")])
def test_the_text_is_the_word_or_standard_input(
    siding: CommandLine, monkeypatch: pytest.MonkeyPatch, word: str, text: str
) -> None:
    noted: list[dict[str, Any]] = []

    class Broker:
        def ask(self, what: str, **more: Any) -> None:
            noted.append({"do": what, **more})

    def broker_of(_app: object) -> Broker:
        sys.stdin = io.StringIO("read\nfrom there\n")  # the command line puts it back
        return Broker()

    monkeypatch.setattr(inside, "broker_of", broker_of)
    assert "noted" in siding("note", "--", word).err
    assert noted == [{"do": "note", "text": text}]


def test_outside_of_a_run_there_is_nowhere_to_write_it(siding: CommandLine) -> None:
    assert "this is no part of a run" in siding("note", "x", status=2).err
