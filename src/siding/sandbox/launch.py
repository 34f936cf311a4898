"""Plan the sandbox of one run: choose the engine, collect the paths, build the view of the disk."""

import os
import pwd
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import siding
from siding.agents.places import GIT_SETTINGS
from siding.agents.table import OWN
from siding.ground.files.durable import make_dirs
from siding.ground.files.regular import read_small
from siding.ground.git.discovery import read_settings
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker.place import SOCKET_VARIABLE
from siding.ground.process.command import Command
from siding.ground.process.identity import started_of
from siding.ground.process.lookup import Program, find_program
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.locks import FileLock, LockBusy
from siding.record.ledger.reports import SandboxReport
from siding.record.place.project import Project
from siding.record.quarantine.run import borrowed_from, prepare
from siding.record.unfinished.sandbox_commits import make_way, quarantine_lock, quarantine_of
from siding.sandbox.engines.port import FoundEngine, Known, SandboxEngine
from siding.sandbox.engines.probe import find_engine, listening_sockets
from siding.sandbox.engines.table import engine_of
from siding.sandbox.engines.values import (
    BindMount,
    Engine,
    GitAccess,
    Kind,
    Launch,
    Network,
    Places,
    Quarantine,
    SandboxRequirements,
    Secluded,
    StagedCache,
    View,
    is_within,
)
from siding.sandbox.engines.view import ALTERNATE, plan_view
from siding.sandbox.homes import (
    CACHES,
    env_of,
    lay_out,
    make_room_for_sessions,
    places_in,
    profile_in_force,
    staged,
    stays_root,
)
from siding.sandbox.settings import expanded, with_conversations

if TYPE_CHECKING:
    from siding.record.quarantine.run import PreparedQuarantine
    from siding.record.recording.recorder import Recorder
    from siding.sandbox.settings import SandboxSettings

KNOWN_VERSION = 1
# Without them no command of Siding's works inside, wherever it is installed.
_OWN = (sys.prefix, sys.base_prefix, str(Path(siding.__file__).parents[1]))
_INCLUDED = re.compile(rb"^\s*path\s*=\s*(.+?)\s*$", re.MULTILINE)
# Signing keys and their agents stay outside the sandbox, so a commit that must be signed would
# fail.
# A split or sparse index is switched off because only an index in one file, with an entry for each
# file, can be taken over afterwards.
_GIT_SETTINGS = ("commit.gpgSign", "tag.gpgSign", "core.splitIndex", "index.sparse")
_GIT_ENVIRONMENT = (
    ("GIT_CONFIG_COUNT", str(len(_GIT_SETTINGS))),
    *((f"GIT_CONFIG_KEY_{number}", name) for number, name in enumerate(_GIT_SETTINGS)),
    *((f"GIT_CONFIG_VALUE_{number}", "false") for number in range(len(_GIT_SETTINGS))),
)


_NO_LOOPBACK = "a loopback of its own needs bwrap: the command has no network at all"


class Launched(NamedTuple):
    """The sandbox of one run. If there is none, `launch` is None and `reason` says why.

    `report` is stored in the step; `notes` are sentences for the person.
    """

    launch: Launch | None
    report: SandboxReport
    reason: str = ""
    prepared: "PreparedQuarantine | None" = None
    lock: FileLock | None = None  # of the quarantine; the caller releases it when the run has ended
    hosts: tuple[str, ...] | None = None  # that alone may be reached; None: there is no list
    notes: tuple[str, ...] = ()
    caches: Path | None = None  # the directory of what was staged for the run
    settings_copies: Path | None = None  # that of git's settings without credentials


