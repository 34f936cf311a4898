"""A tool that touches files or the network is judged as the command that does the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.shellguard.face import Action, Effect, Policy, ToolUse, Verdict

from .setting import PLACE, judged_words, rules_of

# Of each kind of place some, and paths that lead there in another way.
PATHS = (
    *("a", "src/b.py", "./a", "/repos/proj/a", "sub/../a", "a b", "*", "[x]", "$HOME", "-rf"),
    *("../other/a", "/repos/other/a", "/srv/a", "/home/dev/a", "/home/dev/.bashrc"),
    *(".git/config", ".git/hooks/pre-commit", "sub/.git/x", "GIT~1/x", ".GIT/config"),
    *("/etc/passwd", "/etc/shadow", "/usr/bin/x", "/dev/sda", "/dev/null", "/proc/1/environ"),
    *("/home/dev/.ssh/id_rsa", "/home/dev/.ssh/config", "/home/dev/.aws/credentials", ".env"),
    *("server.pem", ".env.example", "/home/dev/.siding/config.yaml", "/tmp/x", "/tmp"),
    *(".claude/settings.json", "CLAUDE.md", ".vscode/tasks.json", ".", "/repos", "/"),
)
AS_COMMAND = {
    Effect.READS: ("cat", "--"),
    Effect.WRITES: ("tee", "--"),
    Effect.DELETES: ("rm", "-rf", "--"),
}


def used(effect: Effect, what: str, policy: Policy | None = None) -> Verdict:
    return (policy or Policy()).judge(ToolUse("Tool", ((effect, what),)), PLACE)


@pytest.mark.parametrize("effect", AS_COMMAND)
@pytest.mark.parametrize("path", PATHS)
def test_it_is_judged_as_a_command_that_does_the_same(effect: Effect, path: str) -> None:
    command = judged_words(*AS_COMMAND[effect], path)
    found = used(effect, path)
    assert (found.action, rules_of(found)) == (command.action, rules_of(command))


SEGMENTS = st.sampled_from(
    (*("..", ".", "a", ".git", ".ssh", "id_rsa", "etc", "home", "dev", "repos", "proj", ""),)
)


@given(
    st.sampled_from(sorted(AS_COMMAND)),
    st.lists(SEGMENTS, min_size=1, max_size=7).map("/".join).filter(bool),
)
def test_whatever_the_path(effect: Effect, path: str) -> None:
    assert used(effect, path).action == judged_words(*AS_COMMAND[effect], path).action


@pytest.mark.parametrize(
    ("effect", "what", "action"),
    [
        (Effect.READS, "~/.ssh/id_rsa", Action.ASK),
        (Effect.WRITES, "~/.bashrc", Action.ASK),
        (Effect.DELETES, "~", Action.BLOCK),
        (Effect.FETCHES, "https://example.org/page", Action.ALLOW),
        (Effect.FETCHES, "file:///home/dev/.ssh/id_rsa", Action.ASK),
        (Effect.WRITES, "a\u202eb", Action.ASK),
        (Effect.WRITES, "a\x1bb", Action.ASK),
        (Effect.WRITES, "x" * 300_000, Action.ASK),
    ],
)
def test_what_no_command_shows(effect: Effect, what: str, action: Action) -> None:
    assert used(effect, what).action is action


def test_each_thing_it_touches_counts_and_is_named() -> None:
    touches = ((Effect.WRITES, "a"), (Effect.DELETES, "/etc/passwd"))
    found = Policy().judge(ToolUse("apply_patch", touches), PLACE)
    assert found.action is Action.BLOCK
    assert [part.text for part in found.parts] == ["apply_patch a", "apply_patch /etc/passwd"]


def test_the_projects_own_rules_count() -> None:
    policy = Policy.read(b'rules: [{name: locks, action: block, pattern: "^Tool .*[.]lock$"}]')
    assert used(Effect.WRITES, "uv.lock", policy).action is Action.BLOCK
    assert used(Effect.WRITES, "uv.txt", policy).runs


def test_a_policy_that_cannot_be_read_blocks() -> None:
    assert used(Effect.WRITES, "a", Policy(broken="line 1")).action is Action.BLOCK


def typed(text: str, into: str = "") -> Verdict:
    return Policy().judge(ToolUse("write_stdin", ((Effect.TYPES, text),), into), PLACE)


@pytest.mark.parametrize(
    "text", ["", "\x03", "\x04", "\n", "\r\n", "y\n", "No\r", "q", "3\n", "\x1b"]
)
def test_what_only_answers_a_program_is_typed_unasked(text: str) -> None:
    for into in ("", "vim a", "bash -i", "npm init"):
        assert typed(text, into).action is Action.ALLOW


@pytest.mark.parametrize(
    "text",
    [
        ":!rm -rf ~\r",
        "!ls\n",
        "\\! ls\n",
        "SELECT 1;\n",
        "\x1b[A\r",
        "\x1a",
        "y; rm a\n",
        "import os\n",
    ],
)
def test_what_is_typed_into_a_program_is_a_question(text: str) -> None:
    for into in ("", "vim a", "psql", "bash script.sh", "sh -c 'read x'"):
        assert typed(text, into).action is Action.ASK


def test_lines_for_a_shell_are_judged_as_lines() -> None:
    for shell in ("bash", "/bin/sh -i", "zsh -l"):
        assert typed("ls -l\nmake\n", shell).action is Action.ALLOW
        assert typed("cd /\nrm -rf *\n", shell).action is Action.BLOCK
        assert typed("ls; rm -rf", shell).action is Action.ASK, "the rest may come later"
        assert typed("ls\x1b[A\n", shell).action is Action.ASK, "it is no text"


@pytest.mark.parametrize(
    ("effect", "rule"),
    [
        (Effect.LEAVES, "write-outside"),
        (Effect.SCHEDULES, "schedule"),
        (Effect.STEERS, "steer-agents"),
        (Effect.SCRIPTS, "code-unclear"),
        (Effect.UNKNOWN, "unknown-tool"),
    ],
)
def test_what_no_command_says_is_asked_by_a_rule(effect: Effect, rule: str) -> None:
    found = used(effect, "x $(y)\n")
    assert (found.action, rules_of(found)) == (Action.ASK, {rule})


def test_a_line_that_a_tool_runs_is_judged_as_a_line() -> None:
    assert used(Effect.RUNS, "ls | wc").action is Action.ALLOW
    assert used(Effect.RUNS, "ls; sudo rm -rf /").action is Action.BLOCK


def test_a_project_may_allow_a_tool_that_is_not_known() -> None:
    policy = Policy.read(b"rules: [{name: shop, action: allow, pattern: 'mcp__shop__.*'}]")
    use = ToolUse("mcp__shop__buy", ((Effect.UNKNOWN, '{"item": "a"}'),))
    assert policy.judge(use, PLACE).action is not Action.ASK
