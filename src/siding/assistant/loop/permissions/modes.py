"""The modes of permissions: what happens to a call that no rule decides."""

from enum import StrEnum

from siding.ground.errors import UsageError


class PermissionMode(StrEnum):
    """What happens to a call about which no rule says anything. Their names are Claude Code's."""

    DEFAULT = "default"  # what changes something, or leaves the workspace, is asked about
    ACCEPT_EDITS = "acceptEdits"  # files of the workspace are changed without a question
    PLAN = "plan"  # nothing is changed
    DONT_ASK = "dontAsk"  # what would be asked about is denied
    BYPASS = "bypassPermissions"  # what would be asked about is done; in a sandbox only


# From what permits most to what permits least.
NARROWER = (
    PermissionMode.BYPASS,
    PermissionMode.ACCEPT_EDITS,
    PermissionMode.DEFAULT,
    PermissionMode.DONT_ASK,
    PermissionMode.PLAN,
)
# As newer hosts of the SDK call it; where Claude Code has a model decide (`auto`), a person does.
_OTHER_NAMES = {"manual": PermissionMode.DEFAULT, "auto": PermissionMode.DEFAULT}


class BypassRefused(UsageError):
    """The mode bypassPermissions was wanted where it is not allowed."""

    code = "bypass_refused"


def mode_named(name: str) -> PermissionMode:
    """Return the mode of this name. Raises UsageError."""
    if name in _OTHER_NAMES:
        return _OTHER_NAMES[name]
    try:
        return PermissionMode(name)
    except ValueError:
        raise UsageError(
            f"there is no permission mode {name!r}",
            hint=f"the modes are {', '.join(PermissionMode)}",
        ) from None


def require_allowed(mode: PermissionMode, *, is_sandboxed: bool, may_bypass: bool = True) -> None:
    """Raise BypassRefused if the mode is bypassPermissions and may not be used here.

    `may_bypass`: the settings do not forbid it.
    """
    if mode is not PermissionMode.BYPASS:
        return
    if not may_bypass:
        raise BypassRefused(
            "the settings forbid the permission mode bypassPermissions",
            hint="`permissions.bypass: false` stands in one of the files of settings",
        )
    if not is_sandboxed:
        raise BypassRefused(
            "the permission mode bypassPermissions needs a sandbox: without one, nothing would "
            "limit what the agent can do",
            hint="start it with `siding run --sandbox -- …`, or use the mode acceptEdits",
        )
