"""Write commits in the person's name, signed if they ask for it.

They are made without `git commit`: no hook runs, and no editor or passphrase prompt appears unless
the person asked for it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Self

from siding.ground.git.command import Git, Place
from siding.ground.git.errors import GitError
from siding.ground.git.repository import Repository
from siding.ground.git.settings import scoped_values
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.ground.process import capture
from siding.ground.process.capture import Running
from siding.record.moving.bench import Bench

_IDENTITY = tuple(
    """
    GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
    GIT_COMMITTER_DATE EMAIL USER LOGNAME XDG_CONFIG_HOME GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM
    GIT_CONFIG_NOSYSTEM
    """.split()
)
_SIGNING = tuple(
    """
    GNUPGHOME GPG_TTY GPG_AGENT_INFO SSH_AUTH_SOCK DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
    XDG_RUNTIME_DIR
    """.split()
)
_TRAILER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*: \S")
_USERS_ONLY = (
    "gpg.program",
    "gpg.ssh.program",
    "gpg.x509.program",
    "gpg.openpgp.program",
    "gpg.ssh.defaultkeycommand",
)


class NoIdentity(GitError):
    """git has no name and address for the commits."""

    code = "no_identity"


class SigningFailed(GitError):
    """The commit could not be signed."""

    code = "signing_failed"


class Person(NamedTuple):
    """Author and committer, each as a commit has it: ``Name <mail> seconds zone``."""

    author: bytes
    committer: bytes


class RawCommit(NamedTuple):
    """A commit as it is stored. ``message`` is bytes in ``encoding`` (UTF-8 when empty)."""

    sha: Sha
    tree: Sha
    parents: tuple[Sha, ...]
    author: bytes
    encoding: bytes
    message: bytes

    @property
    def subject(self) -> str:
        return self.text.strip().partition("\n")[0]

    @property
    def text(self) -> str:
        try:
            return self.message.decode(self.encoding.decode("ascii") or "utf-8", "replace")
        except LookupError:
            return self.message.decode("utf-8", "replace")


class NewCommit(NamedTuple):
    """A commit to be written. `author` None means the person."""

    tree: Sha
    parents: tuple[Sha, ...]
    message: str
    author: bytes | None = None


class AskedPerson:
    """Ask git in the background who commits; `answer` waits for the result.

    Create it before other work, so that both run at once. If the `with` block ends without a call
    of `answer`, the git processes are ended.
    """

    def __init__(self, git: Git, repository: Repository) -> None:
        env = {k: git.environ[k] for k in ("PATH", "HOME", *_IDENTITY) if k in git.environ}
        env |= {"GIT_DIR": str(repository.paths.git_dir), "LC_ALL": "C"}
        self._author, self._committer = (
            _start_var(git, env, repository, name)
            for name in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT")
        )
        self._answered = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if not self._answered:
            self._author.end()
            self._committer.end()

    def answer(self) -> Person:
        """Return the person. Raises NoIdentity."""
        author, committer = self._author.finish(), self._committer.finish()
        self._answered = True
        if author.returncode or committer.returncode:
            raise NoIdentity(
                "git does not know in whose name to commit",
                hint="git config --global user.name 'Your Name' && "
                "git config --global user.email you@example.org",
            )
        return Person(author=author.stdout.strip(), committer=committer.stdout.strip())


def person_who_commits(git: Git, repository: Repository) -> Person:
    """Ask git who commits and return the answer. Raises NoIdentity."""
    with AskedPerson(git, repository) as asked:
        return asked.answer()


def read_commits(bench: Bench, shas: Sequence[Sha]) -> list[RawCommit]:
    """Read these commits and return them in the same order."""
    bodies = bench.read(shas, kind=b"commit")
    return [parse(sha, body) for sha, body in zip(shas, bodies, strict=True)]


def parse(sha: Sha, body: bytes) -> RawCommit:
    """Return the fields of a stored commit."""
    header, _, message = body.partition(b"\n\n")
    fields: dict[bytes, bytes] = {}
    parents: list[Sha] = []
    for line in header.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"parent":
            parents.append(Sha(value.decode("ascii")))
        elif key:
            fields.setdefault(key, value)
    return RawCommit(
        sha=sha,
        tree=Sha(fields[b"tree"].decode("ascii")),
        parents=tuple(parents),
        author=fields.get(b"author", b""),
        encoding=fields.get(b"encoding", b""),
        message=message,
    )


def write_commit(bench: Bench, commit: NewCommit, person: Person, *, sign: bool) -> Sha:
    """Write the commit to the bench and return its id. Raises SigningFailed."""
    if sign:
        return _signed(bench, commit, person)
    lines = [b"tree " + commit.tree.encode()]
    lines += [b"parent " + parent.encode() for parent in commit.parents]
    lines += [b"author " + (commit.author or person.author), b"committer " + person.committer]
    message = commit.message.encode("utf-8", "backslashreplace")
    return bench.put("commit", b"\n".join(lines) + b"\n\n" + message)


def with_trailers(message: str, trailers: Sequence[tuple[str, str]]) -> str:
    """Return the message with these trailers appended, except those that it has already."""
    text = message.replace("\r\n", "\n").replace("\0", "").strip("\n").rstrip()
    new = [f"{key}: {' '.join(value.split())}" for key, value in trailers]
    lines = text.split("\n")
    new = [line for line in new if line not in lines]
    if not new:
        return text + "\n"
    last = text.rpartition("\n\n")[2].split("\n") if "\n\n" in text else []
    joined = bool(last) and all(_TRAILER.match(line) for line in last)
    return text + ("\n" if joined else "\n\n") + "\n".join(new) + "\n"


def _start_var(git: Git, env: Mapping[str, str], repository: Repository, name: str) -> Running:
    argv = [git.program, "-C", str(repository.paths.common_dir), "var", name]
    return capture.start(argv, env=env)


def _signed(bench: Bench, commit: NewCommit, person: Person) -> Sha:
    """Let git sign with the program of the person's settings. The repository's settings, which an
    agent may have written, cannot choose the program."""
    users, local = scoped_values(bench.git, bench.repository.paths)
    values = {**users, **{k: v for k, v in local.items() if k not in _USERS_ONLY}}
    wanted = {
        "gpg.format": values.get("gpg.format", "openpgp"),
        "user.signingkey": values.get("user.signingkey"),
        "gpg.program": users.get("gpg.openpgp.program") or users.get("gpg.program", "gpg"),
        "gpg.ssh.program": users.get("gpg.ssh.program", "ssh-keygen"),
        "gpg.x509.program": users.get("gpg.x509.program", "gpgsm"),
        "gpg.ssh.defaultKeyCommand": users.get("gpg.ssh.defaultkeycommand"),
    }
    settings = tuple(f"{key}={value}" for key, value in wanted.items() if value is not None)
    place: Place = bench.place()
    env = {k: bench.git.environ[k] for k in _SIGNING if k in bench.git.environ}
    env |= _as_variables("AUTHOR", commit.author or person.author)
    env |= _as_variables("COMMITTER", person.committer)
    arguments = ["commit-tree", "-S", commit.tree]
    for parent in commit.parents:
        arguments += ["-p", parent]
    done = bench.git.attempt(
        place._replace(settings=(*place.settings, *settings)),
        arguments,
        stdin=commit.message.encode("utf-8", "backslashreplace"),
        env=env,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().replace("\n", "; ")
        raise SigningFailed(
            f"the commit could not be signed: {said or 'git did not say why'}",
            hint="leave out --sign, or unlock your key (`ssh-add`, `gpg-connect-agent`) first",
        )
    return Sha(done.stdout.decode("ascii").strip())


def _as_variables(role: str, ident: bytes) -> dict[str, str]:
    text = ident.decode("utf-8", "surrogateescape")
    name, _, rest = text.partition(" <")
    mail, _, date = rest.partition("> ")
    return {
        f"GIT_{role}_NAME": name,
        f"GIT_{role}_EMAIL": mail,
        f"GIT_{role}_DATE": date if date.startswith("@") else f"@{date}",
    }
