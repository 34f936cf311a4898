"""The options of ``siding agent``, as they were given."""

import json
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.assistant.front_end import Thinking, effort_in_force, split_list
from siding.assistant.opening import Options, Which
from siding.assistant.servers import ServerSettings, settings_in
from siding.assistant.settings import AgentFlags
from siding.assistant.subagent_kinds import SubagentKind, kinds_in
from siding.ground.errors import UsageError


def options_of(arguments: Namespace, cwd: Path) -> Options:
    """Return the options of a command line. Raises UsageError."""
    return Options(
        which=_which(arguments),
        flags=_flags(arguments),
        effort=_effort(arguments.effort or _tokens(arguments.max_thinking_tokens)),
        thinking=_thinking(arguments),
        tools=None if arguments.tools in (None, "default") else _names(arguments.tools),
        without=_without(arguments.disallowed_tools),
        system=_text(arguments.system_prompt, arguments.system_prompt_file, cwd),
        more_system=_text(
            arguments.append_system_prompt or None, arguments.append_system_prompt_file, cwd
        )
        or "",
        schema=_schema(arguments.json_schema, cwd),
    )


def _flags(arguments: Namespace) -> AgentFlags:
    return AgentFlags(
        settings=arguments.settings,
        model=arguments.model or None,
        fallback_model=arguments.fallback_model or None,
        mode=arguments.permission_mode,
        allowed=_all_of(arguments.allowed_tools),
        disallowed=_all_of(arguments.disallowed_tools),
        directories=_all_of(arguments.add_dir),
        max_turns=_positive("--max-turns", arguments.max_turns),
        max_dollars=_positive("--max-budget", arguments.max_budget),
        max_tokens=_positive("--max-tokens", arguments.max_tokens or arguments.task_budget),
    )


_THINKING = {
    "auto": Thinking.AUTO,
    "adaptive": Thinking.AUTO,
    "on": Thinking.ON,
    "enabled": Thinking.ON,
    "off": Thinking.OFF,
    "disabled": Thinking.OFF,
}


def servers_of(arguments: Namespace, cwd: Path) -> tuple[ServerSettings, ...]:
    """Return the servers of MCP that a command line names. Raises UsageError."""
    given = _all_of(arguments.mcp_config)
    found = [each for text in given for each in settings_in(_document(text, cwd, "--mcp-config"))]
    return tuple({each.name: each for each in found}.values())


def subagents_of(arguments: Namespace, cwd: Path) -> tuple[SubagentKind, ...]:
    """Return the kinds of subagents that a command line defines. Raises UsageError."""
    if not arguments.agents:
        return ()
    return kinds_in(_document(arguments.agents, cwd, "--agents"))


def _which(arguments: Namespace) -> Which:
    if arguments.newest and arguments.resume:
        raise UsageError("--continue and --resume name two conversations", hint="give one of them")
    goes_on = bool(arguments.newest or arguments.resume)
    if arguments.resume_drops_turn and not arguments.resume_session_at:
        raise UsageError("--resume-drops-turn goes with --resume-session-at")
    for name, given in (
        ("--fork-session", arguments.fork_session),
        ("--resume-session-at", arguments.resume_session_at),
    ):
        if given and not goes_on:
            raise UsageError(
                f"{name} is about a conversation to go on with", hint="add --continue or --resume"
            )
    if arguments.session_id and goes_on and not arguments.fork_session:
        raise UsageError(
            "--session-id is the id of a new conversation, and an old one keeps its own",
            hint="add --fork-session to go on with a copy",
        )
    return Which(
        id=arguments.session_id,
        resumes=arguments.resume,
        newest=arguments.newest,
        forks=arguments.fork_session,
        after=arguments.resume_session_at,
        drops=arguments.resume_drops_turn or "",
        persists=arguments.persists,
    )


def _thinking(arguments: Namespace) -> Thinking:
    """Return whether it thinks; as older clients say it, with a number of tokens, 0 for no."""
    tokens = arguments.max_thinking_tokens
    if tokens is None or arguments.thinking != "auto":
        return _THINKING[arguments.thinking]
    return Thinking.ON if tokens else Thinking.OFF


def _tokens(most: int | None) -> str | None:
    return str(most) if most else None


def _effort(text: str | None) -> str | None:
    effort_in_force(flag=text)  # so that a mistake is said before anything begins
    return text


def _all_of(groups: list[list[str]]) -> tuple[str, ...]:
    return tuple(each for group in groups for each in group)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").split())


def _without(groups: list[list[str]]) -> frozenset[str]:
    """Return the tools that it does not have; what has a pattern is a rule, about some calls."""
    texts = [each for group in groups for text in group for each in split_list(text)]
    return frozenset(each for each in texts if "(" not in each and "*" not in each)


def _text(text: str | None, file: str | None, cwd: Path) -> str | None:
    return text if file is None else _read(file, cwd)


def _read(file: str, cwd: Path) -> str:
    try:
        return (cwd / file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file!r} cannot be read: {error}") from None


def _schema(text: str | None, cwd: Path) -> Mapping[str, Any] | None:
    if text is None:
        return None
    found = _document(text, cwd, "--json-schema")
    if not isinstance(found, dict):
        raise UsageError("--json-schema must be an object: the schema of the result")
    return found


def _document(text: str, cwd: Path, flag: str) -> Any:
    raw = text if text.lstrip().startswith("{") else _read(text, cwd)
    try:
        return json.loads(raw)
    except ValueError as error:
        raise UsageError(f"{flag} is no JSON: {error}") from None


def _positive(name: str, value: Any) -> Any:
    if value is not None and not value > 0:
        raise UsageError(f"{name} must be more than 0")
    return value
