"""Decide where a path leads, by what it resolves to and not by how it is spelled."""

import fnmatch
import posixpath
import re
from collections.abc import Callable
from enum import StrEnum

from siding.namedtuples import NamedTuple
from siding.policy.agents import KnownAgents
from siding.policy.fields import ANY, NUMBER, ONE, UNKNOWN
from siding.policy.names import names, ordered
from siding.policy.steering import steers


class Zone(StrEnum):
    """The kind of place a path is."""

    INSIDE = "inside the workspace"
    REPOSITORY = "git's own files"
    STEERING = "what steers agents and tools"
    TEMPORARY = "a temporary file"
    HARMLESS = "a harmless device"
    WORKSPACE = "the workspace itself or what holds it"
    STATE = "Siding's own files"
    HOME = "the home directory"
    SYSTEM = "the system"
    DEVICE = "a device"
    KERNEL = "the kernel's files"
    OUTSIDE = "outside the workspace"
    UNKNOWN = "known only when it runs"


class JudgingPlace(NamedTuple):
    """The directories a command is judged against, and what is known there. All paths are absolute
    and resolved.
    """

    cwd: str
    workspace: str
    home: str
    agents: KnownAgents
    state: str = ""  # Siding's home; "" when it is not known
    repository: str = ""  # the person's own checkout; "" when there is none
    writable: tuple[str, ...] = ()  # other directories the project allows to be written
    temporary: tuple[str, ...] = ("/tmp", "/var/tmp", "/dev/shm")
    by_agent: bool = True  # no: a person has typed the command, and how they start agents is theirs
    resolve: Callable[[str], str] = posixpath.normpath  # os.path.realpath where there is a disk
    exists: Callable[[str], bool] = lambda path: False  # noqa: ARG005 - os.path.exists there


HARMLESS_DEVICES = names("""
    /dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/full /dev/urandom
    /dev/random
""")

# These patterns are texts, compiled by `re` at their first use: most commands touch no file.
#
# No two branches may match the same part of a path: an agent chooses the path, and with
# backtracking a long one would take quadratic time or worse.
_SECRET_FILES = (
    r"(?s)(?:^|/)(?:"
    r"\.ssh(?:/(?!known_hosts$|config$|[^/]*\.pub$)[^/]*)?"
    r"|\.gnupg(?:/.*)?|\.aws(?:/.*)?|\.azure(?:/.*)?|\.kube(?:/.*)?|\.password-store(?:/.*)?"
    r"|\.config/(?:gcloud|gh|op|hub|doctl|rclone|glab-cli)(?:/.*)?|\.docker/config\.json"
    r"|\.netrc|_netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.my\.cnf|\.htpasswd"
    r"|\.(?:bash|zsh|python|psql|mysql|node_repl)_history|\.vault-token|\.terraformrc"
    r"|\.[\w-]+/(?:\.?credentials?|auth|oauth_creds|tokens?)(?:\.json|\.toml|\.ya?ml)?"
    r"|credentials\.json|service[-_]?account[\w-]*\.json|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?"
    r"|\.env(?:\.(?!example$|sample$|template$|dist$|defaults?$)[\w.-]+)?|\.envrc\.local"
    r"|[\w.-]+\.(?:pem|p12|pfx|jks|keystore|kdbx|ppk)|(?=[\w.-]*(?:private|secret))[\w.-]*\.key"
    r"|secrets?\.(?:json|ya?ml|toml|env|txt|ini)"
    r"|shadow-?|gshadow-?|master\.passwd|sudoers|krb5\.keytab|environ"
    r"|Keychains(?:/.*)?|Login Data|cookies\.sqlite|key[34]\.db|logins\.json"
    r")$"
)
_SYSTEM_SECRETS = (
    r"^/(?:etc/(?:shadow|gshadow|sudoers|ssh/ssh_host|master\.passwd"
    r"|krb5\.keytab)|proc/[^/]+/(?:environ|mem|fd)|root(?:/|$)"
    r"|run/secrets|var/run/secrets)"
)
_SECRET_NAMES = ("shadow", "gshadow", "environ", "sudoers", "krb5.keytab", "master.passwd")


