"""Call git with an absolute program path, an argument list and an environment built from nothing.

A worktree is hostile input: its files may name programs for git to run, and so may the repository's
configuration and hooks, unless a sandbox protects them. So git never searches for a repository here
(GIT_DIR is always given). It reads neither the system's nor the user's configuration, unless a
caller passes single settings on. Every setting that starts a program is overridden. Filters and
drivers have names chosen by the repository: `settings.py` lists and overrides those.
"""

import errno
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from siding.ground.git.errors import CommandFailed, GitMissing
from siding.ground.git.paths import c_quote
from siding.ground.namedtuples import NamedTuple
from siding.ground.process import capture

IDENTITY = "Siding"
EMAIL = "siding@localhost"

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "GIT_SSH_COMMAND": "false",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
    "GIT_AUTHOR_NAME": IDENTITY,
    "GIT_AUTHOR_EMAIL": EMAIL,
    "GIT_COMMITTER_NAME": IDENTITY,
    "GIT_COMMITTER_EMAIL": EMAIL,
}
# The settings that name programs of drivers, whose names a repository chooses; see `settings.py`.
PROGRAM_KEYS: Mapping[str, tuple[str, ...]] = {
    "filter": ("clean", "smudge", "process"),
    "diff": ("command", "textconv"),
    "merge": ("driver",),
}
_PASSED_ON = ("PATH", "HOME", "TMPDIR", "LANG")

# Every setting of git that starts a program, changes bytes, or leaves something running.
_SETTINGS = (
    "core.fsmonitor=",  # not "false": git before 2.36 takes that for a program's name
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=false",
    "core.sshCommand=false",
    "core.alternateRefsCommand=false",
    "diff.external=",
    "interactive.diffFilter=",
    "credential.helper=",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "log.showSignature=false",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "uploadpack.packObjectsHook=false",
    "safe.bareRepository=explicit",
    "trailer.separators=:",
    "advice.detachedHead=false",
    # By default git does not flush refs outside the usual namespaces. git before 2.36 knows only
    # fsyncObjectFiles; later versions know both and warn that it is deprecated (see `said_by`).
    "core.fsyncObjectFiles=true",
    "core.fsync=all",
    "core.fsyncMethod=fsync",
)


class Place(NamedTuple):
    """The directories and settings that a git command works with. All paths are absolute.

    `objects` is where new objects go instead of the git directory's own; `alternates` are further
    object directories to read from. `settings` are ``key=value``; they override the configuration
    and `_SETTINGS`. `locks`: git may take optional locks, for example to refresh the index.
    """

    git_dir: Path
    common_dir: Path | None = None
    work_tree: Path | None = None
    index_file: Path | None = None
    objects: Path | None = None
    alternates: tuple[Path, ...] = ()
    settings: tuple[str, ...] = ()
    locks: bool = False
    magic_pathspecs: bool = False  # paths begin with ``:(literal)`` and the like


