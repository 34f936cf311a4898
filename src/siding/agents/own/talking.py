"""Siding's own agent, held over the streams of JSON of Claude Code: it takes them as well.

It keeps a prompt's id as that of its turn, on the disk before a model is asked: without a line the
prompt was not taken. What is said while a turn runs it repeats at once and not when it is taken,
and does not give back; so it is not steered.
"""

from glob import escape
from pathlib import Path

from siding.agents.claude.talker import ABILITIES, MEANS, ClaudeTalker, Start
from siding.agents.claude.talking import files_of, records_with, screen_of, way_of, words_of
from siding.agents.talking.port import Hold, Opening, Proof, Sent, Talking

_ABILITIES = ABILITIES._replace(steers=False, efforts=False, effort_variable="SIDING_AGENT_EFFORT")


class OwnTalking:
    """Siding's own agent."""

    abilities = _ABILITIES
    means = MEANS
    settles_s = 0.0

    def opened(self, hold: Hold) -> Opening:
        way = way_of(hold, _transcripts_of(hold, hold.session))
        words, mode = words_of(hold, way)
        words += [f"--effort={hold.effort}"] if hold.effort else []
        start = Start(
            session=hold.goes_on_from(),
            cwd=str(hold.cwd),
            mode=mode,
            goes_on=bool(hold.session) and not way.is_anew,
            abilities=_ABILITIES,
        )
        argv = (*hold.program, *words, *hold.options)
        talker, files = ClaudeTalker(start), files_of(hold)
        return Opening(argv=argv, talker=talker, files=files, why_not=way.why_not)

    def proof(self, sent: Sent, hold: Hold) -> Proof:
        found = _transcripts_of(hold, sent.session)
        for path in found:
            records = records_with(sent.prompt, path)
            if any(each.get("promptId") == sent.prompt for each in records):
                return Proof.TAKEN
        return Proof.NOT_TAKEN if found else Proof.UNSURE

    def own_screen(self, hold: Hold) -> tuple[str, ...]:
        return screen_of(hold)


def _transcripts_of(hold: Hold, session: str) -> list[Path]:
    home = hold.env.get("SIDING_HOME")
    root = Path(home) if home else Path(hold.env.get("HOME") or Path.home(), ".siding")
    return [*root.glob(f"projects/*/sessions/{escape(session)}.jsonl")] if session else []


TALKING: Talking = OwnTalking()