def absolute(field: str, cwd: str | None) -> str | None:
    """Return the path as an absolute one, not resolved; None when `cwd` is needed and unknown."""
    if field.startswith("/"):
        return field
    if cwd is None:
        return None
    return f"{cwd}/{field}"


def zone(field: str, place: JudgingPlace, cwd: str | None, *, link_itself: bool = False) -> Zone:
    """Return the zone the path in `field` leads to.

    Pass `link_itself` for acts on a link itself and not on its target, such as remove or rename.
    """
    if UNKNOWN in field:
        return _of_open_path(field, place, cwd)
    path = absolute(field, cwd)
    if path is None:
        return Zone.UNKNOWN
    return _of(path, place, link_itself=link_itself and not field.endswith(("/", "/.", "/..")))


def _of_open_path(field: str, place: JudgingPlace, cwd: str | None) -> Zone:
    """Return the zone of a path whose end is unknown, if its known beginning decides it."""
    before = field[: field.index(UNKNOWN)].rpartition("/")[0]
    if not before and not field.startswith("/"):
        return Zone.UNKNOWN
    path = absolute(before or "/", cwd)
    if path is None:
        return Zone.UNKNOWN
    found = _of(path, place, link_itself=False)
    if found in (Zone.SYSTEM, Zone.HOME, Zone.DEVICE, Zone.KERNEL, Zone.STATE, Zone.WORKSPACE):
        return found if path != place.workspace else Zone.UNKNOWN
    return Zone.UNKNOWN


def _of(path: str, place: JudgingPlace, *, link_itself: bool) -> Zone:
    fixed, pattern = _without_pattern(path)
    resolved = _resolved(fixed, place, link_itself=link_itself and not pattern)
    if resolved in HARMLESS_DEVICES or resolved.startswith("/dev/fd/"):
        return Zone.HARMLESS
    if pattern and resolved == place.workspace:
        return _of_pattern(pattern, place)
    within = _below(resolved, place.workspace)
    if within is not None:
        if within == "" and not pattern:
            return Zone.WORKSPACE
        return _inside(within + pattern, place)
    return _outside(resolved, pattern, place)


def _of_pattern(pattern: str, place: JudgingPlace) -> Zone:
    """Return the zone of the names that a pattern in the workspace's root matches."""
    first = pattern.strip("/").partition("/")[0]
    if first.startswith(".") and _matches(first, ".git"):
        return Zone.REPOSITORY
    return _inside(pattern.strip("/"), place)


def _matches(pattern: str, name: str) -> bool:
    shell = pattern.replace(ANY, "*").replace(ONE, "?").replace(NUMBER, "*")
    return fnmatch.fnmatchcase(name, shell)


def _without_pattern(path: str) -> tuple[str, str]:
    """Split a path before the first component that is a pattern."""
    positions = [path.index(mark) for mark in (ANY, ONE, NUMBER) if mark in path]
    if not positions:
        return path, ""
    slash = path.rfind("/", 0, min(positions))
    rest = path[slash:]
    if "/.." in rest:  # a pattern that climbs: only what holds it is certain
        climbs = rest.count("/..")
        return path[: slash or 1] + "/.." * climbs, rest.rpartition("/..")[2]
    return path[: slash or 1], rest


def _resolved(path: str, place: JudgingPlace, *, link_itself: bool) -> str:
    if link_itself:
        head, _, tail = path.rstrip("/").rpartition("/")
        if tail not in ("", ".", ".."):
            return posixpath.normpath(f"{place.resolve(head or '/')}/{tail}")
    found = place.resolve(path)
    return "/" + found.lstrip("/") if found.startswith("//") else found


def _below(path: str, top: str) -> str | None:
    """Return `path` relative to `top`; "" for `top` itself, None when it is not below."""
    if not top:
        return None
    if path == top:
        return ""
    prefix = top.rstrip("/") + "/"
    return path[len(prefix) :] if path.startswith(prefix) else None


