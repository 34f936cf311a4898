"""What decides on the calls of a conversation: its permissions, and who is asked."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from siding.agents.transcripts.kinds import USER, Record
from siding.assistant.front_end import People
from siding.assistant.loop.permissions.decision import is_read_denied
from siding.assistant.loop.permissions.facts import PermissionGround
from siding.assistant.loop.permissions.guard import CallJudge, PermissionGuard
from siding.assistant.loop.permissions.rules import PermissionMode, require_allowed
from siding.assistant.loop.permissions.updates import PermissionState
from siding.assistant.loop.settings import AgentValues, SettingsLevel
from siding.assistant.settings import ProjectAnswers
from siding.record.place.project import Project
from siding.shellguard.face import JudgingPlace


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


# Modes that go on with their conversation. Which of the others counts depends on the sandbox.
_LASTING = frozenset({PermissionMode.ACCEPT_EDITS, PermissionMode.PLAN, PermissionMode.DONT_ASK})
_BEFORE_THE_CONVERSATION = frozenset(
    {SettingsLevel.MANAGED, SettingsLevel.FLAGS, SettingsLevel.PROJECT}
)


def mode_of_conversation(records: Sequence[Record]) -> PermissionMode | None:
    """Return the mode in which a conversation was when it ended, if it is one that lasts."""
    for record in reversed(records):
        mode = record.get("permissionMode")
        if record.get("type") == USER and isinstance(mode, str):
            return PermissionMode(mode) if mode in list(_LASTING) else None
    return None


def mode_at_first(
    values: AgentValues, last: PermissionMode | None, *, is_sandboxed: bool
) -> PermissionMode:
    """Return the mode in which a conversation begins, or goes on after `last`.

    Where nothing says another one, a sandbox is the limit, and nobody is asked beside it. Raises
    BypassRefused.
    """
    origin = values.origins.get("mode")
    if last is not None and (origin is None or origin.level not in _BEFORE_THE_CONVERSATION):
        return last
    if is_sandboxed and origin is None and values.may_bypass:
        return PermissionMode.BYPASS
    require_allowed(values.mode, is_sandboxed=is_sandboxed, may_bypass=values.may_bypass)
    return values.mode


def permission_guard(
    values: AgentValues,
    ground: Ground,
    people: People,
    judge: CallJudge | None,
    project: Project | None,
    last: PermissionMode | None,
    *,
    is_sandboxed: bool,
    tell: Callable[[str], None],
) -> PermissionGuard:
    """Return the guard of a conversation, whose mode was `last`. Raises BypassRefused."""
    mode = mode_at_first(values, last, is_sandboxed=is_sandboxed)
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
