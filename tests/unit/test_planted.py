"""A planted mistake is really made, or the gate that asked for it fails."""

import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import installed
import planted
from planted.mistakes import MISTAKES, Replacement

ENDED = 97


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_replaces_something_and_can_be_taken_out(name: str) -> None:
    found = [_owner(each) for each in MISTAKES[name]]
    before = [vars(owner)[attribute] for owner, attribute in found]
    with planted.planted(name):
        for (owner, attribute), old in zip(found, before, strict=True):
            assert vars(owner)[attribute] is not old
    assert [vars(owner)[attribute] for owner, attribute in found] == before


def test_whoever_has_taken_a_reference_already_gets_the_mistake_too() -> None:
    files = import_module("siding.ground.files.durable")
    anchors = import_module("siding.record.ledger.anchor")
    with planted.planted("skip-fsync"):
        assert vars(anchors)["flush"] is vars(files)["flush"]
    assert vars(anchors)["flush"] is vars(files)["flush"]


def test_a_mistake_that_nobody_knows_is_refused() -> None:
    with pytest.raises(planted.NothingPlanted, match="no-such"):
        planted.environment("no-such")
    with pytest.raises(planted.NothingPlanted, match="no-such"):
        planted.plant("no-such")
    env = {**planted.environment("skip-fsync"), planted.VARIABLE: "no-such"}
    assert "no-such" in _ends(["-c", "pass"], env)


def test_a_name_that_the_product_no_longer_has_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = (Replacement("siding.ground.storage.locks", "FileLock.gone", lambda old: old),)
    monkeypatch.setattr("planted.MISTAKES", {"gone": gone})
    with pytest.raises(
        planted.NothingPlanted, match=r"siding\.ground\.storage\.locks has no FileLock"
    ):
        planted.plant("gone")


def test_a_victim_whose_module_has_lost_the_name_ends() -> None:
    code = (
        "import planted, planted.mistakes as m\n"
        "planted._replacements('skip-lock')\n"
        "codec = 'siding.ground.storage.codec'\n"
        "m.MISTAKES['gone'] = (m.Replacement(codec, 'gone', lambda old: old),)\n"
        "planted.plant('gone')\n"
        "try:\n    import siding.ground.storage.codec\nexcept BaseException: pass\n"
    )
    env = {"PYTHONPATH": str(Path(planted.__file__).parents[1])}
    assert "siding.ground.storage.codec has no gone" in _ends(["-c", code], env)


def test_a_victim_that_never_loads_what_is_wrong_ends() -> None:
    env = planted.environment("skip-fsync")
    assert "replaced nothing" in _ends([installed.program(), "--version"], env)


def test_a_command_that_is_no_victim_is_left_alone() -> None:
    env = planted.environment("skip-fsync")
    done = subprocess.run(
        [sys.executable, "-c", "print(1)"], env=env, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"1\n")


def _owner(replacement: Replacement) -> tuple[Any, str]:
    owner: Any = import_module(replacement.module)
    *above, attribute = replacement.name.split(".")
    for part in above:
        owner = getattr(owner, part)
    return owner, attribute


def _ends(arguments: list[str], env: Mapping[str, str]) -> str:
    done = subprocess.run(
        [installed.python(), *arguments],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == ENDED, done
    return done.stderr