def _inside(within: str, place: JudgingPlace) -> Zone:
    parts = within.lower().split("/")
    if any(part == ".git" or _git_by_another_name(part) for part in parts):
        return Zone.REPOSITORY
    return Zone.STEERING if steers(within, place.agents.obeyed) else Zone.INSIDE


def _git_by_another_name(part: str) -> bool:
    """Return whether a file system may take this name for ``.git``.

    NTFS knows it as ``git~1`` too, and drops dots and blanks at the end of a name.
    """
    return part.startswith("git~") or part.rstrip(" .") == ".git"


def _outside(resolved: str, pattern: str, place: JudgingPlace) -> Zone:
    if place.state and _below(resolved, place.state) is not None:
        return Zone.STATE
    within = _below(resolved, place.repository)
    if within is not None:
        return Zone.REPOSITORY if within.split("/")[0] == ".git" else Zone.OUTSIDE
    allowed = _allowed(resolved, pattern, place)
    if allowed is not None:
        return allowed
    if _below(place.workspace, resolved) is not None and not pattern:
        return Zone.WORKSPACE
    if _below(resolved, place.home) is not None:
        return Zone.HOME
    if resolved.startswith("/dev/"):
        return Zone.DEVICE
    if resolved.startswith(("/proc/", "/sys/")):
        return Zone.KERNEL
    holds_home = _below(place.home, resolved) is not None
    if holds_home or resolved.count("/") == 1 or resolved.startswith(_SYSTEM_ROOTS):
        return Zone.SYSTEM
    return Zone.OUTSIDE


def _allowed(resolved: str, pattern: str, place: JudgingPlace) -> Zone | None:
    """Return the zone of a path in a temporary or `writable` directory; None for other paths."""
    for top in place.writable:
        if _below(resolved, top) is not None and (resolved != top or pattern):
            return Zone.TEMPORARY
    for top in place.temporary:
        below = _below(resolved, top)
        if below and _below(place.home, top) and _below(resolved, place.home) is not None:
            return None  # a home among the temporary files is still a home
        if below or (below == "" and pattern and pattern.strip("/") != ANY):
            return Zone.TEMPORARY
        if below == "":
            return Zone.SYSTEM
    return None


_SYSTEM_ROOTS = ordered("""
    /etc/ /usr/ /bin/ /sbin/ /lib /boot/ /var/ /root/ /opt/ /run/ /System/ /Library/ /Applications/
    /private/etc/
""")


def is_secret(field: str, place: JudgingPlace, cwd: str | None) -> bool:
    """Return whether credentials are usually kept at this path, or where its link points."""
    text = field.replace(ANY, "x").replace(ONE, "x")
    if "/" not in text and text in _SECRET_NAMES:
        return False  # without a directory it is an ordinary word, as in `grep shadow`
    path = absolute(text.partition(UNKNOWN)[0], cwd) or text
    resolved = place.resolve(path) if path.startswith("/") else path
    return any(_secret_path(each) for each in {path, resolved})


def holds_secrets(field: str, place: JudgingPlace, cwd: str | None) -> bool:
    """Return whether a directory has one of the known directories of credentials below it."""
    path = absolute(field.partition(ANY)[0], cwd)
    if path is None or UNKNOWN in path:
        return False
    top = place.resolve(path)
    return any(_below(f"{place.home}/{each}", top) is not None for each in _SECRET_DIRECTORIES)


_SECRET_DIRECTORIES = ordered("""
    .ssh .gnupg .aws .azure .kube .docker .password-store .config/gh .config/gcloud .config/op
""")


def _secret_path(path: str) -> bool:
    return bool(re.match(_SYSTEM_SECRETS, path)) or (
        bool(re.search(_SECRET_FILES, path)) and not path.endswith(_NOT_SECRET)
    )


_NOT_SECRET = ("/shadow", "/environ", "/sudoers", "/gshadow")  # elsewhere they are just names


def is_under(field: str, place: JudgingPlace, cwd: str | None) -> bool:
    """Return whether the path is certainly the workspace or something inside it."""
    if UNKNOWN in field:
        return False
    path = absolute(field, cwd)
    if path is None:
        return False
    return zone(field, place, cwd) is Zone.INSIDE or place.resolve(path) == place.workspace
