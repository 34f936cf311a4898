"""How an agent that speaks ACP is held: the facet, for all of them. What differs is in `Habits`.

The protocol gives a prompt no id that an agent keeps. So what its record proves of a prompt, it
proves by the text, at its place.
"""

from collections.abc import Sequence

from siding.agents.acp.habits import UNKNOWN, Habits
from siding.agents.acp.talker import AcpTalker
from siding.agents.talking.port import Hold, Opening, Proof, Sent, Talking


class AcpTalking:
    """One agent, by its habits."""

    def __init__(self, habits: Habits) -> None:
        self.abilities = habits.abilities
        self.means = habits.means
        self.settles_s = habits.settles_s
        self._habits = habits

    def opened(self, hold: Hold) -> Opening:
        habits = self._habits
        model = (habits.model_word, hold.model) if habits.model_word and hold.model else ()
        argv = (*hold.program, *habits.words, *model, *hold.options)
        talker = AcpTalker(hold, habits)
        try:
            return Opening(argv=argv, talker=talker, env=habits.env(hold))
        except ValueError as error:
            return Opening(argv=argv, talker=talker, why_not=str(error))

    def proof(self, sent: Sent, hold: Hold) -> Proof:
        texts = self._habits.texts(sent.session, hold)
        if texts is None:
            return Proof.UNSURE
        return proven(sent, texts, hold.text, records_first=self._habits.records_first)

    def own_screen(self, _hold: Hold, /) -> tuple[str, ...]:
        """Return no command line: going to the screen and back was not tried with these agents."""
        return ()


def proven(sent: Sent, texts: Sequence[str], before: str, *, records_first: bool) -> Proof:
    """Return what the prompts in a record, oldest first, prove of one that was sent last.

    `before` is what stands before the first prompt of a conversation. A text that is there twice
    proves something only if the record has exactly the prompts that it should.
    """
    said = [_plain(each, before) for each in texts]
    wanted = _plain(sent.text, before)
    if wanted in said[sent.turn :]:
        is_last = said[-1] == wanted
        is_sure = said.count(wanted) == 1 or len(said) == sent.turn + 1
        return Proof.TAKEN if is_last and is_sure else Proof.UNSURE
    if records_first and wanted not in said:
        return Proof.NOT_TAKEN
    return Proof.UNSURE


def _plain(said: str, before: str) -> str:
    return said.strip().removeprefix(before.strip()).strip()


ANY: Talking = AcpTalking(UNKNOWN)  # any program that speaks ACP, by its command line
