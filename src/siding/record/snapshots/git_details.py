"""The details of a state: what the index has differently from HEAD, and git's small files."""

from collections.abc import Mapping

from siding.ground.git.paths import quote_path, unquote_path
from siding.ground.git.refs import as_sha
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.git_state import SANDBOX, name_bytes, name_text

NOTHING = "000000"  # the mode of an entry that the index does not have and HEAD has


FLAGS = {"a": "assume-unchanged", "i": "intent-to-add", "s": "skip-worktree"}


_TITLE = "git state"


class IndexEntry(NamedTuple):
    """One entry of the index that is not as HEAD has it.

    `stage` is 0, or 1 to 3 for the sides of a conflict. `mode` is octal text as git writes it.
    `flags` are letters of `FLAGS`, in their order.
    """

    path: bytes
    stage: int
    mode: str
    sha: Sha
    flags: str = ""


class GitDetails(NamedTuple):
    """What the index has differently from HEAD, and the contents of files by their names.

    `entries` is None if there is no index file. `files` are git's small files, by their names in
    the git directory; `documents` are the task's, by their names in the task's directory. A
    sandboxed run that lives has a git directory of its own: what it has differently in there is
    named with `SANDBOX` before it.
    """

    entries: tuple[IndexEntry, ...] | None = ()
    files: Mapping[str, Sha] = {}
    documents: Mapping[str, Sha] = {}

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to record: the index is as HEAD, and nothing is unfinished."""
        return self.entries == () and not self.files and not self.documents

    @property
    def files_outside(self) -> dict[str, Sha]:
        """Return the files of the workspace's own git directory."""
        return {name: s for name, s in self.files.items() if not name.startswith(SANDBOX)}

    @property
    def files_in_sandbox(self) -> dict[str, Sha]:
        """Return the files that the git directory of a sandboxed run has."""
        own = {name: s for name, s in self.files.items() if name.startswith(SANDBOX)}
        return self.files_outside | {name.removeprefix(SANDBOX): s for name, s in own.items()}

    @property
    def staged(self) -> set[Sha]:
        """The contents that the index names; an intent to add has none, nor has a submodule."""
        return {
            entry.sha
            for entry in self.entries or ()
            if entry.mode.startswith("1") and entry.mode != "160000" and "i" not in entry.flags
        }

    def tree_body(self) -> bytes:
        """Return the tree object of the commit that is stored: all contents that are named."""
        contents = sorted({*self.staged, *self.files.values(), *self.documents.values()})
        return b"".join(b"100644 %b\0%b" % (s.encode("ascii"), bytes.fromhex(s)) for s in contents)

    def text(self) -> str:
        """Return the form that is stored; equal details have equal texts."""
        lines = [_TITLE, ""]
        if self.entries is None:
            lines.append("no index")
        else:
            lines += [_entry_line(entry) for entry in sorted(self.entries)]
        for kind, named in (("file", self.files), ("document", self.documents)):
            lines += [
                f"{kind} {s} {quote_path(name_bytes(name))}" for name, s in sorted(named.items())
            ]
        return "\n".join(lines)


def parse(text: str) -> GitDetails | None:
    """Return what `GitDetails.text` wrote; None if it is something else. Unknown lines are
    skipped."""
    title, _, body = text.partition("\n")
    if title != _TITLE:
        return None
    entries: list[IndexEntry] | None = []
    named: dict[str, dict[str, Sha]] = {"file": {}, "document": {}}
    for line in body.split("\n"):
        kind, _, rest = line.partition(" ")
        if line == "no index":
            entries = None
        elif kind in named:
            sha, _, name = rest.partition(" ")
            named[kind][name_text(unquote_path(name))] = Sha(sha)
        elif kind == "entry" and entries is not None:
            mode, sha, stage, flags, path = rest.split(" ", 4)
            flags = "" if flags == "-" else flags
            entries.append(IndexEntry(unquote_path(path), int(stage), mode, Sha(sha), flags))
    return GitDetails(None if entries is None else tuple(entries), named["file"], named["document"])


def commits_named_in(data: bytes) -> list[Sha]:
    """Return the words of a small file of git's that are object ids."""
    words = {word for word in data.split() if (as_sha(word) or "").strip("0")}
    return [Sha(word.decode("ascii")) for word in sorted(words)]


def _entry_line(entry: IndexEntry) -> str:
    return (
        f"entry {entry.mode} {entry.sha} {entry.stage} {entry.flags or '-'} "
        f"{quote_path(entry.path)}"
    )
