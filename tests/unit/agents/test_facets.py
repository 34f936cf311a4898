"""The conformance suite: what a row names is in the agent's folder, and does what its port says."""

from pathlib import Path

import pytest

from siding.agents import table
from siding.agents.facets import Facet
from siding.agents.table import AGENTS, Agent
from unit.agents.conformance import CHECKS, check
from unit.agents.facets import FACETS

FOLDERS = Path(table.__file__).parent
SAMPLES = Path(__file__).with_name("real")
NAMED = [(agent, facet) for agent in AGENTS for facet in agent.facets]


def test_every_facet_has_a_check_and_every_check_is_of_one() -> None:
    assert {facet.module for facet in FACETS} == set(CHECKS)
    assert len({facet.value for facet in FACETS}) == len(FACETS)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_a_row_names_what_is_in_its_folder(agent: Agent) -> None:
    assert bool(agent.folder) is bool(agent.facets)
    if agent.folder:
        there = {path.stem for path in (FOLDERS / agent.folder).glob("*.py")}
        assert there & set(CHECKS) == set(agent.facets)
        assert len(set(agent.facets)) == len(agent.facets)


def test_every_folder_is_an_agents_or_holds_what_several_have() -> None:
    shared = {"acp", "headless", "talking", "transcripts"}
    there = {path.parent.name for path in FOLDERS.glob("*/__init__.py")}
    assert there == shared | {agent.folder for agent in AGENTS if agent.folder}


@pytest.mark.parametrize(
    ("agent", "facet"), NAMED, ids=[f"{agent.name}-{facet}" for agent, facet in NAMED]
)
def test_a_facet_does_what_its_port_says(agent: Agent, facet: str, tmp_path: Path) -> None:
    check(agent, facet, SAMPLES, tmp_path)


@pytest.mark.parametrize("facet", FACETS, ids=lambda facet: facet.value)
def test_of_an_agent_that_is_not_known_nothing_is(facet: Facet[object]) -> None:
    assert facet.of("nobody") is None
    assert facet.of("openhands") is None
