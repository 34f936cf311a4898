"""Claude Code, held over stream-json. Tried with 2.1.197, 2.1.329 and 2.1.332.

Its command line has only flags that all of these know; what is newer goes through requests, which
are answered, and an answer that it does not know them is no end of the conversation. Nothing is
written into a person's settings by a start.

A prompt is proven taken by a line of its transcript with our id. That there is no line proves
nothing: newer versions ask the model before the line is on disk.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from glob import escape
from pathlib import Path
from typing import Any

from siding.agents.claude.home import HOME
from siding.agents.claude.resuming import WayBack
from siding.agents.claude.talker import ABILITIES, MEANS, ClaudeTalker, Start
from siding.agents.talking.port import Hold, Opening, Proof, Sent, Talking
from siding.agents.talking.servers import FILE, as_document
from siding.ground.storage.fields import mapping

_STREAM = (
    *("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
    *("--permission-prompt-tool", "stdio"),
    *("--include-partial-messages", "--replay-user-messages"),
)
_MODE = "--permission-mode"


class ClaudeTalking:
    """Claude Code."""

    abilities = ABILITIES
    means = MEANS
    settles_s = 0.5  # at the result the answer is not in the transcript yet

    def opened(self, hold: Hold) -> Opening:
        way = way_of(hold, transcripts_of(hold, hold.session))
        words, mode = words_of(hold, way)
        start = Start(
            session=hold.goes_on_from(),
            cwd=str(hold.cwd),
            mode=mode,
            effort=hold.effort,
            goes_on=bool(hold.session) and not way.is_anew,
        )
        argv = (*hold.program, *words, *hold.options)
        talker, files = ClaudeTalker(start), files_of(hold)
        return Opening(argv=argv, talker=talker, files=files, why_not=way.why_not)

    def proof(self, sent: Sent, hold: Hold) -> Proof:
        for path in transcripts_of(hold, sent.session):
            if any(_is_line_of(sent.prompt, record) for record in records_with(sent.prompt, path)):
                return Proof.TAKEN
        return Proof.UNSURE

    def own_screen(self, hold: Hold) -> tuple[str, ...]:
        return screen_of(hold)


def transcripts_of(hold: Hold, session: str) -> list[Path]:
    """Return where the transcript of a conversation lies; [] if it is not there."""
    root = HOME.root(hold.env, Path(hold.env.get("HOME") or Path.home()))
    return [*root.glob(f"projects/*/{escape(session)}.jsonl")] if session else []


def way_of(hold: Hold, transcripts: Sequence[Path]) -> WayBack:
    """Return where it goes on: as the conversation is, unless that is to go back."""
    if not hold.before:
        return WayBack(is_anew=not hold.session)
    from siding.agents.claude.going_back import way_back

    return way_back(transcripts[0] if transcripts else None, hold.before)


def words_of(hold: Hold, way: WayBack) -> tuple[list[str], str]:
    """Return the words of the command line behind the program, and the mode among them."""
    words = [*_STREAM]
    mode = ""
    if not _has_mode(hold):
        # The usual mode has a model judge what may be done, and a person is not asked.
        mode = hold.mode or "default"
        words += [_MODE, mode]
    # More than one may be named, so another flag has to follow.
    words += ["--mcp-config", f"{hold.directory}/{FILE}"] if hold.servers else []
    # In one word: a text may begin with a dash.
    words += [f"--model={hold.model}"] if hold.model else []
    words += [f"--append-system-prompt={hold.text}"] if hold.text else []
    if not way.is_anew:
        words.append(f"--resume={hold.session}")
        words += [f"--resume-session-at={way.after}", "--fork-session"] if way.after else []
    if (way.is_anew or way.after) and hold.new_session:
        words.append(f"--session-id={hold.new_session}")
    return words, mode


def files_of(hold: Hold) -> Mapping[str, str]:
    """Return the files that the command line names."""
    return {FILE: as_document(hold.servers)} if hold.servers else {}


def screen_of(hold: Hold) -> tuple[str, ...]:
    """Return the command line that opens a conversation on the agent's own screen."""
    if not hold.session:
        return ()
    words = [*hold.program, f"--resume={hold.session}"]
    words += [f"--model={hold.model}"] if hold.model else []
    words += [_MODE, hold.mode] if hold.mode and not _has_mode(hold) else []
    return (*words, *hold.options)


def _has_mode(hold: Hold) -> bool:
    return any(each.partition("=")[0] == _MODE for each in hold.options)


def records_with(word: str, path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a transcript in which a word is; the last line may be cut off."""
    wanted = word.encode()
    try:
        with path.open("rb") as lines:
            for line in lines:
                if wanted in line:
                    with suppress(ValueError, RecursionError):
                        yield mapping(json.loads(line))
    except OSError:
        return


def _is_line_of(prompt: str, record: Mapping[str, Any]) -> bool:
    """Tell whether a line is a prompt's own: as a message, or as one that came into a turn."""
    match record.get("type"):
        case "user":
            return record.get("uuid") == prompt
        case "attachment":
            return mapping(record.get("attachment")).get("source_uuid") == prompt
    return False


TALKING: Talking = ClaudeTalking()
