"""The options of ``siding agent``. They are called as Claude Code's are, where both have them.

What a program passes that Siding has no use for is taken and said once (`WITHOUT_EFFECT`): clients
of Claude Code pass a great many.
"""

from argparse import SUPPRESS, ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Mapping

from siding.ground.errors import UsageError

FORMATS = ("text", "json", "stream-json")
MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "manual", "auto")
EFFORTS = ("low", "medium", "high", "xhigh", "max")

# Taken from clients of Claude Code: True, if a value follows.
WITHOUT_EFFECT: Mapping[str, bool] = {
    "--debug": False,
    "--replay-user-messages": False,
    "--include-hook-events": False,
    "--session-mirror": False,
    "--setting-sources": True,
    "--betas": True,
    "--plugin-dir": True,
    "--thinking-display": True,
    "--debug-to-stderr": False,
    "--allow-dangerously-skip-permissions": False,
}


def no_prompt(arguments: Namespace) -> UsageError:
    """Return what is said where a prompt is missing."""
    several = {
        "--allowed-tools": arguments.allowed_tools,
        "--disallowed-tools": arguments.disallowed_tools,
        "--add-dir": arguments.add_dir,
        "--mcp-config": arguments.mcp_config,
    }
    given = next((name for name, values in several.items() if values), "")
    hint = "siding agent -p 'fix the parser', or pipe one in"
    if given:
        hint = f"{given} takes all words behind it: put the prompt before it, or `--` between them"
    return UsageError("there is no prompt", hint=hint)


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
    group.add_argument(
        "--resume-drops-turn",
        metavar="PROMPT",
        default="",
        help="only if that is the prompt after that message",
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
    group.add_argument("--effort", metavar="EFFORT", help=f"{', '.join(EFFORTS)}, or tokens")
    group.add_argument(
        "--thinking",
        choices=("auto", "on", "off", "adaptive", "enabled", "disabled"),
        default="auto",
        help="whether it thinks first: auto, on, off",
    )
    group.add_argument("--max-thinking-tokens", type=int, metavar="N", help=SUPPRESS)
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
    group.add_argument(
        "--mcp-config",
        action="append",
        nargs="+",
        default=[],
        metavar="FILE",
        help="it has the tools of these servers of MCP as well: files, or objects of JSON",
    )
    group.add_argument(
        "--agents",
        metavar="JSON",
        help="kinds of subagents, by name: `description`, `prompt`, perhaps `tools`, `model`",
    )
    # No other servers are looked for, so this is always so.
    group.add_argument("--strict-mcp-config", action="store_true", help=SUPPRESS)
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
