"""Find the policy in force in a project, and the files that it comes from.

`Policy.joined_with` adds up three sources: the built-in rules, the person's own
``$SIDING_HOME/policy.yaml``, and the file the setting ``policy.path`` names, by default the
repository's ``.siding/policy.yaml``. A file counts as a whole or not at all: if it does not parse,
or is not a regular file, every command is blocked and the message names the mistake.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from siding.agents.table import BY_PROGRAM, OBEYED, PORTS
from siding.ground.errors import SidingError, UnreadableFile
from siding.ground.files.regular import read_bytes
from siding.ground.git.discovery import find_repository
from siding.ground.git.errors import NotARepository
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.guard.guard import is_judged_by_guard
from siding.guard.parse_cache import parsed
from siding.record.place.project import find_project
from siding.record.place.settings import DEFAULT_POLICY_PATH, OWN_POLICY, Settings
from siding.record.place.trust import POLICIES, add, trusted_policies
from siding.secretmask.face import sounds_secret
from siding.shellguard.face import JudgingPlace, Policy

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.record.place.wiring import App

LARGEST = 1 << 20  # bytes of a policy file


class PolicyGround(NamedTuple):
    """The directories and settings that the policy is read from; the project need not exist yet."""

    app: "App"
    root: Path | None  # the repository's main checkout; None outside a repository, or if it is bare
    settings: Settings
    trust_json: Path | None  # the file of what the person allowed; None if there is no project yet
    cache: Path | None  # the directory for parsed policies; None if there is no project yet


class PolicySource(NamedTuple):
    """One policy file that was read."""

    name: str  # "yours" or "project"
    path: Path
    raw: bytes
    policy: "Policy"
    from_repository: bool  # then the parts that permit more count only if the file is trusted
    trusted: bool

    @property
    def digest(self) -> str:
        return sha256_hex(self.raw)


class InForce(NamedTuple):
    """The policy in force, and its files."""

    on: bool  # whether `siding run` applies it
    policy: "Policy"
    sources: tuple[PolicySource, ...]

    @property
    def withheld(self) -> tuple[str, ...]:
        """The parts of the project's file that do not count, because nobody trusted the file."""
        return tuple(
            each
            for source in self.sources
            if source.from_repository and not source.trusted
            for each in source.policy.loosens
        )


def ground_of(project: "Project") -> PolicyGround:
    """Return the places that a project's policy is read from."""
    return PolicyGround(
        app=project.app,
        root=project.paths.main_worktree,
        settings=project.settings,
        trust_json=project.layout.root / "trust.json",
        cache=project.layout.root / "cache",
    )


def ground_here(app: "App") -> PolicyGround:
    """Return the places for the working directory, which need not be in a project."""
    try:
        project = find_project(app)
        if project is not None:
            return ground_of(project)
        root = find_repository(app.cwd).main_worktree
    except NotARepository:
        root = None
    return PolicyGround(app=app, root=root, settings=Settings(), trust_json=None, cache=None)


def policy_in(ground: PolicyGround) -> InForce:
    """Read and combine the policy files, whether the policy is switched on or not."""
    found = [source for source in (_own(ground), _projects(ground)) if source is not None]
    own = next((each.policy for each in found if each.name == "yours"), Policy())
    project = next((each for each in found if each.name == "project"), None)
    policy = own.joined_with(
        Policy() if project is None else project.policy,
        trusted=project is None or project.trusted or not project.from_repository,
    )
    enabled = ground.settings.policy_enabled
    return InForce(
        on=enabled if enabled is not None else bool(found), policy=policy, sources=tuple(found)
    )


def is_judged(project: "Project", agent: str) -> bool:
    """Return whether the policy judges what the agent of this name does; "" is no agent."""
    return is_judged_by_guard(project, agent) or policy_in(ground_of(project)).on


def loosening_policy(ground: PolicyGround) -> PolicySource | None:
    """Return the repository's policy file if it permits more than the built-in rules do."""
    source = _projects(ground)
    return source if source is not None and source.from_repository and _loosens(source) else None


