"""From what is asked for to a list of mounts. Pure, but for the questions put to `DiskLook`.

Everything outside homes is visible and read-only. Homes, temporary directories, /run, Siding's own
home and the person's main checkout are empty, but for what is listed. Rules:
- a path of the workspace is never followed out of it: what is a link there gets no mount;
- every mount's source is a real path, so that no link can be exchanged under it;
- deeper mounts come later, so that what protects a part of a tree outlives what opens the tree.
"""

import os
from collections.abc import Callable, Iterable

from siding.agents.places import GIT_SETTINGS, TOOLS, AgentPlaces
from siding.ground.namedtuples import NamedTuple
from siding.sandbox.engines.values import (
    BindMount,
    GitAccess,
    Kind,
    Network,
    Places,
    Quarantine,
    SandboxRequirements,
    View,
    is_within,
)

TEMPORARY = ("/tmp", "/var/tmp", "/run")
ALTERNATE = "/run/siding/objects"  # where a run sees the repository's own objects
_SYSTEM = ("/usr", "/etc", "/bin", "/lib", "/dev", "/proc", "/sys")
# What debugs the kernel. Root owns it and may read it without any capability; nobody else may.
_DEBUG = ("/sys/kernel/debug", "/sys/kernel/tracing", "/sys/fs/bpf")
_BINARIES = ("bin", "sbin")


class DiskLook(NamedTuple):
    """What planning asks the disk."""

    exists: Callable[[str], bool] = os.path.exists
    real: Callable[[str], str] = os.path.realpath
    is_link: Callable[[str], bool] = os.path.islink
    is_directory: Callable[[str], bool] = os.path.isdir
    listed: Callable[[str], Iterable[str]] = os.listdir


class _Plan:
    """Mounts by path; a later one for the same path replaces an earlier one."""

    def __init__(self, look: DiskLook) -> None:
        self.look = look
        self.mounts: dict[str, BindMount] = {}

    def put(self, kind: Kind, path: str, source: str = "") -> None:
        self.mounts[path] = BindMount(kind=kind, path=path, source="" if source == path else source)

    def take(self, kind: Kind, path: str) -> None:
        """Mount what is at a path, if anything is. Its name stays; what it links to is mounted."""
        if self.look.exists(path):
            inside = os.path.join(self.look.real(os.path.dirname(path)), os.path.basename(path))
            self.put(kind, inside, self.look.real(path))

    def furnish(self, path: str) -> None:
        """Put an empty directory where one is, with what is in it: copies of files, and directories
        to read."""
        if not self.look.is_directory(path):
            return
        self.put(
            Kind.EMPTY, os.path.join(self.look.real(os.path.dirname(path)), os.path.basename(path))
        )
        try:
            names = sorted(self.look.listed(path))
        except OSError:
            return
        for name in names:
            inside = os.path.join(path, name)
            self.take(Kind.SHOW if self.look.is_directory(inside) else Kind.COPY, inside)

    def view(self) -> View:
        ordered = sorted(self.mounts.values(), key=lambda mount: mount.path.count("/"))
        return View(mounts=tuple(ordered))


def plan_view(
    places: Places,
    demand: SandboxRequirements,
    *,
    agent: AgentPlaces | None,
    quarantine: Quarantine | None = None,
    hooks: str | None = None,
    sockets: Iterable[str] = (),
    look: DiskLook | None = None,
) -> View:
    """Return the view of one run.

    ``agent`` is what the agent that runs keeps in a home; None: it is no agent that is known.
    Without a ``quarantine`` git is read-only, whatever is demanded. ``hooks`` is the repository's
    hooks directory when it lies in the workspace. ``sockets`` are sockets that somebody listens on.
    """
    plan = _Plan(look or DiskLook())
    _hide(plan, places)
    _show_programs(plan, places)
    _show_home(plan, places.homes[0], agent) if places.homes else None
    if demand.network is Network.ON:
        _show_resolver(plan)
    for path in demand.read:
        plan.take(Kind.SHOW, path)
    for cache in demand.caches:
        plan.put(Kind.SHOW, cache.shown, cache.source)
        plan.put(Kind.WRITE, cache.path, cache.staged)
    for path in demand.write:
        plan.take(Kind.WRITE, path)
    plan.put(Kind.SHOW, places.common_dir)
    if demand.git is GitAccess.COMMIT and quarantine is not None:
        _open_git(plan, places, quarantine)
    plan.put(Kind.SHOW if demand.reads_only else Kind.WRITE, places.workspace)
    _protect(plan, places.workspace, hooks)
    _replace(plan, demand)
    for name in places.names:
        _link(plan, name)
    view = _without_needless_copies(plan.view())
    return _without_sockets(view, sockets)


