"""The table of engines: each has a row, and the first one that works is taken."""

from pathlib import Path

import pytest

from siding.sandbox.engines import probe
from siding.sandbox.engines.bwrap import Bwrap
from siding.sandbox.engines.landlock import Landlock
from siding.sandbox.engines.port import FoundEngine, Known, circumstances
from siding.sandbox.engines.table import ENGINES, engine_of
from siding.sandbox.engines.values import Engine, Launch, Network, View
from siding.sandbox.launch import known_in

HERE = FoundEngine(
    engine=None,
    program="/usr/bin/env",  # a file that is there
    userns=True,
    setsid="/usr/bin/setsid",
    reason="",
    version=7,
    known=None,
)


def first(here: FoundEngine, *broken: Engine, known: Known | None = None) -> FoundEngine:
    """Return what is found where these engines do not work."""

    def tried(launch: Launch) -> str:
        return "it is broken" if launch.engine in broken else ""

    for engine in ENGINES:
        here = engine.found(here, known, tried)
        if here.engine is not None:
            break
    return here


def known_of(program: str, engine: Engine = Engine.BWRAP) -> Known:
    key = circumstances(program)
    return Known(engine=engine, key=key, program=program, userns=False, scoped=True)


def test_each_engine_has_one_row() -> None:
    assert [each.name for each in ENGINES] == list(Engine)
    assert [engine_of(name).name for name in Engine] == list(Engine)


def test_the_best_that_works_is_taken() -> None:
    found = first(HERE)
    assert (found.engine, found.reason, found.apart, found.scoped) == ("bwrap", "", True, True)
    found = first(HERE, Engine.BWRAP)
    assert (found.engine, found.apart) == ("landlock", False)
    assert found.reason == "bwrap does not work here: it is broken"
    found = first(HERE._replace(program=""), Engine.LANDLOCK)
    assert (found.engine, found.apart) == (None, True)
    assert found.reason == "bubblewrap (bwrap) is not installed; the kernel has no Landlock either"
    assert first(HERE._replace(program="", version=0)).engine is None
    assert "setsid" in first(HERE._replace(setsid="")).reason


def test_what_is_known_is_not_tried_again() -> None:
    known = known_of(HERE.program)
    found = first(HERE, *Engine, known=known)
    assert (found.engine, found.userns, found.known) == ("bwrap", False, known)
    others = ({"key": "another boot"}, {"program": "/bin/true"}, {"engine": Engine.LANDLOCK})
    assert [first(HERE, *Engine, known=known._replace(**e)).engine for e in others] == [None] * 3


def test_what_planning_goes_by() -> None:
    facts = {each.name: (each.program, each.mounts, each.apart, each.is_warden) for each in ENGINES}
    assert facts == {"bwrap": ("bwrap", True, True, True), "landlock": ("", False, False, False)}
    assert [bool(each.left_open) for each in ENGINES] == [False, True]


class Firejail(Bwrap):
    program = "firejail"


def test_each_engine_is_asked_with_its_own_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("firejail", "bwrap", "setsid"):
        (tmp_path / name).touch(mode=0o755)
    env, broken = {"PATH": str(tmp_path)}, {str(tmp_path / "firejail")}
    monkeypatch.setattr(probe, "ENGINES", (Firejail(), Bwrap(), Landlock()))
    monkeypatch.setattr(
        probe, "_tried", lambda launch: "broken" if launch.program in broken else ""
    )
    found = probe.find_engine(env)
    assert (found.engine, found.program) == ("bwrap", str(tmp_path / "bwrap"))
    assert found.launch(View(mounts=()), Network.ON).program == found.program
    assert found.reason == "bwrap does not work here: broken"
    assert found.known == known_of(found.program)._replace(userns=True)
    broken.clear()
    assert probe.find_engine(env, found.known).program == str(tmp_path / "firejail")
    (tmp_path / "firejail").unlink()
    (tmp_path / "bwrap").unlink()
    found = probe.find_engine(env)
    assert (found.engine, found.program) == (Engine.LANDLOCK if found.version else None, "")
    assert found.reason.startswith("bubblewrap (bwrap) is not installed; bubblewrap")


def test_what_an_earlier_version_kept_is_read() -> None:
    before = {"version": 1, "key": "k", "bwrap": "/usr/bin/bwrap", "userns": True, "scoped": False}
    found = known_in(before)
    assert found == Known(Engine.BWRAP, "k", "/usr/bin/bwrap", userns=True, scoped=False)
    assert known_in({**before, **found._asdict()}) == found
    assert known_in({**before, "engine": "of a later version"}) is None
    assert known_in({}) is None
