"""`siding agent effort`, and how a verb below `siding agent` is told from a prompt."""

from pathlib import Path

import pytest

from sandbox import Sandbox
from siding.faces.cli.table import BELOW
from unit.faces.cli.in_process import CommandLine


def test_without_settings_it_is_left_to_the_model(siding: CommandLine) -> None:
    assert siding("agent", "effort").out == "The effort is auto (as the model is used to).\n"
    found = siding.json("agent", "effort", "status", "--json")
    assert (found["effort"], found["by"], found["kept"]) == (None, "model", None)


def test_it_is_kept_and_shown_with_its_file_and_taken_back(siding: CommandLine) -> None:
    assert "also in later sessions" in siding("agent", "effort", "HIGH").out
    found = siding.json("agent", "effort", "--json")
    assert (found["effort"], found["by"]) == ("high", "settings")
    assert Path(found["source"]).is_file()
    assert found["source"] in siding("agent", "effort").out
    assert siding.json("agent", "effort", "2048", "--json")["effort"] == 2048
    assert "left to the model" in siding("agent", "effort", "auto").out
    assert siding.json("agent", "effort", "--json")["by"] == "model"


def test_the_variable_goes_before_what_is_kept(siding: CommandLine) -> None:
    siding.env["SIDING_AGENT_EFFORT"] = "low"
    assert "SIDING_AGENT_EFFORT asks for low" in siding("agent", "effort", "high").out
    found = siding.json("agent", "effort", "--json")
    assert (found["effort"], found["by"], found["kept"]) == ("low", "environment", "high")
    assert "The settings say high" in siding("agent", "effort").out
    siding.env["SIDING_AGENT_EFFORT"] = "much"
    assert "'much' is no effort" in siding("agent", "effort", status=2).err


def test_settings_of_the_project_go_before_it_and_that_is_said(
    siding: CommandLine, sandbox: Sandbox
) -> None:
    siding("init")
    (sandbox.project / "config.yaml").write_text("agent:\n  effort: low\n")
    said = siding("agent", "effort", "high").out
    assert "another file of settings says what counts here" in said
    assert "The effort is low" in said


@pytest.mark.parametrize("wrong", ["much", "0", "max"])
def test_what_is_not_kept_is_refused_with_what_to_do(siding: CommandLine, wrong: str) -> None:
    said = siding("agent", "effort", wrong, status=2)
    assert "hint:" in said.err
    assert siding.json("agent", "effort", "--json")["kept"] is None


def test_the_help_names_all_verbs_and_how_to_prompt_with_one(siding: CommandLine) -> None:
    page = siding("agent", "--help").out
    assert all(f"\n  {name} " in page for name in BELOW["agent"])
    assert "siding agent -p -- doctor" in page
    assert siding("help", "agent", "effort").out == siding("agent", "effort", "--help").out
    assert siding("help", "agent").out == page


@pytest.mark.parametrize("words", [("-p", "effort"), ("--", "effort"), ("effort of it",)])
def test_such_a_word_can_still_be_a_prompt(siding: CommandLine, words: tuple[str, ...]) -> None:
    # No model is named: it is taken for a prompt, and that is what it says.
    assert "no model is named" in siding("agent", *words, status=2).err


def test_completion_knows_them(siding: CommandLine) -> None:
    assert "effort" in siding("__complete", "agent", "eff").out.split()
    assert "--json" in siding("__complete", "--", "agent", "effort", "--").out.split()