def _hide(plan: _Plan, places: Places) -> None:
    for path in ("/home", "/root"):
        if plan.look.exists(path):
            plan.put(Kind.BLANK, plan.look.real(path))
    for home in places.homes:
        if _may_be_hidden(home, plan):
            plan.put(Kind.EMPTY, home)
    for path in TEMPORARY:
        if plan.look.exists(path):
            plan.put(Kind.EMPTY, plan.look.real(path))
    for hidden in (places.checkout, places.state):
        if hidden is not None and _may_be_hidden(hidden, plan) and hidden not in places.homes:
            plan.put(Kind.BLANK, hidden)
    for path in _DEBUG:
        if _has_something(path, plan.look):
            plan.put(Kind.BLANK, path)


def _has_something(path: str, look: DiskLook) -> bool:
    """Return whether a directory has anything in it that we may see."""
    if not look.exists(path):
        return False
    try:
        return any(True for _name in look.listed(path))
    except OSError:
        return False


def _may_be_hidden(path: str, plan: _Plan) -> bool:
    """Not what holds the system itself: a home of `/` is no home."""
    return plan.look.exists(path) and not any(is_within(each, path) for each in _SYSTEM)


def _show_programs(plan: _Plan, places: Places) -> None:
    for home in places.homes:
        for name in TOOLS:
            plan.take(Kind.SHOW, f"{home}/{name}")
    private = (*places.homes, places.state, *([places.checkout] if places.checkout else []))
    for directory in places.programs:
        if _hidden(plan, directory) and not is_within(directory, places.workspace):
            plan.take(Kind.SHOW, _installation(directory, private))
    for directory in places.own:
        holds_private = any(is_within(each, directory) for each in private)
        if _hidden(plan, directory) and not holds_private:
            plan.take(Kind.SHOW, directory)
    real = plan.look.real(places.program)
    for path in (places.program, real):
        if _hidden(plan, path) and not is_within(path, places.workspace):
            folder = os.path.dirname(path)
            where = _installation(folder, private)
            plan.take(Kind.SHOW, where if where != folder else path)


def _hidden(plan: _Plan, path: str) -> bool:
    return View(mounts=tuple(plan.mounts.values())).hides(path)


def _installation(directory: str, private: tuple[str, ...]) -> str:
    """Return the directory a program needs beside its own: ``…/v20`` for ``…/v20/bin``, all of
    ``node_modules`` for what lies in one.

    Never one that holds, or lies directly in, what is hidden on purpose.
    """
    modules, found, _rest = f"{directory}/".partition("/node_modules/")
    if found:
        return f"{modules}/node_modules"
    above = os.path.dirname(directory)
    named = os.path.basename(above)
    open_enough = not any(
        is_within(each, above) or os.path.dirname(above) == each for each in private
    )
    if named in (".venv", "venv"):
        open_enough = not any(is_within(each, above) for each in private)
    in_temporary = above in TEMPORARY
    if os.path.basename(directory) in _BINARIES and open_enough and not in_temporary:
        return above
    return directory


def _show_home(plan: _Plan, home: str, agent: AgentPlaces | None) -> None:
    for name in GIT_SETTINGS:
        plan.take(Kind.SHOW, f"{home}/{name}")
    if agent is None:
        return
    for name in agent.readable:
        plan.take(Kind.SHOW, f"{home}/{name}")
    for name in agent.private:
        plan.furnish(f"{home}/{name}")
    for name in (*agent.sessions, *agent.writable):
        plan.take(Kind.WRITE, f"{home}/{name}")
    for name in agent.copied:
        plan.take(Kind.COPY, f"{home}/{name}")


