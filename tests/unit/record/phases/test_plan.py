"""Which phases a pass goes through: those of the settings, or its own."""

import pytest

from siding.record.phases.plan import DEFAULT_PHASES, PhasePlan, plan_from

OWN = ("design", "impl", "finish")


@pytest.mark.parametrize(
    ("section", "phase", "own", "names"),
    [
        pytest.param(None, "design", OWN, OWN, id="no settings"),
        pytest.param(None, "docs", (), DEFAULT_PHASES, id="no settings, and none recorded"),
        pytest.param(None, "docs", ("docs", "finish"), ("docs", "finish"), id="fewer than usual"),
        pytest.param({"gates": {}}, "design", OWN, OWN, id="settings without names"),
        pytest.param({"names": ["design", "ship"]}, "design", OWN, ("design", "ship"), id="named"),
        pytest.param({"names": ["build", "ship"]}, "design", OWN, OWN, id="the phase is gone"),
        pytest.param({"names": ["a", "b"]}, "x", OWN, ("a", "b"), id="in none of them"),
    ],
)
def test_the_phases_of_a_pass(
    section: object, phase: str, own: tuple[str, ...], names: tuple[str, ...]
) -> None:
    plan = PhasePlan() if section is None else plan_from(section)
    assert plan.names_from(phase, own) == names