def plan_launch(
    recorder: "Recorder",
    asked: "SandboxSettings",
    command: Command,
    program: str,
    *,
    reads_only: bool = False,
) -> Launched:
    """Return the sandbox of one run. The first call on a machine starts a probe; later ones do
    not. ``program`` is the name of the command's, or of the agent behind it. ``reads_only``: it may
    not write to the workspace, nor commit."""
    project, found = recorder.project, engine_here(recorder.project)
    profile = profile_in_force(asked.profile, program)
    if found.engine is None or (asked.engine is not None and found.engine is not asked.engine):
        return _none(profile, found.reason)
    network, engine = asked.network or Network.ON, engine_of(found.engine)
    if network is Network.ALLOW and not engine.apart:
        # Its rules know ports and no hosts, UDP passes, and there is no network of the run's own.
        return _none(profile, f"a list of hosts needs bwrap ({found.reason})")
    hosts = _hosts(asked, profile, command) if network is Network.ALLOW else None
    git = GitAccess.READ if reads_only else asked.git or GitAccess.COMMIT
    notes: list[str] = []
    if not engine.mounts:
        git = GitAccess.READ
    if network is Network.LOOPBACK and not engine.apart:
        network = Network.OFF
        notes.append(_NO_LOOPBACK)
    if engine.left_open:
        notes.append(engine.left_open.format(found.reason))
    lock, said = _quarantine(recorder) if git is GitAccess.COMMIT else (None, ())
    prepared = None
    if lock is not None:
        prepared, said = _prepare(recorder)
    notes += said
    home, agent = Path(project.app.env.get("HOME") or "/nonexistent"), places_in(profile)
    asked = with_conversations(asked, project, profile)
    make_room_for_sessions(home, agent)
    caches = _caches(recorder, asked, command, engine)
    notes += caches.notes
    places = places_of(project, recorder.root, Path(recorder.workspace.git_dir), command)
    demand = _requirements(project, asked, command, network, git)
    demand = demand._replace(caches=caches.staged, reads_only=reads_only)
    demand, said = _without_secrets(recorder, demand, places, home, engine)
    notes += said
    view = plan_view(
        places,
        demand,
        agent=agent,
        quarantine=_quarantine_of(prepared),
        hooks=_hooks_inside(recorder, home),
        sockets=listening_sockets(),
    )
    launch = _launch(recorder, found, view, network, command, places)._replace(
        room=asked.memory,
        rooms=asked.room or memory_here() // 2,
        stays_root=stays_root(program),
    )
    of_git = () if prepared is None else _GIT_ENVIRONMENT
    launch = launch._replace(
        env=(*launch.env, *caches.env, *of_git), secluded=_secluded(program, command)
    )
    report = SandboxReport(
        engine=found.engine.value,
        profile=profile,
        network=network.value,
        git=(git if prepared is not None else GitAccess.READ).value,
        hosts=hosts or (),
        not_covered=engine.not_covered(found, network, filtered=bool(launch.seccomp)),
        reason=found.reason,
    )
    return Launched(
        launch=launch,
        report=report,
        prepared=prepared,
        lock=lock,
        hosts=hosts,
        notes=tuple(notes),
        caches=caches.directory,
        settings_copies=Path(demand.replaced[0][1]).parent if demand.replaced else None,
    )


def _quarantine_of(prepared: "PreparedQuarantine | None") -> Quarantine | None:
    if prepared is None:
        return None
    return Quarantine(
        objects=str(prepared.objects), heads=str(prepared.heads), git_dir=str(prepared.copy)
    )


def _secluded(program: str, command: Command) -> Secluded | None:
    """Return what Siding's own agent has for itself; other agents share theirs with commands."""
    if program != OWN:
        return None
    from siding.agents.own.hooks import OF_THE_AGENT
    from siding.agents.own.providers import ALL

    names = tuple(name for name in (*ALL, *OF_THE_AGENT) if name in command.env)
    return Secluded(os.path.realpath(sys.executable), names)


def memory_here() -> int:
    """Return the bytes of memory that this machine has, or that our control group may use."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(whole, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    except (OSError, ValueError):  # there is none, or it says `max`
        return whole


def _requirements(
    project: Project,
    asked: "SandboxSettings",
    command: Command,
    network: Network,
    git: GitAccess,
) -> SandboxRequirements:
    home = Path(project.app.env.get("HOME") or "/nonexistent")
    return SandboxRequirements(
        network=network,
        git=git,
        read=(
            *borrowed_from(project.paths.objects),
            *_named_by_git(home),
            *_to_ask(command),
            *(expanded(path, home) for path in asked.read or () if path not in CACHES),
        ),
        write=tuple(expanded(path, home) for path in asked.write or ()),
    )


def _without_secrets(
    recorder: "Recorder",
    demand: SandboxRequirements,
    places: Places,
    home: Path,
    engine: SandboxEngine,
) -> tuple[SandboxRequirements, tuple[str, ...]]:
    """Keep credentials in git's settings, and what only root may read, from the run."""
    from siding.sandbox.hidden import clean_settings, root_only

    files = [str(home / name) for name in GIT_SETTINGS[:2]]
    files += ["/etc/gitconfig", f"{places.git_dir}/config.worktree"]
    files += [each for each in _named_by_git(home) if each not in files]
    clean = clean_settings(
        files, places.common_dir, str(home), lambda: _own_directory(recorder, "git")
    )
    replaced = clean.replaced
    notes: list[str] = []
    if not engine.mounts:
        # It allows whole trees: that of the repository has to be read, with all that is in it.
        open_ones = [path for path, _copy in replaced if is_within(path, places.common_dir)]
        replaced = tuple(each for each in replaced if each[0] not in open_ones)
        notes = [
            f"{path} has a credential in it, which the command can read: Landlock cannot hide it"
            for path in open_ones
        ]
    spared = (*demand.read, *demand.write, places.workspace, places.common_dir, places.program)
    hidden, directories = root_only(spared)
    demand = demand._replace(
        replaced=replaced,
        hidden_files=(*hidden, *clean.stores),
        hidden_directories=tuple(directories),
    )
    return demand, tuple(notes)


