"""Find the transcripts that other programs keep in their homes. No file is opened, none is written.

A walk goes as deep as the program's own layout does, and follows no link below the directory it
begins in, so it ends whatever is in there. `HOMES` is the list of programs. One that keeps its
conversations in a database is found as that database: its `walk` yields the one file.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from stat import S_ISREG

from siding.agents.transcripts.forms import Form
from siding.ground.namedtuples import NamedTuple

_AGENTS_DEPTH = 3  # directories below subagents/, such as those of workflows


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


class _Walk:
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
    """

    client: str
    root: Callable[[Mapping[str, str], Path], Path]
    walk: Callable[[_Walk, str], Iterator[FoundTranscript]]


def _tell_nobody(error: OSError) -> None:
    del error


def found(
    environ: Mapping[str, str],
    home: Path,
    *,
    report: Callable[[OSError], None] = _tell_nobody,
) -> Iterator[FoundTranscript]:
    """Yield every transcript in the homes of the programs in `HOMES`, in no particular order.

    `home` is the person's home. `report` is told of directories that cannot be read.
    """
    for each in HOMES:
        root = os.fspath(each.root(environ, home))
        yield from each.walk(_Walk(each.client, report), root)


def _claude(walk: _Walk, root: str) -> Iterator[FoundTranscript]:
    """projects/<directory>/<session>.jsonl, and <session>/subagents/**/agent-<id>.jsonl"""
    for project in walk.directories(os.path.join(root, "projects")):
        for entry in walk.entries(project):
            if entry.name.endswith(".jsonl"):
                yield from walk.transcript(entry, is_subagent=entry.name.startswith("agent-"))
            elif entry.is_dir(follow_symlinks=False):
                yield from _claude_agents(walk, os.path.join(entry.path, "subagents"))


def _claude_agents(walk: _Walk, place: str, depth: int = 0) -> Iterator[FoundTranscript]:
    for entry in walk.entries(place):
        if entry.is_dir(follow_symlinks=False):
            if depth < _AGENTS_DEPTH:
                yield from _claude_agents(walk, entry.path, depth + 1)
        elif entry.name.startswith("agent-") and entry.name.endswith(".jsonl"):
            yield from walk.transcript(entry, is_subagent=True)


def _codex(walk: _Walk, root: str) -> Iterator[FoundTranscript]:
    """sessions/<year>/<month>/<day>/rollout-*.jsonl, and archived_sessions/rollout-*.jsonl"""
    yield from _rollouts(walk, os.path.join(root, "sessions"), depth=3)
    yield from _rollouts(walk, os.path.join(root, "archived_sessions"), depth=3)


def _rollouts(walk: _Walk, place: str, depth: int) -> Iterator[FoundTranscript]:
    for entry in walk.entries(place):
        if entry.name.startswith("rollout-") and entry.name.endswith(".jsonl"):
            yield from walk.transcript(entry)
        elif depth > 0 and entry.is_dir(follow_symlinks=False):
            yield from _rollouts(walk, entry.path, depth - 1)


def _gemini(walk: _Walk, root: str) -> Iterator[FoundTranscript]:
    """tmp/<project>/chats/session-*.json(l), and <session>/<agent>.jsonl of subagents beside it"""
    for project in walk.directories(os.path.join(root, "tmp")):
        for entry in walk.entries(os.path.join(project, "chats")):
            if entry.name.startswith("session-") and entry.name.endswith((".jsonl", ".json")):
                yield from walk.transcript(entry)
            elif entry.is_dir(follow_symlinks=False):
                for agent in walk.entries(entry.path):
                    if agent.name.endswith((".jsonl", ".json")):
                        yield from walk.transcript(agent, is_subagent=True)


def _named(environ: Mapping[str, str], variable: str) -> Path | None:
    return Path(environ[variable]) if environ.get(variable) else None


HOMES = (
    ClientHome(
        client=Form.CLAUDE,
        root=lambda environ, home: _named(environ, "CLAUDE_CONFIG_DIR") or home / ".claude",
        walk=_claude,
    ),
    ClientHome(
        client=Form.CODEX,
        root=lambda environ, home: _named(environ, "CODEX_HOME") or home / ".codex",
        walk=_codex,
    ),
    ClientHome(
        client=Form.GEMINI,
        root=lambda environ, home: (_named(environ, "GEMINI_CLI_HOME") or home) / ".gemini",
        walk=_gemini,
    ),
)
