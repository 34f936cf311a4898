"""Read objects through one git process that stays open: each further question costs no start."""

from collections.abc import Sequence

from siding.ground.git.command import Git, Place
from siding.ground.namedtuples import NamedTuple
from siding.ground.process import capture

# Bytes of names that are sent before the answers are read. A pipe takes at least as many (PIPE_BUF,
# and a page for a user with many pipes), so that writing them cannot wait for git, while git waits
# for us to read.
_AT_ONCE = 4096


class Found(NamedTuple):
    """An object as it is stored."""

    kind: bytes
    body: bytes


class ObjectReader:
    """Reads objects that git finds in a place. git is started at the first question.

    git looks again for what it does not know yet, so objects that are written later are found, too.
    """

    def __init__(self, git: Git, place: Place) -> None:
        self._git = git
        self._place = place
        self._process: capture.Answering | None = None

    def read(self, names: Sequence[bytes]) -> list[Found | None]:
        """Return the objects with these names, None for each that does not exist.

        A name is an id or an expression such as ``ID:path``, without a newline. Raises
        CommandFailed if git fails, and OutputTooLarge.
        """
        if not names:
            return []
        found: list[Found | None] = []
        try:
            while len(found) < len(names):
                asked = _first_of(names, len(found))
                process = self._started()
                process.ask(b"".join(name + b"\n" for name in asked))
                found += [_answer(process) for _ in asked]
        except BaseException as error:
            self.close()  # it may be in the middle of an answer
            if not isinstance(error, _NoAnswer | BrokenPipeError):
                raise
            # Ask once more, of a process whose messages are read: they say what is wrong.
            return self._read_alone(names)
        return found

    def close(self) -> None:
        """End the process. A later question starts another one."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _started(self) -> capture.Answering:
        if self._process is None:
            argv = self._git.argv(self._place, ["cat-file", "--batch"])
            self._process = capture.start_answering(argv, env=self._git.environment(self._place))
        return self._process

    def _read_alone(self, names: Sequence[bytes]) -> list[Found | None]:
        output = self._git.run(
            self._place,
            ["cat-file", "--batch"],
            doing="reading objects",
            stdin=b"\n".join(names) + b"\n",
        )
        found: list[Found | None] = []
        at = 0
        for _ in names:
            end = output.index(b"\n", at)
            header = _header(output[at:end])
            at = end + 1
            if header is None:
                found.append(None)
                continue
            kind, size = header
            found.append(Found(kind, output[at : at + size]))
            at += size + 1
        return found


class _NoAnswer(Exception):
    """git ended in the middle of an answer, or the answer is larger than we take."""


def _first_of(names: Sequence[bytes], at: int) -> list[bytes]:
    """Return the names from `at` on that are asked about together: one at least."""
    asked, size = [names[at]], len(names[at]) + 1
    for name in names[at + 1 :]:
        size += len(name) + 1
        if size > _AT_ONCE:
            break
        asked.append(name)
    return asked


def _answer(process: capture.Answering) -> Found | None:
    line = process.answers.readline()
    if not line.endswith(b"\n"):
        raise _NoAnswer
    header = _header(line[:-1])
    if header is None:
        return None
    kind, size = header
    if size > capture.DEFAULT_MAX_OUTPUT:
        raise _NoAnswer
    body = process.answers.read(size + 1)
    if len(body) != size + 1:
        raise _NoAnswer
    return Found(kind, body[:-1])


def _header(line: bytes) -> tuple[bytes, int] | None:
    """Return kind and size of the object that follows; None if git knows none of this name."""
    words = line.rsplit(b" ", 2)
    if line.endswith((b" missing", b" ambiguous")) or len(words) != 3:
        return None
    return words[1], int(words[2])
