"""Find the transcripts that other programs keep in their homes. No file is opened, none is written.

A walk goes as deep as the program's own layout does, and follows no link below the directory it
begins in, so it ends whatever is in there. `home` in an agent's folder has its ``HOME``.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from stat import S_ISREG

from siding.agents.facets import Facet
from siding.agents.table import OUR_FORM
from siding.ground.namedtuples import NamedTuple

KEPT_HERE = "siding"  # the client of sessions that lie in the home of Siding


class FoundTranscript(NamedTuple):
    """A transcript in the home of the program `client`, named as in the list of agents.

    Two of the same path, `size` (bytes) and `mtime_ns` have the same content. `is_subagent`: it is
    a part of another conversation.
    """

    client: str
    path: Path
    size: int
    mtime_ns: int
    is_subagent: bool = False


class Walk:
    """One pass over a home. Directories that cannot be read are reported and left out."""

    def __init__(self, client: str, report: Callable[[OSError], None]) -> None:
        self.client = client
        self._report = report

    def entries(self, place: str) -> list[os.DirEntry[str]]:
        """Return what is in a directory; [] if there is no such directory."""
        try:
            with os.scandir(place) as entries:
                return list(entries)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self._report(error)
            return []

    def directories(self, place: str) -> Iterator[str]:
        """Yield the directories in a directory, without links."""
        for entry in self.entries(place):
            if entry.is_dir(follow_symlinks=False):
                yield entry.path

    def transcript(
        self, entry: os.DirEntry[str], *, is_subagent: bool = False
    ) -> Iterator[FoundTranscript]:
        """Yield the file of the entry; nothing if it is no regular file or has gone since."""
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return
        if S_ISREG(status.st_mode):
            yield FoundTranscript(
                client=self.client,
                path=Path(entry.path),
                size=status.st_size,
                mtime_ns=status.st_mtime_ns,
                is_subagent=is_subagent,
            )


class ClientHome(NamedTuple):
    """Where one program keeps its transcripts.

    `root` returns its home, of the environment and the person's home. `walk` yields what is there.
    `subagents` yields the transcripts of the subagents of a conversation, of the path of its
    transcript, its id and a time in milliseconds since 1970: some that nothing was written to since
    may be left out. `place` returns where the program looks for conversations, of its home, the
    directory they are about, the present time, and what returns the place of another one of that
    directory, if there is one; None if nobody knows.
    """

    root: Callable[[Mapping[str, str], Path], Path]
    walk: Callable[[Walk, str], Iterator[FoundTranscript]]
    subagents: Callable[[Path, str, int], Iterator[Path]]
    place: Callable[[Path, str, datetime, Callable[[], Path | None]], Path | None]


HOME: Facet[ClientHome] = Facet("home", "HOME")


def homes() -> Iterator[tuple[str, ClientHome]]:
    """Yield the name of each program whose home is known, and what is known of it."""
    for client in HOME.agents:
        home = HOME.of(client)
        assert home is not None
        yield client, home


def _tell_nobody(error: OSError) -> None:
    del error


def found(
    environ: Mapping[str, str],
    home: Path,
    *,
    report: Callable[[OSError], None] = _tell_nobody,
) -> Iterator[FoundTranscript]:
    """Yield every transcript in the homes of programs, in no particular order.

    `home` is the person's home. `report` is told of directories that cannot be read.
    """
    for client, each in homes():
        root = os.fspath(each.root(environ, home))
        yield from each.walk(Walk(client, report), root)


def subagents_of(client: str, transcript: Path, session: str, since_ms: int) -> Iterator[Path]:
    """Yield the transcripts of the subagents that an agent starts within one of its conversations.

    Nothing is written. What stands there may be anything.
    """
    home = HOME.of(OUR_FORM if client == KEPT_HERE else client)
    if home is None or session in ("", "..") or os.path.basename(session) != session:
        return
    yield from home.subagents(transcript, session, since_ms)
