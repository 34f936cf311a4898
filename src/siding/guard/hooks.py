"""Hooks: commands that run when a workspace is made, around runs, and for notifications.

Hooks in the project's own ``config.yaml`` were written by the person and always run. Hooks that
come with the repository (``.siding/config.yaml``) may be anybody's: they run only after the person
has allowed exactly these commands. After any change they must be allowed again.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import run_captured
from siding.record.ledger.reports import PolicyEvent
from siding.record.place.project import Project
from siding.record.place.settings_files import hooks_in
from siding.record.place.trust import HOOKS, add, trust_json, trusted_hooks

HOOK_TIMEOUT_S = 1800.0
KEPT_OUTPUT = 64 * 1024  # the last bytes of a hook's output that are recorded


class Hook(NamedTuple):
    """One command, and the moment at which it runs."""

    moment: str  # post_create, pre_run, post_run or notify
    command: str
    source: str  # "project" or "repository"


class HookResult(NamedTuple):
    """A hook that ran, with its exit code and output."""

    moment: str
    command: str
    source: str
    exit_code: int
    output: str
    policy_events: tuple[PolicyEvent, ...] = ()  # the policy rules that the command matched


class RepositoryHooks(NamedTuple):
    """The hooks that come with the repository, and whether they are allowed."""

    hooks: Mapping[str, tuple[str, ...]]
    digest: str
    trusted: bool


def repository_hooks(project: Project) -> RepositoryHooks:
    """Return the hooks that come with the repository; a bare repository has none."""
    main = project.paths.main_worktree
    hooks = {} if main is None else hooks_in(main / ".siding" / "config.yaml")
    digest = _digest(hooks)
    trusted = digest in trusted_hooks(trust_json(project))
    return RepositoryHooks(hooks=hooks, digest=digest, trusted=trusted)


def hooks_for(project: Project, moment: str) -> tuple[list[Hook], int]:
    """Return the hooks to run at `moment`, and the number of hooks that nobody has trusted yet."""
    ours = getattr(project.settings, moment)
    assert isinstance(ours, tuple)
    hooks = [Hook(moment=moment, command=each, source="project") for each in ours]
    theirs = repository_hooks(project)
    commands = theirs.hooks.get(moment, ())
    if not theirs.trusted:
        return hooks, len(commands)
    return [*hooks, *(Hook(moment=moment, command=c, source="repository") for c in commands)], 0


def run_hook(
    hook: Hook, *, cwd: Path, env: Mapping[str, str], timeout_s: float = HOOK_TIMEOUT_S
) -> HookResult:
    """Run one hook in the directory `cwd` and return how it ended.

    A hook that fails does not raise; a hook that takes longer than `timeout_s` seconds, or cannot
    be started, raises a SidingError.
    """
    done = run_captured(
        ["/bin/sh", "-c", hook.command + "\n"],
        env={**env, "PWD": str(cwd)},
        cwd=cwd,
        timeout_s=timeout_s,
    )
    output = (done.stdout + done.stderr)[-KEPT_OUTPUT:].decode("utf-8", "backslashreplace")
    return HookResult(
        moment=hook.moment,
        command=hook.command,
        source=hook.source,
        exit_code=done.returncode,
        output=output,
    )


def trust(project: Project, found: RepositoryHooks) -> RepositoryHooks:
    """Allow the repository's hooks as they are in `found`; a later change is not covered."""
    add(project, HOOKS, found.digest, {"hooks": _plain(found.hooks)})
    return found._replace(trusted=True)


def _plain(hooks: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    return {moment: list(commands) for moment, commands in sorted(hooks.items())}


def _digest(hooks: Mapping[str, tuple[str, ...]]) -> str:
    return sha256_hex(json.dumps(_plain(hooks)).encode())
