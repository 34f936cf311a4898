"""Notifications that go: with a desktop that notes what it is asked, and answers when it may."""

import os
import time
from pathlib import Path

import pytest

from siding.asking import told as told_module
from siding.asking.told import Told
from siding.feed.desktop import Desktop
from siding.ground.storage.layout import Home

LONG_S = 30.0
GDBUS = """#!/bin/sh
for last; do :; done
read -r _ <"$GO"
echo "$last" >>"$SAID"
"""


def test_what_is_gone_is_taken_off_and_the_hub_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(told_module, "_PATIENCE_S", LONG_S)
    gdbus, said, go = tmp_path / "bin" / "gdbus", tmp_path / "said", tmp_path / "go"
    gdbus.parent.mkdir()
    gdbus.write_text(GDBUS)
    gdbus.chmod(0o700)
    os.mkfifo(go)
    path = f"{gdbus.parent}{os.pathsep}{os.environ['PATH']}"
    told = Told(Home(tmp_path / "home"), {"PATH": path, "SAID": str(said), "GO": str(go)})
    desktop = Desktop(told)
    desktop.take_off(["p/failed/t/1"])
    assert not (tmp_path / "home").exists(), "nobody was told of anything"
    for number in range(1, 5):
        assert told.is_first(f"p/failed/t/{number}")
        told.on_desktop(f"p/failed/t/{number}", number)
    desktop.take_off(["p/failed/t/1", "p/failed/t/7"])
    desktop.take_off(["p/failed/t/2"])  # while the desktop has not answered yet
    assert not said.exists(), "it came back before the desktop answered"
    _let_answer(go, said, "1\n")
    _let_answer(go, said, "1\n2\n")
    desktop.wait(LONG_S)
    desktop.take_off(["p/failed/t/1", "p/failed/t/2"])
    desktop.take_off(["p/failed/t/3"])
    _let_answer(go, said, "1\n2\n3\n")
    desktop.wait(LONG_S)
    assert [told.is_known(f"p/failed/t/{each}") for each in range(1, 5)] == [False] * 3 + [True]


def _let_answer(go: Path, said: Path, until: str) -> None:
    """Let the desktop answer once, and wait until it has."""
    go.write_text("\n")
    ends = time.monotonic() + LONG_S
    while not (said.exists() and said.read_text() == until):
        assert time.monotonic() < ends, said.read_text() if said.exists() else "nothing"
        time.sleep(0.005)
