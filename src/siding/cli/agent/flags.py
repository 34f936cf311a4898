"""The options of ``siding agent``. They are called as those of `claude` are, where both have them.

What a program passes that Siding has no use for is taken and said once (`WITHOUT_EFFECT`): clients
of Claude Code pass a great many.
"""

import json
from argparse import SUPPRESS, ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.app.agent.options import Options, Which
from siding.app.agent.settings_files import AgentFlags
from siding.app.agent.told import Effort, Thinking, effort_in_force, split_list
from siding.errors import UsageError

FORMATS = ("text", "json", "stream-json")
MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "manual")
_EFFORTS = tuple(each.value for each in Effort)

# Taken from clients of Claude Code: True, if a value follows.
WITHOUT_EFFECT: Mapping[str, bool] = {
    "--debug": False,
    "--strict-mcp-config": False,
    "--replay-user-messages": False,
    "--include-hook-events": False,
    "--session-mirror": False,
    "--mcp-config": True,
    "--agents": True,
    "--setting-sources": True,
    "--betas": True,
    "--plugin-dir": True,
    "--max-thinking-tokens": True,
    "--thinking-display": True,
    "--debug-to-stderr": False,
    "--resume-drops-turn": False,
    "--allow-dangerously-skip-permissions": False,
}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.usage = f"{parser.prog} [OPTIONS] [PROMPT ...]"
    parser.add_argument("prompt", nargs="*", metavar="PROMPT", help="what it is to do")
    parser.add_argument(
        "-p", "--print", action="store_true", help="answer, print the answer, and end"
    )
    _add_formats(parser)
    _add_conversation(parser)
    _add_model(parser)
    _add_limits(parser)
    _add_permissions(parser)
    for name, takes_value in WITHOUT_EFFECT.items():
        if takes_value:
            parser.add_argument(name, help=SUPPRESS, default=None)
        else:
            parser.add_argument(name, action="store_true", help=SUPPRESS)


def _add_formats(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("input and output")
    group.add_argument(
        "--output-format", choices=FORMATS, default="text", help="what is printed (default: text)"
    )
    group.add_argument(
        "--input-format",
        choices=("text", "stream-json"),
        default="text",
        help="what is read: a prompt, or messages and requests as lines of JSON",
    )
    group.add_argument(
        "--include-partial-messages",
        action="store_true",
        help="with stream-json: each piece of an answer as it comes",
    )
    group.add_argument(
        "--json-schema", metavar="SCHEMA", help="end with an object that fits this JSON schema"
    )


def _add_conversation(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("conversation")
    group.add_argument(
        "-c",
        "--continue",
        dest="newest",
        action="store_true",
        help="go on with the newest one of this workspace",
    )
    group.add_argument(
        "-r", "--resume", metavar="SESSION", default="", help="go on with this one: id or title"
    )
    group.add_argument(
        "--fork-session", action="store_true", help="go on with a copy, and leave it as it is"
    )
    group.add_argument(
        "--resume-session-at", metavar="MESSAGE", default="", help="go on after this message"
    )
    group.add_argument("--session-id", metavar="UUID", default="", help="the id of a new one")
    group.add_argument(
        "--no-persist",
        "--no-session-persistence",
        dest="persists",
        action="store_false",
        help="do not store what is said",
    )


def _add_model(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument("--model", default="", help="provider:name, or the name alone")
    group.add_argument(
        "--fallback-model", metavar="MODEL", default="", help="when the other one is overloaded"
    )
    group.add_argument("--effort", metavar="EFFORT", help=f"{', '.join(_EFFORTS)}, or tokens")
    group.add_argument(
        "--thinking",
        choices=("auto", "on", "off", "adaptive", "enabled", "disabled"),
        default="auto",
        help="whether it thinks first: auto, on, off",
    )
    group.add_argument("--system-prompt", metavar="TEXT", help="in the place of the usual one")
    group.add_argument("--system-prompt-file", metavar="FILE", help="the same, from a file")
    group.add_argument("--append-system-prompt", metavar="TEXT", default="", help="behind it")
    group.add_argument("--append-system-prompt-file", metavar="FILE", help="the same, from a file")


def _add_limits(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("limits")
    group.add_argument(
        "--max-turns", type=int, metavar="N", help="requests to the model for a prompt"
    )
    group.add_argument(
        "--max-budget",
        "--max-budget-usd",
        type=float,
        metavar="DOLLARS",
        help="end when a prompt has cost so much",
    )
    group.add_argument("--max-tokens", type=int, metavar="N", help="end when it has used so many")
    group.add_argument("--task-budget", type=int, metavar="N", help=SUPPRESS)


def _add_permissions(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("what it may do")
    group.add_argument(
        "--permission-mode",
        choices=MODES,
        help="what happens to what no rule decides (default: you are asked; in a sandbox, it runs)",
    )
    group.add_argument(
        "--dangerously-skip-permissions",
        dest="permission_mode",
        action="store_const",
        const="bypassPermissions",
        help=SUPPRESS,
    )
    _add_rules(group, "allowed", "runs without a question: 'Bash(make check)', 'Edit(src/**)'")
    _add_rules(group, "disallowed", "never runs; a name alone: it does not have this tool")
    group.add_argument(
        "--settings", metavar="FILE", help="more settings: a file, or an object of JSON"
    )
    group.add_argument("--permission-prompt-tool", help=SUPPRESS)
    group.add_argument("--tools", metavar="NAMES", help="it has these tools alone")
    group.add_argument(
        "--add-dir", action="append", nargs="+", default=[], metavar="DIR", help="may be changed"
    )


def _add_rules(group: _ArgumentGroup, kind: str, text: str) -> None:
    group.add_argument(
        f"--{kind}-tools",
        f"--{kind}Tools",
        action="append",
        nargs="+",
        default=[],
        metavar="RULE",
        help=text,
    )


def options_of(arguments: Namespace, cwd: Path) -> Options:
    """Return the options of a command line. Raises UsageError."""
    return Options(
        which=_which(arguments),
        flags=_flags(arguments),
        effort=_effort(arguments.effort),
        thinking=_THINKING[arguments.thinking],
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


def _which(arguments: Namespace) -> Which:
    if arguments.newest and arguments.resume:
        raise UsageError("--continue and --resume name two conversations", hint="give one of them")
    goes_on = bool(arguments.newest or arguments.resume)
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
        persists=arguments.persists,
    )


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
    raw = text if text.lstrip().startswith("{") else _read(text, cwd)
    try:
        found = json.loads(raw)
    except ValueError as error:
        raise UsageError(f"--json-schema is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise UsageError("--json-schema must be an object: the schema of the result")
    return found


def _positive(name: str, value: Any) -> Any:
    if value is not None and not value > 0:
        raise UsageError(f"{name} must be more than 0")
    return value
