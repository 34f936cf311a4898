"""The host, the agent or a viewer of a conversation is killed at each of many moments.

No prompt is lost, none is given twice that the agent's record proves taken, a person is asked only
where there is no proof, no permission is answered twice, and the conversation goes on.

SIDING_FAULTS_TIMES has all that a host does and all points of the agent; SIDING_FAULTS_MOMENTS says
how many drawn moments there are then (`chat/moments.py`).
"""

import os
import random
from pathlib import Path

import pytest

from faults.chat.agent import KINDS, POINTS
from faults.chat.moments import drawn
from faults.chat.runs import MOMENTS, SEED
from faults.chat.trial import Trials
from sandbox import Sandbox

TIMES = int(os.environ.get("SIDING_FAULTS_TIMES", "0"))
MOST = 400  # moments of a host; there are fewer
SPAN_S = 1.5  # from the start of a host to the end of its second turn, about
WITHOUT_PROOF = "qwen"
pytestmark = pytest.mark.timeout(2400 if TIMES else 300)
# One way with each kind of agent in the suite.
CASES = (
    [(kind, way) for kind in KINDS for way in ("host", "agent", "clock")]
    if TIMES
    else [("siding-agent", "host"), ("opencode", "clock"), (WITHOUT_PROOF, "agent")]
)


def killed(trials: Trials, way: str, dice: random.Random) -> list[str]:
    """Kill in one way, as often as it has moments; return at which."""
    found: list[str] = []
    if way == "agent":
        points = POINTS if TIMES else dice.sample(POINTS, 1)
        found = [trials.agent_killed(point) for point in points]
        assert found == list(points)
    elif way == "host":
        for moment in range(1, MOST) if TIMES else dice.sample(range(1, 100), 2):
            found.append(trials.host_killed(moment))
            if not found[-1]:
                break
        assert len(found) > 100 or not TIMES
    else:
        numbers = MOMENTS or [dice.randrange(1000)]
        for number in numbers:
            found.append(
                trials.killed(drawn(SEED, trials.kind, number, span_s=SPAN_S, steers=False))
            )
    return found


@pytest.mark.parametrize(("kind", "way"), CASES)
def test_a_conversation_goes_on_after_a_kill(sandbox: Sandbox, kind: str, way: str) -> None:
    trials = Trials(sandbox, kind)
    found = killed(trials, way, random.Random(f"{SEED} {kind} {way}"))
    print(f"{kind}, {way}: killed {len([*filter(None, found)])} times; {trials.figures}")
    if kind != WITHOUT_PROOF:
        assert not trials.figures.counts["unsure"]
    trials.check_all()


def test_planted_an_agent_that_forgets_is_seen(sandbox: Sandbox) -> None:
    """What the trial is to find: a prompt that was acted on is in no record, and goes again."""
    trials = Trials(sandbox, "siding-agent")
    Path(sandbox.directory / "trial" / "forgets").touch()
    with pytest.raises(AssertionError, match="was given twice"):
        trials.agent_killed("recorded")
