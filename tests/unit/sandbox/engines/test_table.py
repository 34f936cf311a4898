"""The table of engines: each has a row, and the first one that works is taken."""

from siding.sandbox.engines.bwrap import circumstances
from siding.sandbox.engines.port import FoundEngine, Known
from siding.sandbox.engines.table import ENGINES, engine_of
from siding.sandbox.engines.values import Engine, Launch

HERE = FoundEngine(
    engine=None,
    bwrap="/usr/bin/env",  # a file that is there
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


def test_each_engine_has_one_row() -> None:
    assert [each.name for each in ENGINES] == list(Engine)
    assert [engine_of(name).name for name in Engine] == list(Engine)


def test_the_best_that_works_is_taken() -> None:
    found = first(HERE)
    assert (found.engine, found.reason, found.apart, found.scoped) == ("bwrap", "", True, True)
    found = first(HERE, Engine.BWRAP)
    assert (found.engine, found.apart) == ("landlock", False)
    assert found.reason == "bwrap does not work here: it is broken"
    found = first(HERE._replace(bwrap=""), Engine.LANDLOCK)
    assert (found.engine, found.apart) == (None, True)
    assert found.reason == "bubblewrap (bwrap) is not installed; the kernel has no Landlock either"
    assert first(HERE._replace(bwrap="", version=0)).engine is None
    assert "setsid" in first(HERE._replace(setsid="")).reason


def test_what_is_known_is_not_tried_again() -> None:
    known = Known(key=circumstances(HERE.bwrap), bwrap=HERE.bwrap, userns=False, scoped=True)
    found = first(HERE, *Engine, known=known)
    assert (found.engine, found.userns, found.known) == ("bwrap", False, known)
    assert first(HERE, *Engine, known=known._replace(key="another boot")).engine is None


def test_what_planning_goes_by() -> None:
    facts = {each.name: (each.mounts, each.apart, each.is_warden) for each in ENGINES}
    assert facts == {"bwrap": (True, True, True), "landlock": (False, False, False)}
    assert [bool(each.left_open) for each in ENGINES] == [False, True]