class _Caches(NamedTuple):
    """The package caches of one run: what was staged, and in which directory."""

    staged: tuple[StagedCache, ...] = ()
    directory: Path | None = None
    env: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def _caches(
    recorder: "Recorder", asked: "SandboxSettings", command: Command, engine: SandboxEngine
) -> _Caches:
    """Stage the package caches that are asked for; without mounts there can be none."""
    names = [each for each in asked.read or () if each in CACHES]
    if not names:
        return _Caches()
    if not engine.mounts:
        said = f"package caches need bwrap, so the command has none of {', '.join(names)}"
        return _Caches(notes=(said,))
    directory = _own_directory(recorder, "caches")
    return _Caches(
        staged=tuple(staged(names, command.env, directory)),
        directory=directory,
        env=tuple(env_of(names).items()),
    )


def _none(profile: str, reason: str) -> Launched:
    return Launched(
        launch=None, reason=reason, report=SandboxReport(profile=profile, reason=reason)
    )


def _hosts(asked: "SandboxSettings", profile: str, command: Command) -> tuple[str, ...]:
    """Return the entries of the list: what is asked for, and what the agent needs.

    Where the person's own variables send the agent elsewhere, it needs that instead of its vendor.
    """
    from siding.agents.places import HOSTS
    from siding.agents.places import expanded as groups_expanded
    from siding.agents.wire import hosts_set

    needed = HOSTS.of(profile) or ()
    own = hosts_set(command.env) if needed else ()
    return tuple(dict.fromkeys((*groups_expanded(asked.hosts or ()), *needed, *own)))


def engine_here(project: Project) -> FoundEngine:
    """Return the engine that works here. A positive answer is cached until its key changes."""
    path = project.app.home.root / "cache" / f"sandbox-{os.geteuid()}.json"
    kept = read_document_or_none(path, what="what is known of sandboxes", version=KNOWN_VERSION)
    known = known_in(kept or {})
    found = find_engine(project.app.env, known)
    if found.known is not None and found.known != known:
        make_dirs(path.parent)
        # Versions that knew no other program read `bwrap`.
        document = {**found.known._asdict(), "bwrap": found.known.program}
        write_document(path, {"version": KNOWN_VERSION, **document})
    return found


def known_in(document: Mapping[str, Any]) -> Known | None:
    """Return what a document says of a program; None if it says nothing.

    One of a version that knew no other program has its path as `bwrap`, and no engine.
    """
    engine = document.get("engine", Engine.BWRAP.value)
    if not isinstance(document.get("key"), str) or "scoped" not in document:
        return None
    if engine not in tuple(Engine):
        return None  # one that this version does not know
    return Known(
        engine=Engine(engine),
        key=document["key"],
        program=str(document.get("program", document.get("bwrap"))),
        userns=bool(document.get("userns")),
        scoped=bool(document.get("scoped")),
    )


def _launch(
    recorder: "Recorder",
    found: FoundEngine,
    view: View,
    network: Network,
    command: Command,
    places: Places,
) -> Launch:
    assert found.engine is not None
    env = {"SIDING_SANDBOX": found.engine.value, "TMPDIR": "/tmp"}
    if not engine_of(found.engine).mounts:
        private = _own_directory(recorder, "tmp")
        env |= lay_out(private, view, places.homes, command.env)
        view = View(
            mounts=(*view.mounts, BindMount(kind=Kind.WRITE, path=os.path.realpath(private)))
        )
    return found.launch(view, network, tuple(env.items()))


