"""What the table of agents says is what the policy and the sandbox go by."""

import re
from pathlib import Path

import pytest

from siding.agents.places import PLACES
from siding.agents.table import BY_PROGRAM, OBEYED
from siding.guard.in_force import PolicyGround, place_for
from siding.record.place.settings import Settings
from siding.record.place.wiring import open_app
from siding.sandbox.homes import AUTO, PROFILES, WORKSPACE, places_in, profile_in_force
from siding.shellguard.face import JudgingPlace, Policy


@pytest.fixture
def place(tmp_path: Path) -> JudgingPlace:
    """Where `siding run` would have a command judged."""
    app = open_app(env={"HOME": str(tmp_path), "SIDING_HOME": str(tmp_path / "s")}, cwd=tmp_path)
    ground = PolicyGround(app=app, root=None, settings=Settings(), trust_json=None, cache=None)
    return place_for(ground, cwd=tmp_path, workspace=tmp_path, policy=Policy())


@pytest.mark.parametrize("program", BY_PROGRAM)
def test_a_prompt_is_text_to_the_policy(program: str, place: JudgingPlace) -> None:
    assert not Policy().judge([program, "-p", "rm -rf / and sudo reboot"], place).findings
    assert Policy().judge([f"{program}-not", "-p", "x"], place).findings


@pytest.mark.parametrize("name", OBEYED)
def test_what_an_agent_obeys_is_not_changed_without_a_question(
    name: str, place: JudgingPlace
) -> None:
    path = f"{name}settings" if name.endswith("/") else name
    for each in (path, f"below/{path}"):
        (finding,) = Policy().judge(["touch", each], place).findings
        assert finding.rule == "steer-agents"


@pytest.mark.parametrize("program", BY_PROGRAM)
def test_a_program_has_the_profile_of_its_agent(program: str) -> None:
    agent = BY_PROGRAM[program]
    wanted = agent.name if agent.name in PLACES.agents else WORKSPACE
    assert profile_in_force(None, program) == profile_in_force(AUTO, program) == wanted
    assert (places_in(wanted) is None) is (wanted == WORKSPACE)


def test_a_profile_that_is_asked_for_stands() -> None:
    assert profile_in_force("codex", "claude") == "codex"
    assert profile_in_force(WORKSPACE, "claude") == WORKSPACE
    assert profile_in_force(None, "sh") == WORKSPACE


def test_profiles_are_two_and_one_for_each_agent_whose_places_are_known() -> None:
    assert PROFILES[:2] == (AUTO, WORKSPACE)
    assert set(PROFILES[2:]) == set(PLACES.agents)


def test_the_page_about_sandboxes_names_every_profile_and_no_other() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/sandbox.md").read_text(encoding="utf-8")
    rows = page.partition("| profile |")[2].partition("\n\n")[0].splitlines()
    named = {name for row in rows[2:] for name in re.findall(r"`([\w-]+)`", row.split("|")[1])}
    assert named == set(PROFILES)
