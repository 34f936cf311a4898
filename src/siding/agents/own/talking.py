"""Siding's own agent, held over the streams of JSON of Claude Code: it takes them as well.

It keeps a prompt's id as that of its turn, on the disk before a model is asked: without a line the
prompt was not taken. What is said while a turn runs it repeats at once and not when it is taken,
and does not give back; so it is not steered.
"""

from glob import escape
from pathlib import Path

from siding.agents.claude.talker import ABILITIES, MEANS, ClaudeTalker, Start
from siding.agents.claude.talking import files_of, records_with, screen_of, words_of
from siding.agents.talking.port import Hold, Opening, Proof, Sent, Talking

_ABILITIES = ABILITIES._replace(steers=False, efforts=False)


class OwnTalking:
    """Siding's own agent."""

    abilities = _ABILITIES
    means = MEANS
    settles_s = 0.0

    def opened(self, hold: Hold) -> Opening:
        words, mode = words_of(hold)
        words += [f"--effort={hold.effort}"] if hold.effort else []
        start = Start(
            session=hold.goes_on_from(),
            cwd=str(hold.cwd),
            mode=mode,
            goes_on=bool(hold.session),
            abilities=_ABILITIES,
        )
        argv = (*hold.program, *words, *hold.options)
        return Opening(argv=argv, talker=ClaudeTalker(start), files=files_of(hold))

    def proof(self, sent: Sent, hold: Hold) -> Proof:
        home = hold.env.get("SIDING_HOME")
        root = Path(home) if home else Path(hold.env.get("HOME") or Path.home(), ".siding")
        found = [*root.glob(f"projects/*/sessions/{escape(sent.session)}.jsonl")]
        for path in found:
            records = records_with(sent.prompt, path)
            if any(each.get("promptId") == sent.prompt for each in records):
                return Proof.TAKEN
        return Proof.NOT_TAKEN if found else Proof.UNSURE

    def own_screen(self, hold: Hold) -> tuple[str, ...]:
        return screen_of(hold)


TALKING: Talking = OwnTalking()