class Git:
    """The git program with the environment that it may see."""

    def __init__(self, program: str, environ: Mapping[str, str]) -> None:
        self.program = program
        self.environ = dict(environ)
        self._environment = {k: environ[k] for k in _PASSED_ON if k in environ} | _ENVIRONMENT
        self._version: tuple[int, ...] | None = None

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> "Git":
        """Return the git found on the given PATH, of which only absolute entries count.

        Raises GitMissing.
        """
        program = find_program("git", environ)
        if program is None:
            raise GitMissing("there is no git on the search path", hint="install git 2.34 or newer")
        return cls(program, environ)

    def version(self) -> tuple[int, ...]:
        """Return git's version as numbers, asked once."""
        if self._version is None:
            done = capture.run_captured([self.program, "--version"], env=self._environment)
            words = done.stdout.decode("ascii", "replace").split()
            numbers = words[2].split(".")[:3] if len(words) > 2 else []
            self._version = tuple(int(n) for n in numbers if n.isdigit())
        return self._version

    def argv(self, place: Place, arguments: Sequence[str]) -> list[str]:
        """Return the whole argument list of one command."""
        argv = [self.program, "-C", str(place.work_tree or place.git_dir), "--no-pager"]
        for setting in (*_SETTINGS, *place.settings):
            if not _key_has_equals(setting):
                argv += ("-c", setting)
        argv += arguments
        return argv

    def environment(self, place: Place) -> dict[str, str]:
        """Return the whole environment of one command."""
        env = dict(self._environment)
        env["GIT_DIR"] = str(place.git_dir)
        if place.common_dir is not None:
            env["GIT_COMMON_DIR"] = str(place.common_dir)
        if place.work_tree is not None:
            env["GIT_WORK_TREE"] = str(place.work_tree)
        if place.index_file is not None:
            env["GIT_INDEX_FILE"] = str(place.index_file)
        if place.objects is not None:
            env["GIT_OBJECT_DIRECTORY"] = str(place.objects)
        if place.alternates:
            env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = ":".join(map(_listed, place.alternates))
        if place.magic_pathspecs:
            env["GIT_LITERAL_PATHSPECS"] = "0"
        if not place.locks:
            env["GIT_OPTIONAL_LOCKS"] = "0"
        # `-c` ends the key at the first "=", so it cannot empty a setting of a driver "a=b".
        emptied = [each[:-1] for each in place.settings if _key_has_equals(each)]
        if emptied:
            env["GIT_CONFIG_COUNT"] = str(len(emptied))
        for number, key in enumerate(emptied):
            env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": ""}
        return env

    def start(
        self,
        place: Place,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        keep_fds: Sequence[int] = (),
        env: Mapping[str, str] | None = None,
        stdout: int | None = None,
    ) -> capture.Running:
        """Start a command and return at once; `stdout` is a descriptor to write to instead."""
        return capture.start(
            self.argv(place, arguments),
            env=self.environment(place) | dict(env or {}),
            stdin=stdin,
            keep_fds=keep_fds,
            stdout=stdout,
        )

    def attempt(
        self,
        place: Place,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        keep_fds: Sequence[int] = (),
        env: Mapping[str, str] | None = None,
    ) -> capture.Completed:
        """Run a command to its end and return its status and output. Raises nothing if it fails."""
        return self.start(place, arguments, stdin=stdin, keep_fds=keep_fds, env=env).finish()

    def run(
        self,
        place: Place,
        arguments: Sequence[str],
        *,
        doing: str,
        stdin: bytes = b"",
        keep_fds: Sequence[int] = (),
        env: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run a command and return its output. If it fails, raise CommandFailed, which names
        `doing`."""
        done = self.attempt(place, arguments, stdin=stdin, keep_fds=keep_fds, env=env)
        return output_of(done, doing=doing)

    def run_to_fd(
        self,
        place: Place,
        arguments: Sequence[str],
        *,
        doing: str,
        stdout: int,
        stdin: bytes = b"",
    ) -> None:
        """Run a command whose output goes straight into a file, in bounded memory."""
        done = capture.run_to_fd(
            self.argv(place, arguments),
            env=self.environment(place),
            stdout=stdout,
            stdin=stdin,
        )
        output_of(done, doing=doing)


def _key_has_equals(setting: str) -> bool:
    """Tell whether a setting empties the program of a driver with a "=" in its name."""
    if not setting.endswith("=") or "=" not in setting[:-1]:
        return False
    return names_program(setting[:-1])


def names_program(key: str) -> bool:
    """Tell whether a setting names the program of a filter or a driver."""
    section, _, rest = key.partition(".")
    return "." in rest and rest.rpartition(".")[2] in PROGRAM_KEYS.get(section, ())


def output_of(done: capture.Completed, *, doing: str) -> bytes:
    """Return the output of a finished command. Raises CommandFailed if its status is not 0.

    Raises BrokenPipeError if the reader of its output went away (``siding diff | head``): that is
    no failure of git.
    """
    if done.returncode == -signal.SIGPIPE:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
    if done.returncode != 0:
        raise CommandFailed(doing, done.argv, done.returncode, done.stderr)
    return done.stdout


def find_program(name: str, environ: Mapping[str, str]) -> str | None:
    """Return the absolute path of a program on the given search path, None if there is none."""
    for directory in environ.get("PATH", "/usr/local/bin:/usr/bin:/bin").split(":"):
        candidate = f"{directory}/{name}"
        usable = directory.startswith("/") and os.access(candidate, os.X_OK)
        if usable and Path(candidate).is_file():
            return candidate
    return None


def _listed(directory: Path) -> str:
    """Return an object directory as an entry of git's colon-separated list."""
    text = str(directory)
    if ":" in text or '"' in text or "\n" in text:
        return c_quote(os.fsencode(text)).decode("ascii")
    return text
