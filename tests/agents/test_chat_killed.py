"""A real agent, its host or a viewer is killed at any moment: the conversation goes on.

`run.py prove --only conversations` tries SIDING_FAULTS_MOMENTS with each client, 200 if nothing
else is said. One of them again: `python -m faults.chat --client NAME --moment NUMBER`, in `tests`.
"""

import pytest

import counted
from faults.chat.runs import CLIENTS, IN_ONE, MOMENTS, SEED, tried

# That of the suite is a host that is killed right behind a send: the agent has taken the prompt.
CASES = (
    [(name, range(first, first + IN_ONE)) for name in CLIENTS for first in MOMENTS[::IN_ONE]]
    if MOMENTS
    else [("codex", [51])]
)
pytestmark = pytest.mark.timeout(3600 if MOMENTS else 300)


@pytest.mark.parametrize(("name", "numbers"), CASES, ids=lambda each: str(each)[:40])
def test_a_conversation_with_a_real_agent_goes_on(name: str, numbers: list[int]) -> None:
    figures = tried(name, numbers, seed=SEED)
    counted.add(figures.counts["moments"], failed=len(figures.failed))
    print(f"{name}: {figures}")
    assert not figures.failed
