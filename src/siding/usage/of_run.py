"""What the agent of a run used since the run began, read from the transcript that it names.

The path is what a process of the run says. It is only read if it lies where the agent keeps its
transcripts, and nothing but numbers and times is taken from it. Whatever cannot be read counts as
nothing: a step is never lost for it. Here is also what a transcript has at its end: whether a turn
is written, and when it was last written to.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from siding.agents.transcripts.counting import UNREADABLE, alone, counted_files
from siding.agents.transcripts.homes import KEPT_HERE, FoundTranscript, homes, subagents_of
from siding.agents.transcripts.kinds import ASSISTANT, SPOKEN, moment
from siding.agents.transcripts.messages import text_of
from siding.agents.transcripts.spending import spent_in
from siding.ground.errors import UnreadableFile
from siding.ground.files.regular import open_regular
from siding.ground.storage.codec import NotJson, parse_object
from siding.record.ledger.usage import Usage, UsedTokens, added, grown, usage_record
from siding.record.place.wiring import App
from siding.record.runs.reported import Reported
from siding.record.runs.run import Run
from siding.usage.brief import used_in
from siding.usage.sources import CACHE

_TAIL = 256 * 1024
_UNWRITTEN_S = 0.15  # Claude Code writes ten times a second
_MOST_S = 2.0  # on a busy machine it writes later
_LOOK_S = 0.02
_TIME = re.compile(rb'"timestamp":"([0-9T:.Z+-]{20,35})"')


def used_since(app: App, transcript: str, since: str, session: str) -> Usage:
    """Return what was used in a conversation since a time (ISO 8601), its subagents included."""
    began = moment(since) or 0
    places = _places(app, transcript, session, began) if transcript else ()
    files = counted_files(app.home.root / CACHE, places)
    return added(
        {each.call.model: UsedTokens(*each.call.tokens)}
        for each in spent_in(files)
        if not each.hidden and each.call.at >= began
    )


def with_used(app: App, run: Run, reported: Reported) -> Reported:
    """Return what was reported with what the newest conversation has used until now."""
    return with_used_since(app, run.started_at, reported)


class UsedInTurn:
    """What is used in a turn: counted when it is asked for, after the snapshot was taken.

    `reported` is what there was at the turn's beginning, `after` what there is when it was counted.
    """

    def __init__(
        self,
        app: App,
        since: str,
        reported: Reported,
        *,
        unwritten: bool = False,
        last_words: str = "",
    ) -> None:
        self._app = app
        self._since = since
        self._before = reported
        self._unwritten = unwritten
        self._last_words = last_words
        self._size = size_of(reported.transcript) if unwritten else -1
        self.after = reported

    def __call__(self) -> Usage:
        """Return what was used in the turn, when its transcript is whole."""
        if self._unwritten and is_transcript(self._app, self._before.transcript):
            wait_until_written(self._before.transcript, self._last_words, self._size)
        self.after = with_used_since(self._app, self._since, self._before)
        return grown(used_in(self.after), used_in(self._before))


def is_transcript(app: App, path: str) -> bool:
    """Tell whether a file that a run has named lies where an agent keeps its transcripts."""
    return bool(path) and any(_clients_of(app, Path(os.path.realpath(path))))


def with_used_since(app: App, since: str, reported: Reported) -> Reported:
    """Return what was reported with what the newest conversation has used since a time."""
    if not reported.session:
        return reported
    try:
        used = used_since(app, reported.transcript, since, reported.session)
    except UNREADABLE:
        return reported
    if not used:
        return reported
    return reported._replace(used={**reported.used, reported.session: usage_record(used)})


def _places(app: App, transcript: str, session: str, since_ms: int) -> Iterator[FoundTranscript]:
    """Yield the transcript and its subagents', if it lies where an agent keeps them."""
    path = Path(os.path.realpath(transcript))
    for client in _clients_of(app, path):
        for part in (path, *subagents_of(client, path, session, since_ms)):
            with suppress(OSError):
                yield alone(client, part)._replace(is_subagent=part != path)


def _clients_of(app: App, path: Path) -> Iterator[str]:
    """Yield whose transcript it can be: that of a program in its home, or Siding's own agent's."""
    home = Path(app.env.get("HOME") or os.path.expanduser("~"))
    for client, each in homes():
        if path.is_relative_to(os.path.realpath(each.root(app.env, home))):
            yield client
    projects = Path(os.path.realpath(app.home.projects_dir))
    # projects/<project>/sessions/<session>.jsonl
    if path.parents[2:3] == (projects,) and path.parent.name == "sessions":
        yield KEPT_HERE


def size_of(path: str) -> int:
    """Return the size of a file, -1 if it is not there."""
    try:
        return os.stat(path).st_size
    except OSError:
        return -1


def wait_until_written(path: str, last_words: str, size: int) -> None:
    """Wait until a transcript ends with what the model said last.

    If nobody knows what that was, wait until it is larger than `size`, for a moment.
    """
    most = _MOST_S if last_words.strip() else _UNWRITTEN_S
    until = time.monotonic() + most
    while size_of(path) >= 0 and time.monotonic() < until and not _is_there(path, last_words, size):
        time.sleep(_LOOK_S)


def last_time_in(path: str) -> str:
    """Return the time of the newest message of a transcript (ISO 8601); "" if nobody can tell."""
    for line in _backwards(path):
        if b'"type":"user"' in line or b'"type":"assistant"' in line:
            found = _TIME.search(line)
            return found[1].decode() if found else ""
    return ""


def _is_there(path: str, last_words: str, size: int) -> bool:
    if not last_words.strip():
        return size_of(path) != size
    for line in _backwards(path):
        try:
            record = parse_object(line)
        except NotJson:
            continue
        if record.get("type") not in SPOKEN or record.get("isSidechain"):
            continue
        said = text_of(record).strip()
        return record["type"] == ASSISTANT and bool(said) and last_words.strip().endswith(said)
    return True  # its last message is longer than what is looked at, or of another form


def _backwards(path: str) -> Iterator[bytes]:
    """Yield the whole lines at the end of a file, the last one first."""
    try:
        with os.fdopen(open_regular(Path(path)), "rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - _TAIL))
            lines = file.read(_TAIL).split(b"\n")
    except (OSError, UnreadableFile):
        return
    yield from reversed(lines[1:] if end > _TAIL else lines)
