"""Find the policy in force in a project, the files that it comes from, and what was answered to it.

`Policy.joined_with` adds up three sources: the built-in rules, the person's own
``$SIDING_HOME/policy.yaml``, and the file the setting ``policy.path`` names, by default the
repository's ``.siding/policy.yaml``. A file counts as a whole or not at all: if it does not parse,
or is not a regular file, every command is blocked and the message names the mistake.

Parsing YAML takes 12 ms, and every run reads its policy. So the parsed policy is stored in the
project's ``cache`` with the digest of the bytes it was made from. It can be deleted at any time.

The pairs of rule and command to which a person said "always" hold on in a task. They are in the
file ``allowed.json`` of the task.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from siding import __version__
from siding.agents.table import BY_PROGRAM, OBEYED, PORTS
from siding.ground.errors import SidingError, UnreadableFile
from siding.ground.files.durable import make_dirs
from siding.ground.files.regular import read_bytes
from siding.ground.git.discovery import find_repository
from siding.ground.git.errors import NotARepository
from siding.ground.hashing import sha256_hex
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.guard.guard import is_judged_by_guard
from siding.record.place.project import Project, find_project
from siding.record.place.settings import DEFAULT_POLICY_PATH, OWN_POLICY, Settings
from siding.record.place.trust import POLICIES, add, trusted_policies
from siding.secretmask.face import sounds_secret
from siding.shellguard.face import JudgingPlace, Policy, Verdict

if TYPE_CHECKING:
    from siding.record.place.wiring import App

LARGEST = 1 << 20  # bytes of a policy file
_LEADS_OUT = "a directory of its path is a link that leads out of the repository"
KEPT_VERSION = 2
ALLOWED_VERSION = 1


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


def parsed(raw: bytes, *, root: str, kept: Path | None) -> Policy:
    """Return the policy in the bytes `raw`.

    `kept` is the cache file for this policy; None for no cache. A policy file that does not parse
    gives a policy whose `broken` says why.
    """
    digest = sha256_hex(f"{__version__}\0{root}\0".encode("utf-8", "surrogateescape") + raw)
    found = None if kept is None else _kept(kept, digest)
    if found is not None:
        return found
    policy = Policy.read(raw, root=root)
    if kept is not None and not policy.broken:
        _keep(kept, digest, policy)
    return policy


def _kept(path: Path, digest: str) -> Policy | None:
    try:
        document = read_document_or_none(path, what="parsed policy", version=KEPT_VERSION)
        if document is None or document.get("digest") != digest:
            return None
        return Policy.from_record(document["policy"])
    except (SidingError, OSError, KeyError, TypeError, ValueError, AttributeError, re.error):
        return None  # a damaged cache, or one of another version: parse again


def _keep(path: Path, digest: str, policy: Policy) -> None:
    try:
        make_dirs(path.parent)
        document = {"version": KEPT_VERSION, "digest": digest, "policy": policy.as_record()}
        write_document(path, document)
    except (SidingError, OSError):
        return  # the next run parses again


def kept_answers(project: Project, task_id: TaskId) -> frozenset[tuple[str, str]]:
    """Return the pairs of rule and command that were answered with "always" in this task."""
    document = read_document_or_none(
        _allowed_json(project, task_id), what="answers to the policy", version=ALLOWED_VERSION
    )
    entries = (document or {}).get("allowed")
    return frozenset(
        (str(each.get("rule")), str(each.get("command")))
        for each in (entries if isinstance(entries, list) else [])
        if isinstance(each, dict)
    )


def is_kept(project: Project, task_id: TaskId, rule: str, command: str) -> bool:
    """Tell whether a person said "always" to this command, which this rule asks about."""
    return (rule, project.redaction.text(command)) in kept_answers(project, task_id)


def keep_answers(project: Project, task_id: TaskId, answered: Iterable[tuple[str, str]]) -> None:
    """Keep pairs of rule and command from now on."""
    path = _allowed_json(project, task_id)
    document = read_document_or_none(path, what="answers to the policy", version=ALLOWED_VERSION)
    before = (document or {}).get("allowed")
    entries = [
        {"rule": rule, "command": project.redaction.text(command), "at": project.app.now()}
        for rule, command in answered
    ]
    kept = [*(before if isinstance(before, list) else []), *entries]
    write_document(path, {"version": ALLOWED_VERSION, "allowed": kept})


def _allowed_json(project: Project, task_id: TaskId) -> Path:
    return project.task_layout(task_id).root / "allowed.json"


def how_to_only_warn(verdict: Verdict) -> str:
    """Return a sentence if a rule of a policy file warns where a built-in rule stops the command.

    Such a rule adds a warning and lowers nothing: its author may have meant to, or may have meant
    to log every command. "" if there is no such rule.
    """
    for part in verdict.parts:
        strict = [
            each for each in part.findings if _is_built_in(each.rule) and not each.action.runs
        ]
        mild = [each for each in part.findings if not _is_built_in(each.rule) and each.action.runs]
        if strict and mild:
            rule = max(strict, key=lambda each: each.action.severity).rule
            action = mild[0].action.value
            return (
                f"the rule {mild[0].rule} adds its {action!r} and lowers no built-in rule; "
                f"`actions: {{{rule}: {action}}}` in the policy file does"
            )
    return ""


def how_to_run_a_line(argv: Sequence[str]) -> str:
    """Return a sentence if a command looks like a line of shell in one word; else ""."""
    if len(argv) != 1 or " " not in argv[0].strip():
        return ""
    return f"it is one word, a program's name; a line of shell is run by sh -c {quote(argv[0])}"


def _is_built_in(rule: str) -> bool:
    return Policy.built_in(rule) is not None