def _own_directory(recorder: "Recorder", kind: str) -> Path:
    """Name a directory for this run alone, and remove those of its kind that dead runs left."""
    top = recorder.layout.root / "sandbox" / kind
    of_process = top / str(recorder.project.app.pid)
    make_dirs(of_process)
    for left in top.iterdir():
        if not (left.name.isdecimal() and started_of(int(left.name))):
            rmtree(left, ignore_errors=True)
    # One process may host several runs of a task: each has its own. The name is short, because
    # programs put sockets below it, whose paths may have 107 bytes.
    return of_process / recorder.project.app.random_bytes(3).hex()


def _quarantine(recorder: "Recorder") -> tuple[FileLock | None, tuple[str, ...]]:
    """Take the lock of the quarantine; return it, or None and why git is read-only inside."""
    form = recorder.project.paths.ref_format
    if form != "files":
        return None, (f"refs are kept as {form}: git is read-only inside",)
    make_dirs(recorder.layout.root)
    try:
        return quarantine_lock(recorder.layout).acquire(timeout_s=0), ()
    except LockBusy:
        said = "another sandboxed run of this task lives: git is read-only inside this one"
        return None, (said,)


def _prepare(recorder: "Recorder") -> tuple["PreparedQuarantine", tuple[str, ...]]:
    """Create the quarantine of the run and return it, with notes for the person.

    What a run that was cut off left in the quarantine is taken over first. The caller holds the
    lock of the quarantine.
    """
    project = recorder.project
    said = make_way(project, recorder.layout, recorder.workspace)
    root = quarantine_of(recorder.layout)
    make_dirs(root)
    git_dir = Path(recorder.workspace.git_dir)
    prepared = prepare(project.repository, git_dir, root, recorder.workspace.branch, ALTERNATE)
    return prepared, said


def places_of(project: Project, root: Path, git_dir: Path, command: Command) -> Places:
    """Return the directories from which the view of a command in a workspace at `root` is made."""
    env = command.env
    program = find_program(command.argv, env, command.cwd)
    homes = [env.get("HOME", ""), _home_of_user()]
    main = project.paths.main_worktree
    return Places(
        workspace=os.path.realpath(root),
        common_dir=os.path.realpath(project.paths.common_dir),
        git_dir=os.path.realpath(git_dir),
        checkout=None if main is None else os.path.realpath(main),
        state=os.path.realpath(project.app.home.root),
        homes=tuple(dict.fromkeys(os.path.realpath(each) for each in homes if each)),
        programs=tuple(
            dict.fromkeys(
                os.path.normpath(each)
                for each in env.get("PATH", "").split(":")
                if each.startswith("/") and os.path.isdir(each)
            )
        ),
        own=tuple(dict.fromkeys(os.path.realpath(each) for each in _OWN)),
        program=os.path.normpath(program.path) if isinstance(program, Program) else "/bin/sh",
        names=(homes[0], str(root), str(command.cwd), str(project.paths.common_dir)),
    )


def _to_ask(command: Command) -> tuple[str, ...]:
    """Return the directory of the socket of the run's broker.

    Nobody listens there yet, so it is not masked.
    """
    socket = command.env.get(SOCKET_VARIABLE, "")
    return (os.path.dirname(socket),) if socket else ()


def _home_of_user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return ""


def _hooks_inside(recorder: "Recorder", home: Path) -> str | None:
    """Return the hooks directory that git would use, if it lies inside the workspace, else None."""
    for config in (recorder.project.paths.common_dir / "config", home / ".gitconfig"):
        named = read_settings(config).get("core.hookspath")
        if named and not named.startswith(("/", "~")):
            return os.path.normpath(os.path.join(os.path.realpath(recorder.root), named))
    return None


def _named_by_git(home: Path) -> list[str]:
    """Return the files that the person's git settings include or name.

    git reads them inside the sandbox, too: the committer's name may be in one of them.
    """
    data = read_small(home / ".gitconfig") or b""
    values = read_settings(home / ".gitconfig")
    named = [values[key] for key in ("core.excludesfile", "core.attributesfile") if key in values]
    named += [os.fsdecode(found).strip('"') for found in _INCLUDED.findall(data)]
    files = (os.path.join(home, each.replace("~", str(home), 1)) for each in named)
    return [os.path.normpath(file) for file in files if os.path.isfile(file)]


__all__ = ["Launched", "engine_here", "places_of", "plan_launch"]
