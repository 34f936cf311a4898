"""Look up before an agent starts whether it will ask for a login: over its protocol it cannot."""

from collections.abc import Mapping

from siding.agents.start_questions import Question, start_questions
from siding.agents.talking.port import Hold, Trouble, Troubled


def missing_login(agent: str, hold: Hold, env: Mapping[str, str]) -> list[Troubled]:
    """Return what is said of an agent whose own files have no login; [] if nobody can tell.

    It is started all the same, because a login may be where nobody looks. A turn takes it back.
    """
    words = (*hold.program, *hold.options)
    if Question.LOGIN not in (start_questions(agent, words, hold.cwd, {**hold.env, **env}) or ()):
        return []
    how = f"start {hold.program[0]} once, and log in"
    return [Troubled(Trouble.LOGIN, f"its files have no login: {how}")]
