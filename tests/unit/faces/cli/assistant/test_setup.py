"""`siding agent doctor` and `siding agent env`: what is here, and never a key."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from siding.assistant.tools.search.ripgrep import choose
from siding.assistant.views import doctor
from siding.assistant.views.doctor import shown_address
from siding.ground.installation import adding
from unit.faces.cli.in_process import CommandLine

SECRET = "sk-secret-0123456789"  # of nobody


def found(siding: CommandLine, status: int = 0) -> dict[str, list[dict[str, Any]]]:
    """Return what the doctor found, by what it is about."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for each in siding.json("agent", "doctor", "--json", status=status):
        rows.setdefault(each["what"], []).append(each)
    return rows


@pytest.fixture
def scripted(siding: CommandLine, tmp_path: Path) -> CommandLine:
    """The command line with a model that needs nothing."""
    script = tmp_path / "script.yaml"
    script.write_text("otherwise: {text: Yes.}\n")
    siding.env["SIDING_AGENT_MODEL"] = f"scripted:{script}"
    siding("init")
    return siding


def test_all_is_well_with_a_model_that_needs_nothing(scripted: CommandLine) -> None:
    rows = found(scripted)
    assert "SIDING_AGENT_MODEL" in rows["model"][0]["text"]
    assert {each["health"] for row in rows.values() for each in row} <= {"ok", "note"}
    assert "no project" not in scripted("agent", "doctor").out


def test_without_a_model_or_a_key_it_fails_and_says_what_to_do(siding: CommandLine) -> None:
    (model,) = found(siding, status=1)["model"]
    assert (model["health"], "ANTHROPIC_API_KEY" in model["hint"]) == ("broken", True)
    siding.env["SIDING_AGENT_MODEL"] = "openai:some"
    rows = [each for each in found(siding, status=1)["model"] if each["health"] == "broken"]
    assert "no key for openai" in rows[0]["text"]
    siding.env["SIDING_AGENT_MODEL"] = "nobody:some"
    assert "whose model" in found(siding, status=1)["model"][0]["text"]
    siding.env["SIDING_AGENT_MODEL"] = "scripted:nowhere.yaml"
    assert found(siding, status=1)["script"][0]["health"] == "broken"


def test_keys_are_named_and_never_shown(siding: CommandLine) -> None:
    siding.env["ANTHROPIC_API_KEY"] = SECRET
    siding.env["ANTHROPIC_BASE_URL"] = f"http://me:{SECRET}@127.0.0.1:9/v1?key={SECRET}"
    doctor = siding("agent", "doctor", status=1 if missing() else 0)
    env = siding("agent", "env", "--all")
    as_json = siding("agent", "env", "--json")
    assert "ANTHROPIC_API_KEY is set" in doctor.out
    assert "set, not shown" in env.out
    assert "http://…@127.0.0.1:9/v1?…" in env.out
    assert SECRET not in doctor.out + env.out + as_json.out


def missing() -> bool:
    """Tell whether the libraries of models are not installed here."""
    return find_spec("anthropic") is None or find_spec("pydantic_ai") is None


def test_settings_are_named_and_what_nobody_trusts_is_withheld(
    scripted: CommandLine, sandbox: Sandbox
) -> None:
    assert found(scripted)["settings"][0]["text"] == "there are none"
    (sandbox.repo / ".siding").mkdir()
    theirs = sandbox.repo / ".siding" / "config.yaml"
    theirs.write_text("agent:\n  permissions:\n    allow: ['Bash(make:*)']\n")
    (sandbox.project / "config.yaml").write_text("agent:\n  max_turns: 3\n")
    rows = found(scripted)
    texts = [each["text"] for each in rows["settings"]]
    assert any("only what forbids counts" in text for text in texts)
    assert any(text.startswith("local: ") for text in texts)
    (withheld,) = rows["withheld"]
    assert (withheld["text"], withheld["health"]) == ("permissions.allow: Bash(make:*)", "note")
    scripted("trust")
    assert "withheld" not in found(scripted)
    theirs.write_text("agent:\n  wrong: 1\n")
    assert "agent.wrong" in found(scripted, status=1)["settings"][0]["text"]


def test_no_ripgrep_is_broken_and_another_than_was_wanted_is_a_note(
    scripted: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        bare = {"PATH": "/none"}
        patched.setattr(doctor, "choose", lambda at: choose(at._replace(env=bare), lambda: None))
        (search,) = found(scripted, status=1)["search"]
        assert search["health"] == "broken"
        assert adding("agent") in search["text"]
    (search,) = found(scripted)["search"]
    assert search["health"] == "ok"
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "rg").write_text("#!/bin/sh\nexit 3\n")
    (fake / "rg").chmod(0o755)
    scripted.env["PATH"] = f"{fake}:{scripted.env['PATH']}"
    scripted.env["USE_BUILTIN_RIPGREP"] = "0"
    (search,) = found(scripted)["search"]
    assert search["health"] == "note"
    assert "is not ripgrep" in search["text"]


def test_a_broker_that_is_gone_is_broken(scripted: CommandLine, tmp_path: Path) -> None:
    assert "outside of a run" in found(scripted)["broker"][0]["text"]
    scripted.env["SIDING_SOCKET"] = str(tmp_path / "nothing")
    (broker,) = found(scripted, status=1)["broker"]
    assert broker["health"] == "broken"


def test_variables_are_listed_with_what_they_are(siding: CommandLine) -> None:
    rows = {each["name"]: each for each in siding.json("agent", "env", "--json")["variables"]}
    assert {"ANTHROPIC_API_KEY", "SIDING_AGENT_EFFORT", "OPENAI_BASE_URL"} <= rows.keys()
    assert rows["ANTHROPIC_API_KEY"]["is_secret"]
    assert not rows["ANTHROPIC_API_KEY"]["is_set"]
    siding.env["SIDING_AGENT_EFFORT"] = "low"
    text = siding("agent", "env").out
    assert "SIDING_AGENT_EFFORT" in text
    assert "ANTHROPIC_API_KEY" not in text


def test_variables_of_the_settings_are_named_without_values(
    siding: CommandLine, sandbox: Sandbox
) -> None:
    siding("init")
    (sandbox.project / "config.yaml").write_text(f"agent:\n  env:\n    TOKEN_X: {SECRET}\n")
    said = siding("agent", "env").out + siding("agent", "env", "--json").out
    assert "TOKEN_X" in said
    assert SECRET not in said


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://host/v1", "https://host/v1"),
        ("https://user:pass@host/v1", "https://…@host/v1"),
        ("https://host/v1?key=1", "https://host/v1?…"),
    ],
)
def test_addresses_are_shown_without_secrets(address: str, shown: str) -> None:
    assert shown_address(address) == shown