def _show_resolver(plan: _Plan) -> None:
    """Names are looked up through a file that often lies in /run."""
    target = plan.look.real("/etc/resolv.conf")
    if target != "/etc/resolv.conf" and plan.look.exists(target):
        plan.put(Kind.SHOW, target)


def _open_git(plan: _Plan, places: Places, quarantine: Quarantine) -> None:
    """Let git stage and commit: into directories of ours in the place of objects and branches."""
    common, git_dir = places.common_dir, places.git_dir
    plan.put(Kind.WRITE, f"{common}/objects", quarantine.objects)
    plan.put(Kind.SHOW, ALTERNATE, f"{common}/objects")
    plan.put(Kind.WRITE, f"{common}/refs/heads", quarantine.heads)
    plan.put(Kind.EMPTY, f"{common}/logs/refs/heads")
    plan.put(Kind.WRITE, git_dir, quarantine.git_dir)
    for name in ("commondir", "gitdir", "locked", "config.worktree", "hooks", "info"):
        if plan.look.exists(f"{quarantine.git_dir}/{name}"):
            plan.put(Kind.SHOW, f"{git_dir}/{name}", f"{quarantine.git_dir}/{name}")
    if plan.look.exists(f"{git_dir}/modules"):  # whole repositories: they are not copied
        plan.put(Kind.SHOW, f"{git_dir}/modules")


def _protect(plan: _Plan, workspace: str, hooks: str | None) -> None:
    """Make read-only what in the workspace makes git or Siding run something outside."""
    for path in (f"{workspace}/.git", f"{workspace}/.siding", hooks):
        if path and plan.look.exists(path) and plan.look.real(path) == path:
            plan.put(Kind.SHOW, path)


def _replace(plan: _Plan, demand: SandboxRequirements) -> None:
    """Show other files in the place of some that are visible, and hide what is not to be seen."""
    for path, source in demand.replaced:
        inside = os.path.join(plan.look.real(os.path.dirname(path)), os.path.basename(path))
        if plan.mounts.get(inside) is None:  # a link in a directory that is shown: what it leads to
            inside = plan.look.real(path)
        if not _hidden(plan, inside):
            plan.put(Kind.SHOW, inside, source)
    for path in demand.hidden_files:
        if not _hidden(plan, path):
            plan.put(Kind.MASK, path)
    for path in demand.hidden_directories:
        if not _hidden(plan, path):
            plan.put(Kind.BLANK, path)


def _link(plan: _Plan, name: str) -> None:
    """Make the links again that a name leads over, where they lie in something hidden."""
    at, left = "/", [part for part in name.split("/") if part]
    for _ in range(40):  # as many as the kernel follows
        while left and not plan.look.is_link(os.path.join(at, left[0])):
            at = os.path.join(at, left.pop(0))
        if not left:
            return
        path = os.path.join(at, left.pop(0))
        target = plan.look.real(path)
        if _hidden(plan, path):
            plan.put(Kind.LINK, path, target)
        at = target


def _without_needless_copies(view: View) -> View:
    """Leave out copies in a home that was opened for writing: they would replace the files."""
    others = View(mounts=tuple(m for m in view.mounts if m.kind is not Kind.COPY))
    kept = (
        mount
        for mount in view.mounts
        if mount.kind is not Kind.COPY or others.kind_of(mount.path) is Kind.EMPTY
    )
    return View(mounts=tuple(kept))


def _without_sockets(view: View, sockets: Iterable[str]) -> View:
    """Mask sockets that are visible: connecting is allowed on a read-only mount too."""
    masks = tuple(
        BindMount(kind=Kind.MASK, path=path)
        for path in sorted(set(sockets))
        if view.kind_of(path) is Kind.SHOW
    )
    return View(mounts=(*view.mounts, *masks))
