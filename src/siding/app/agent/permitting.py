"""What decides on the calls of a conversation: its permissions, and who is asked."""

from collections.abc import Callable, Mapping
from pathlib import Path

from siding.agent.permissions.deciding import is_read_denied
from siding.agent.permissions.facts import PermissionGround
from siding.agent.permissions.guard import CallJudge, PermissionGuard
from siding.agent.permissions.modes import PermissionMode, require_allowed
from siding.agent.permissions.updates import PermissionState
from siding.agent.settings.combining import AgentValues
from siding.app.agent.keeping import ProjectAnswers
from siding.app.agent.people import People
from siding.app.place.project import Project
from siding.policy.paths import JudgingPlace


class Ground:
    """Where calls are decided on. It moves with the shell, whose directory `cwd` returns.

    `roots` may be changed beside the workspace, `readable` may be read.
    """

    def __init__(
        self,
        judging: JudgingPlace,
        env: Mapping[str, str],
        *,
        roots: tuple[Path, ...],
        readable: tuple[Path, ...],
    ) -> None:
        self.cwd: Callable[[], Path] = lambda: Path(judging.cwd)
        self._judging = judging
        self._env = env
        self._roots = tuple(map(str, roots))
        self._readable = tuple(map(str, readable))

    def __call__(self) -> PermissionGround:
        place = self._judging._replace(cwd=str(self.cwd()))
        return PermissionGround(place, self._roots, self._readable, self._env)


def mode_at_first(values: AgentValues, *, is_sandboxed: bool) -> PermissionMode:
    """Return the mode in which a conversation begins. Raises BypassRefused.

    Where nothing says another one, a sandbox is the limit, and nobody is asked beside it.
    """
    if is_sandboxed and "mode" not in values.origins and values.may_bypass:
        return PermissionMode.BYPASS
    require_allowed(values.mode, is_sandboxed=is_sandboxed, may_bypass=values.may_bypass)
    return values.mode


def permission_guard(
    values: AgentValues,
    ground: Ground,
    people: People,
    judge: CallJudge | None,
    project: Project | None,
    *,
    is_sandboxed: bool,
    tell: Callable[[str], None],
) -> PermissionGuard:
    """Return the guard of a conversation. Raises BypassRefused."""
    mode = mode_at_first(values, is_sandboxed=is_sandboxed)
    return PermissionGuard(
        PermissionState(mode, values.rules),
        ground,
        asker=people.permissions,
        judge=judge,
        keeper=None if project is None else ProjectAnswers(project),
        may_bypass=is_sandboxed and values.may_bypass,
        tell=tell,
    )


def hidden_from_search(guard: PermissionGuard, ground: Ground) -> Callable[[str], bool]:
    """Return what tells of a resolved path whether a rule denies that it is read."""
    return lambda path: is_read_denied(path, guard.state.rules, ground())
