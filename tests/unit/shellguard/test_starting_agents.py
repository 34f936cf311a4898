"""An agent that another agent starts keeps its own guards, or a person is asked."""

import pytest

from siding.shellguard.face import Action, Policy

from .setting import PLACE, rules_of

UNGUARDED = [
    "codex exec --dangerously-bypass-approvals-and-sandbox x",
    "codex exec -s danger-full-access x",
    "codex -c approval_policy=never exec x",
    "claude --dangerously-skip-permissions -p x",
    "claude --permission-mode=bypassPermissions -p x",
    "IS_SANDBOX=1 timeout 60 claude -p x --permission-mode bypassPermissions",
    "gemini --yolo -p x",
    "gemini -yp x",
    "gemini --approval-mode yolo -p x",
    "aider --yes-always -m x",
    "opencode run --dangerously-skip-permissions x",
    "cursor-agent -f -p x",
    "copilot --allow-all-tools -p x",
    "bash -c 'cd sub && gemini --yolo'",
]
GUARDED = [
    "claude -p 'fix the failing test'",
    "claude -p 'what does --yolo do'",
    "claude --permission-mode plan -p x",
    "claude mcp list",
    "codex exec -s workspace-write 'add a test'",
    "gemini -m gemini-2.5-pro -p 'say mcp'",
    "aider --message 'fix it'",
    "opencode run x",
]


@pytest.mark.parametrize("line", UNGUARDED)
def test_an_agent_without_its_guards_is_a_question(line: str) -> None:
    found = Policy().judge(line, PLACE)
    assert (found.action, rules_of(found)) == (Action.ASK, {"unguarded-agent"})
    by_person = Policy().judge(line, PLACE._replace(by_agent=False))
    assert by_person.action is Action.ALLOW


@pytest.mark.parametrize("line", GUARDED)
def test_an_agent_that_is_told_something_is_none(line: str) -> None:
    assert Policy().judge(line, PLACE).action is Action.ALLOW


def test_what_an_agent_obeys_is_a_question() -> None:
    words = ("claude", "mcp", "add", "name", "--", "sh", "-c", "rm -rf ~")
    assert rules_of(Policy().judge(words, PLACE)) == {"steer-agents"}
