"""Commands a person wants run around the life of a workspace.

Hooks in the project's own ``config.yaml`` are the person's and simply run. Hooks that come with the
repository (``.siding/config.yaml``) are somebody else's program: they run only after the person has
allowed exactly these, and any change to them asks again.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from siding.app.place.project import Project
from siding.app.place.settings import hooks_in
from siding.app.place.trusting import HOOKS, add, trust_json, trusted_hooks
from siding.hashing import sha256_hex
from siding.ledger.reports import PolicyEvent
from siding.process.capture import run_captured

HOOK_TIMEOUT_S = 1800.0
KEPT_OUTPUT = 64 * 1024  # bytes of a hook's output that its record keeps, from the end


class Hook(NamedTuple):
    """One command of one moment."""

    moment: str  # post_create, pre_run, post_run or notify
    command: str
    source: str  # "project" or "repository"


class HookResult(NamedTuple):
    """How a hook ended."""

    moment: str
    command: str
    source: str
    exit_code: int
    output: str
    policy_events: tuple[PolicyEvent, ...] = ()  # rules that the command matched


class RepositoryHooks(NamedTuple):
    """The hooks that come with the repository, and whether they are allowed."""

    hooks: Mapping[str, tuple[str, ...]]
    digest: str
    trusted: bool


def repository_hooks(project: Project) -> RepositoryHooks:
    """Return the repository's own hooks."""
    hooks = {} if project.paths.bare else hooks_in(project.paths.root / ".siding" / "config.yaml")
    digest = _digest(hooks)
    trusted = digest in trusted_hooks(trust_json(project))
    return RepositoryHooks(hooks=hooks, digest=digest, trusted=trusted)


def hooks_for(project: Project, moment: str) -> tuple[list[Hook], int]:
    """Return the hooks to run at `moment`, and how many were left out for want of trust."""
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
    """Run one hook to its end; never raises for what the hook does."""
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
    """Allow the repository's hooks exactly as they were found."""
    add(project, HOOKS, found.digest, {"hooks": _plain(found.hooks)})
    return found._replace(trusted=True)


def _plain(hooks: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    return {moment: list(commands) for moment, commands in sorted(hooks.items())}


def _digest(hooks: Mapping[str, tuple[str, ...]]) -> str:
    return sha256_hex(json.dumps(_plain(hooks)).encode())
