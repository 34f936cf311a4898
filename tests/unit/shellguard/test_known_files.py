"""Files that are known by their names: those that steer agents, and those with credentials."""

import pytest

from siding.shellguard.face import Effect, Policy, ToolUse
from siding.shellguard.hosts import obeys
from siding.shellguard.known_files import KEPT, steers

from .setting import PLACE, judged, rules_of

OF_BOT = (".bot/", "BOT.md", ".bothints")


@pytest.mark.parametrize(
    "path",
    [
        "AGENTS.md",
        "docs/AGENTS.override.md",
        ".mcp.json",
        ".cursor",
        "web/.husky/pre-commit",
        ".github/agents/reviewer.md",
        ".vscode/settings.json",
    ],
)
def test_what_anybody_obeys_steers_whoever_is_known(path: str) -> None:
    assert steers(path, ())
    assert steers(path, OF_BOT)


@pytest.mark.parametrize(
    "path", [".bot", ".bot/hooks", "a/.bot/x", "BOT.md", "a/BOT.local.md", ".bothints"]
)
def test_what_an_agent_obeys_steers_when_the_agent_is_known(path: str) -> None:
    assert steers(path, OF_BOT)
    assert not steers(path, ())


@pytest.mark.parametrize(
    "path", ["bot/x", ".bots/x", "ROBOT.md", "BOT.md/x", "bot.md", ".bothints.py", "xbot/.b", "Bot"]
)
def test_a_name_that_only_looks_like_it_does_not(path: str) -> None:
    assert not steers(path, OF_BOT)


def test_the_ports_of_agents_are_told_by_the_caller() -> None:
    line = "http://127.0.0.1:4711/x"
    assert obeys(line, {4711})
    assert not obeys(line, ())
    assert obeys("http://127.0.0.1:2375/x", ())  # a port of no agent's


def test_what_programs_keep_in_a_home_is_a_question_for_a_command_and_for_a_tool() -> None:
    kept = [
        *("~/" + name + "x" * name.endswith("/") for name in KEPT),
        *("~/.config/chromium/Default/Cookies", "~/.local/share/opencode/auth.json", "~/.s3cfg"),
        *("~/.codex/auth.json", "~/.irb_history", "~/.local/share/fish/fish_history"),
        *("infra/terraform.tfstate", "infra/prod.tfvars", ".dev.vars", "config/master.key"),
        *("wp-config.php", "wallet.dat", "ops.agekey"),
    ]
    for path in kept:
        assert rules_of(judged(f"cat {path}")) == {"read-secret"}, path
        use = ToolUse("Read", ((Effect.READS, path),))
        assert rules_of(Policy().judge(use, PLACE)) == {"read-secret"}, path
        assert not judged(f"cp {path} out").runs, path


def test_an_ordinary_file_of_a_project_is_read_unasked() -> None:
    for path in (
        *("gradle.properties", "settings.xml", "src/auth.ts", "src/tokens.css", "auth.json.md"),
        *("infra/main.tf", "infra/terraform.tfvars.example", "infra/example.tfvars", "Cookies.tsx"),
        *("wp-config-sample.php", "src/wallet.ts", "docs/history.md", "a_history.md", "boto.py"),
        *("config/database.yml", ".env.example", "test/fixtures/keys.json", ".m2/settings.md"),
        *("~/.config/nvim/init.lua", "~/.gitconfig", "~/.cache/pip/x", "~/.local/share/nvim/log"),
    ):
        assert judged(f"cat {path}").runs, path