def trust_policy(project: "Project", source: PolicySource) -> None:
    """Let the parts of the repository's policy file that permit more count.

    This holds for the bytes that were read; after any change the file must be trusted again.
    """
    add(project, POLICIES, source.digest, {"path": str(source.path), "loosens": _loosens(source)})


def place_for(
    ground: PolicyGround, *, cwd: Path, workspace: Path, policy: "Policy"
) -> "JudgingPlace":
    """Return the place in which a command is judged, with all symbolic links resolved now."""
    app, root = ground.app, ground.root
    home = app.env.get("HOME") or os.path.expanduser("~")
    return JudgingPlace(
        cwd=os.path.realpath(cwd),
        workspace=os.path.realpath(workspace),
        home=os.path.realpath(home),
        agents=frozenset(BY_PROGRAM),
        obeyed=OBEYED,
        ports=PORTS,
        state=os.path.realpath(app.home.root),
        repository="" if root in (None, workspace) else os.path.realpath(str(root)),
        writable=tuple(map(os.path.realpath, policy.writable)),
        resolve=os.path.realpath,
        exists=os.path.exists,
    )


def environment_for(env: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables that a verdict may use; values of secrets become None.

    A verdict quotes the values that it matched, and the verdict is recorded.
    """
    return {name: None if sounds_secret(name) else value for name, value in env.items()}


def project_file(ground: PolicyGround) -> Path | None:
    """Return where the project's policy file is, or would be; None without a repository."""
    named = Path(os.path.expanduser(ground.settings.policy_path))
    if named.is_absolute():
        return named
    return None if ground.root is None else ground.root / named


def _loosens(source: PolicySource) -> list[str]:
    return list(source.policy.loosens)


def _own(ground: PolicyGround) -> PolicySource | None:
    path = ground.app.home.root / OWN_POLICY
    # A symbolic link is allowed here: people link such files from elsewhere, and only they can
    # write to their home.
    real = Path(os.path.realpath(path))
    return _read("yours", path, real, root=ground.app.home.root, cache=ground.cache)


def _projects(ground: PolicyGround) -> PolicySource | None:
    path = project_file(ground)
    if path is None:
        return None
    root = ground.root or path.parent
    inside = ground.root is not None and path.is_relative_to(ground.root)
    leads_out = inside and not _stays_in(path, root)
    source = (
        _unreadable("project", path, _LEADS_OUT)
        if leads_out
        else _read("project", path, path, root=root, cache=ground.cache)
    )
    if source is None and ground.settings.policy_path != DEFAULT_POLICY_PATH:
        return _unreadable("project", path, "the setting `policy.path` names it, and it is missing")
    if source is None:
        return None
    trusted = source.digest in trusted_policies(ground.trust_json)
    return source._replace(from_repository=inside, trusted=trusted)


def _read(
    name: str, path: Path, opened: Path, *, root: Path, cache: Path | None
) -> PolicySource | None:
    """Read a policy file; None if there is none, a broken policy if the file cannot be used."""
    if not os.path.lexists(path):
        return None
    try:
        raw = read_bytes(opened, limit=LARGEST)
    except (OSError, UnreadableFile) as error:
        why = error.message if isinstance(error, SidingError) else error.strerror or str(error)
        return _unreadable(name, path, why)
    policy = parsed(
        raw, root=str(root), kept=None if cache is None else cache / f"policy-{name}.json"
    )
    if policy.broken:
        policy = policy._replace(broken=f"{path}: {policy.broken}")
    return PolicySource(
        name=name, path=path, raw=raw, policy=policy, from_repository=False, trusted=False
    )


def _unreadable(name: str, path: Path, why: str) -> PolicySource:
    broken = Policy(broken=why if str(path) in why else f"{path}: {why}")
    return PolicySource(
        name=name, path=path, raw=b"", policy=broken, from_repository=False, trusted=False
    )


def _stays_in(path: Path, root: Path) -> bool:
    return Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(root))


_LEADS_OUT = "a directory of its path is a link that leads out of the repository"
