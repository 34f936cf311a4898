"""How opencode is told to report: a plugin, merged with the settings that a variable holds."""

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from siding.agents.hooks import Moment, Reach
from siding.agents.opencode.hooks import ADAPTER

CONTENT = "OPENCODE_CONFIG_CONTENT"
REACH = Reach(program=("x",), tools=("serve", "it"), socket="/run/s")


def test_the_plugin_is_a_file_of_ours_and_told_what_is_wanted() -> None:
    found = ADAPTER.injected(("opencode", "run", "x"), REACH._replace(judges=True, requires=True))
    assert found.argv == ("opencode", "run", "x")
    assert found.env["SIDING_OPENCODE"] == "judges,closed"
    settings = json.loads(found.env[CONTENT])
    (plugin,) = settings["plugin"]
    assert Path(unquote(urlsplit(plugin).path)).is_file()
    assert settings["mcp"]["siding"]["command"] == ["serve", "it"]
    assert settings["mcp"]["siding"]["timeout"] == 24 * 3600 * 1000


def test_what_is_there_already_stays() -> None:
    theirs = '{"plugin": ["theirs"], "mcp": {"x": {}}, "model": "a//b"} // mine'
    found = ADAPTER.injected(("opencode",), REACH._replace(env={CONTENT: theirs}))
    settings = json.loads(found.env[CONTENT])
    assert settings["plugin"][0] == "theirs"
    assert len(settings["plugin"]) == 2
    assert set(settings["mcp"]) == {"siding", "x"}
    assert settings["model"] == "a//b"


@pytest.mark.parametrize(
    ("argv", "env"),
    [
        (("opencode", "--pure"), {}),
        (("opencode",), {"OPENCODE_PURE": "1"}),
        (("opencode",), {CONTENT: "[]"}),
        (("opencode",), {CONTENT: "{"}),
        (("opencode", "auth", "login"), {}),
    ],
)
def test_where_it_cannot_report_nothing_is_changed(
    argv: tuple[str, ...], env: dict[str, str]
) -> None:
    found = ADAPTER.injected(argv, REACH._replace(env=env))
    assert found.why_not
    assert (found.argv, found.env) == (argv, {})


def test_its_words_are_plain() -> None:
    given = {"moment": "tool", "session": "s", "command": "rm x", "cwd": "/w", "call": "c"}
    found = ADAPTER.read(given)
    assert found is not None
    assert (found.moment, found.command, found.cwd, found.call) == (Moment.TOOL, "rm x", "/w", "c")
    assert ADAPTER.read({"moment": "unheard"}) is None
    assert json.loads(ADAPTER.denied("no").output) == {"deny": "no"}
    assert json.loads(ADAPTER.informed("so").output) == {"tell": "so"}
