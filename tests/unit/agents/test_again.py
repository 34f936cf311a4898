"""The command line with which an agent is given a prompt once more."""

import pytest

from siding.agents.headless.port import PromptAgain, prompted_again

ID = "0f343741-ae22-4493-b1bd-08f9aa0f342b"


@pytest.mark.parametrize(
    ("agent", "line", "session", "alone", "made"),
    [
        ("claude", "claude", ID, True, f"claude -p --resume {ID} -- P"),
        ("claude", "claude -p Q --model x", "", True, "claude -p --model x -- P"),
        (
            "claude",
            f"claude -r {ID} --tools A B",
            ID,
            False,
            f"claude --resume {ID} --tools A B -- P",
        ),
        ("claude", "claude -c Q", ID, False, f"claude --resume {ID} -- P"),
        ("siding-agent", "siding-agent -p Q", "", True, "siding-agent -p -- P"),
        ("codex", "codex -m x --search", ID, True, f"codex exec -m x resume {ID} -- P"),
        ("codex", "codex -m x --search", ID, False, f"codex -m x --search resume {ID} -- P"),
        ("codex", "codex exec --json Q", "", True, "codex exec --json -- P"),
        (
            "codex",
            f"codex exec -s read-only resume {ID} Q",
            ID,
            True,
            f"codex exec -s read-only resume {ID} -- P",
        ),
        ("codex", "codex exec resume --last Q", ID, True, f"codex exec resume {ID} -- P"),
        ("gemini", "gemini -m x -p Q", ID, True, f"gemini -m x --resume {ID} --prompt=P"),
        ("gemini", "gemini --resume latest -y", "", False, "gemini -y --prompt-interactive=P"),
        ("opencode", "opencode run -m x Q", ID, True, f"opencode run --session {ID} -m x -- P"),
        ("opencode", "opencode -m x --port 1", ID, True, f"opencode run --session {ID} -m x -- P"),
        ("opencode", "opencode", ID, True, f"opencode run --session {ID} -- P"),
        ("codex", "codex", "", True, "codex exec -- P"),
        ("codex", "codex -c -m -m x", "", True, "codex exec -c -m -m x -- P"),
        ("opencode", "opencode -c", ID, False, f"opencode --session {ID} --prompt=P"),
        ("aider", "aider -m Q", "", True, ""),
        ("claude", "claude", "--evil", True, ""),
    ],
)
def test_options_stay_and_what_was_asked_before_goes(
    agent: str, line: str, session: str, alone: bool, made: str
) -> None:
    asked = PromptAgain(tuple(line.split()), "P", session, alone, ["Q", "another"])
    assert " ".join(prompted_again(agent, asked)) == made
