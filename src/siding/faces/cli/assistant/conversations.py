"""The verbs `siding agent …` about its conversations: context, usage, recap, calls of tools."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from siding.faces.cli.formats import json_text, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import duration, local_time
from siding.faces.cli.verb import Verb
from siding.ground.errors import NotFound, UsageError, counted

_SESSION = "an id, its beginning, or a title (default: the newest of this workspace)"

if TYPE_CHECKING:
    from siding.assistant.views.context_use import ContextPart, ContextUse
    from siding.assistant.views.conversation import ToolCall
    from siding.assistant.views.spending import ModelSpending, Spending
    from siding.assistant.views.summary import Recap, RecapTurn, Summary


def _context_options(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", default="", help=_SESSION)
    parser.add_argument("-a", "--all", action="store_true", help="each tool on its own line")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _context(arguments: Namespace, context: Context) -> int:
    from siding.assistant.views.context_use import context_use
    from siding.record.place.project import require_project

    found = context_use(require_project(context.app), arguments.session)
    if arguments.json:
        print_json(context.screen, _context_record(found))
        return 0
    screen = context.screen
    screen.print(inert(f"{found.session[:8]}  {found.title}" if found.session else "a new one"))
    model = inert(found.model) or "a model that is not known"
    share = _share(found.tokens, found.window)
    told = f"about {found.tokens:,} tokens of {found.window:,} ({share}), the window of {model}"
    screen.print(told)
    if found.counted is not None:
        share = _share(found.counted, found.window)
        screen.print(f"the model counted {found.counted:,} with the last request ({share})")
    screen.print()
    tools = found.tools if arguments.all else (_summed(found.tools),)
    rows = [
        (inert(part.name), part.origin, f"~{part.tokens:,}", part.note)
        for part in (*found.parts, *tools, *found.messages)
    ]
    print_table(screen, ("PART", "OF", "TOKENS", ""), rows)
    return 0


CONTEXT = Verb(
    """\
Show what a conversation's context consists of, in tokens, and how much of the window that is.

It is what the next request would have: the system prompt, instruction files, definitions of tools,
and the messages that were not compacted away. The figures are estimated from the length of the
text; what the model itself counted of the last request is shown beside them. It is the newest
conversation of this workspace, or SESSION; where there is none, what a new one would begin with.
""",
    _context_options,
    _context,
)


def _summed(tools: tuple[ContextPart, ...]) -> ContextPart:
    from siding.assistant.views.context_use import ContextPart

    name = f"definitions of {counted(len(tools), 'tool')}"
    sizes = (sum(each.characters for each in tools), sum(each.tokens for each in tools))
    return ContextPart(name, "Siding", characters=sizes[0], tokens=sizes[1])


def _share(tokens: int, window: int) -> str:
    return f"{100 * tokens / window:.1f} %"


def _context_record(found: ContextUse) -> dict[str, Any]:
    lists = ("parts", "tools", "messages")
    shown = {name: [each._asdict() for each in getattr(found, name)] for name in lists}
    return {**found._asdict(), **shown, "tokens": found.tokens, "is_estimated": True}


def _usage_options(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", default="", help=_SESSION)
    parser.add_argument(
        "-a", "--all", action="store_true", help="all conversations of this project"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _usage(arguments: Namespace, context: Context) -> int:
    from siding.assistant.views.spending import spending_of, spending_of_all
    from siding.record.place.project import require_project

    if arguments.all and arguments.session:
        raise UsageError("--all is about all conversations", hint="leave SESSION out")
    project = require_project(context.app)
    found = spending_of_all(project) if arguments.all else spending_of(project, arguments.session)
    if arguments.json:
        print_json(context.screen, _usage_record(found))
    else:
        _print_usage(context, found)
    return 0


USAGE = Verb(
    """\
Show what a conversation of the agent used: tokens and dollars by model, turns, calls, time.

It is the newest one of this workspace, or SESSION; with --all it is all conversations that are kept
in this project. `cost` and `stats` are the same. `siding usage` counts all agents of all projects.
""",
    _usage_options,
    _usage,
)


def _print_usage(context: Context, found: Spending) -> None:
    screen = context.screen
    what = f"{found.session[:8]}  {found.title}" if found.session else "all conversations"
    screen.print(inert(what))
    told = [
        counted(found.turns, "turn"),
        counted(found.requests, "request"),
        counted(sum(each.calls for each in found.tools), "call"),
        f"{duration(found.busy_ms)} at work",
    ]
    screen.print(", ".join([*([] if found.session else [str(found.conversations)]), *told]))
    if found.models:
        screen.print()
        heads = ("MODEL", "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "COST")
        print_table(screen, heads, [_model_cells(each) for each in found.models])
    if found.tools:
        screen.print()
        rows = [
            (
                inert(each.name),
                str(each.calls),
                str(each.failed),
                duration(each.total_ms),
                duration(each.longest_ms),
            )
            for each in found.tools
        ]
        print_table(screen, ("TOOL", "CALLS", "FAILED", "TIME", "LONGEST"), rows)


def _model_cells(row: ModelSpending) -> tuple[str, ...]:
    tokens = row.tokens
    counts = (tokens.input, tokens.cache_read, tokens.cache_write, tokens.output)
    return (inert(row.model), *(f"{count:,}" for count in counts), _money(row))


def _money(row: ModelSpending) -> str:
    if row.dollars is None:
        return "(price unknown)"
    return f"${row.dollars:,.4f}" + (" + (price unknown)" if row.unpriced else "")


def _usage_record(found: Spending) -> dict[str, Any]:
    return {
        **found._asdict(),
        "models": [
            {
                "model": each.model,
                "input": each.tokens.input,
                "cache_read": each.tokens.cache_read,
                "cache_write": each.tokens.cache_write,
                "output": each.tokens.output,
                "calls": each.tokens.calls,
                "dollars": each.dollars,
                "unpriced": each.unpriced,
            }
            for each in found.models
        ],
        "tools": [each._asdict() for each in found.tools],
    }


_WIDE = 100  # columns of a text that is shown with its beginning


_MOST = 8  # commands and failures that are shown of a turn


def _recap_options(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", default="", help=_SESSION)
    parser.add_argument("-n", "--last", type=int, metavar="N", help="only the last N turns")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _recap(arguments: Namespace, context: Context) -> int:
    from siding.assistant.views.summary import recap_of
    from siding.record.place.project import require_project

    found = recap_of(require_project(context.app), arguments.session)
    if arguments.last is not None:
        found = found._replace(turns=found.turns[-arguments.last :] if arguments.last > 0 else ())
    if arguments.json:
        print_json(context.screen, _recap_record(found))
        return 0
    context.screen.print(inert(f"{found.session[:8]}  {found.title}"))
    if not found.turns:
        context.screen.note("nothing was said in it yet")
    for turn in found.turns:
        _print_recap(context, turn)
    return 0


RECAP = Verb(
    """\
Tell what was done in a conversation of the agent, turn by turn. No model is asked.

Of each turn: the prompt, its steps with what they changed, the commands that were run, the calls
that failed, and the beginning of the answer. It is the newest conversation of this workspace, or
SESSION. `away` and `catchup` are the same.
""",
    _recap_options,
    _recap,
)


def _print_recap(context: Context, found: RecapTurn) -> None:
    screen, turn = context.screen, found.turn
    when = f"{local_time(turn.at)}, {duration(turn.took_ms)}"
    screen.print(f"\n{turn.number}. {_recap_line(turn.prompt)}  ({when})")
    for step in found.steps:
        names = ", ".join(step.diff_stat.file_list[:_MOST])
        what = f"{counted(step.files, 'file')} +{step.additions} -{step.deletions}"
        screen.print(inert(f"   step {step.id}: {what if step.files else 'no change'}  {names}"))
    _print_some_recap(context, [f"ran: {_recap_line(command)}" for command in found.commands])
    failed = [
        f"failed: {call.name}: {_recap_line(call.result or 'it was cut off')}"
        for call in found.failed
    ]
    _print_some_recap(context, failed)
    if turn.failure:
        screen.print(f"   the model failed: {_recap_line(turn.failure)}")
    if turn.answer:
        screen.print(f"   said: {_recap_line(turn.answer)}")


def _print_some_recap(context: Context, lines: list[str]) -> None:
    for line in lines[:_MOST]:
        context.screen.print(f"   {line}")
    if len(lines) > _MOST:
        context.screen.print(f"   and {len(lines) - _MOST} more")


def _recap_line(text: str) -> str:
    return shorten(inert(" ".join(text.split())), _WIDE)


def _recap_record(found: Recap) -> dict[str, Any]:
    return {
        "session": found.session,
        "title": found.title,
        "turns": [
            {
                **each.turn._asdict(),
                "took_ms": each.turn.took_ms,
                "calls": each.calls,
                "steps": [
                    {
                        "step": step.id,
                        "files": list(step.diff_stat.file_list),
                        "additions": step.additions,
                        "deletions": step.deletions,
                    }
                    for step in each.steps
                ],
                "commands": list(each.commands),
                "failed": [
                    {"id": call.id, "tool": call.name, "result": call.result}
                    for call in each.failed
                ],
            }
            for each in found.turns
        ],
    }


def _summary_options(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", default="", help=_SESSION)
    parser.add_argument("--model", metavar="MODEL", help="who is asked; else as of `siding agent`")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _summary(arguments: Namespace, context: Context) -> int:
    from siding.assistant.settings import AgentFlags
    from siding.assistant.views.summary import summary_of
    from siding.faces.cli.assistant.stream_json import models_used
    from siding.record.place.project import require_project
    from siding.sessions.masking import mask_text

    project = require_project(context.app)
    found = summary_of(project, arguments.session, AgentFlags(model=arguments.model))
    found = found._replace(text=mask_text(project, found.text))
    if arguments.json:
        shown = {**found._asdict(), "by_model": models_used(found.by_model)}
        print_json(context.screen, shown)
        return 0
    screen = context.screen
    screen.note(inert(f"{found.session[:8]}  {found.title}"))
    screen.print(inert(found.text, lines=True))
    screen.note(f"{_used(found)}{'' if found.not_kept else f', kept in {inert(found.path)}'}")
    if found.not_kept:
        screen.warn(f"the summary could not be kept in {inert(found.path)}: {found.not_kept}")
    return 0


SUMMARY = Verb(
    """\
Have the model sum a conversation up; print the summary, and keep it.

It is the newest conversation of this workspace, or SESSION. The summary is kept beside the
transcript, in the place of the one before; the conversation goes on as it was. To go on with the
summary in its place: `siding session compact SESSION --summary FILE`.
""",
    _summary_options,
    _summary,
)


def _used(found: Summary) -> str:
    from siding.faces.cli.assistant.stream_json import dollars_of

    tokens = sum(use.usage.prompt + use.usage.output for use in found.by_model.values())
    dollars = dollars_of(found.by_model)
    price = "" if dollars is None else f", ${dollars:.2f}"
    return f"{', '.join(map(inert, found.by_model))}: {tokens:,} tokens{price}"


_USUAL = 5


_SHOWN = 200  # columns of a value in the list


def _tool_call_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "which", nargs="?", metavar="N|CALL", default=str(_USUAL), help=f"default: {_USUAL}"
    )
    parser.add_argument("--session", metavar="SESSION", default="", help="of this conversation")
    parser.add_argument("--failed", action="store_true", help="only those that failed")
    parser.add_argument("--json", action="store_true", help="print it as JSON, whole")


def _tool_call(arguments: Namespace, context: Context) -> int:
    from siding.assistant.views.conversation import calls_of, looked_at
    from siding.record.place.project import require_project

    found = looked_at(require_project(context.app), arguments.session)
    calls = calls_of(found.history)
    if arguments.failed:
        calls = [call for call in calls if call.is_error or not call.has_result]
    shown, is_whole = _chosen(calls, arguments.which)
    if arguments.json:
        print_json(context.screen, [_tool_call_record(call) for call in shown])
    elif not shown:
        context.screen.note("no tool was called")
    for call in [] if arguments.json else shown:
        _print_tool_call(context, call, is_whole=is_whole)
    return 0


DEBUG_TOOL_CALL = Verb(
    """\
Show calls of tools: the last 5 with the beginning of each value, the last N, or CALL whole.

CALL is the id of a call, or the beginning of it: its input, its result as the model got it, what
the tool told programs beside it, and its times. It is of the newest conversation of this workspace,
or of --session. Whether it was permitted stands in its result: a refused call has that for one.

  siding agent debug-tool-call
  siding agent debug-tool-call 20
  siding agent debug-tool-call toolu_01
""",
    _tool_call_options,
    _tool_call,
)


def _chosen(calls: list[ToolCall], which: str) -> tuple[list[ToolCall], bool]:
    named = [call for call in calls if which and call.id.startswith(which)]
    if which.isascii() and which.isdigit() and not any(call.id == which for call in named):
        return (calls[-int(which) :] if int(which) else []), False
    exact = [call for call in named if call.id == which] or named
    if len(exact) > 1:
        raise UsageError(f"{which!r} could be {len(exact)} calls", hint="give more of the id")
    if not exact:
        raise NotFound(
            f"there is no call {which!r} in this conversation",
            hint="`siding agent debug-tool-call 20` shows the last ones",
        )
    return exact, True


def _print_tool_call(context: Context, call: ToolCall, *, is_whole: bool) -> None:
    screen = context.screen
    screen.print(inert(f"{call.id}  {call.name}  {_tool_call_ending(call)}  {local_time(call.at)}"))
    if not is_whole:
        screen.print(f"  input:  {_tool_call_short(call.given)}")
        screen.print(f"  result: {_tool_call_short(call.result)}")
        return
    screen.print(f"turn {call.turn}, from {inert(call.at)} to {inert(call.ended_at) or '-'}")
    screen.print("\ninput:\n" + inert(json_text(call.given), lines=True))
    screen.print("\nresult:\n" + inert(call.result, lines=True))
    if call.details is not None:
        screen.print("\ntold to programs:\n" + inert(json_text(call.details), lines=True))


def _tool_call_ending(call: ToolCall) -> str:
    if not call.has_result:
        return "without a result"
    took = "" if call.took_ms is None else f" in {duration(call.took_ms)}"
    return ("failed" if call.is_error else "done") + took


def _tool_call_short(value: object) -> str:
    text = value if isinstance(value, str) else json_text(value)
    return shorten(inert(" ".join(text.split())), _SHOWN)


def _tool_call_record(call: ToolCall) -> dict[str, Any]:
    return {**call._asdict(), "took_ms": call.took_ms}


def _break_cache_options(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", default="", help=_SESSION)
    parser.add_argument("--json", action="store_true", help="print it as JSON, with all requests")


def _break_cache(arguments: Namespace, context: Context) -> int:
    from siding.assistant.views.conversation import looked_at, requests_of
    from siding.assistant.views.spending import cache_use
    from siding.record.place.project import require_project

    screen = context.screen
    looked = looked_at(require_project(context.app), arguments.session)
    found = cache_use(requests_of(looked.history))
    if arguments.json:
        misses = {miss.number: miss for miss in found.misses}
        rows = [
            {
                "number": number,
                **request._asdict(),
                "lost": misses[number].lost if number in misses else 0,
                "cause": misses[number].cause if number in misses else "",
            }
            for number, request in enumerate(found.requests, start=1)
        ]
        print_json(screen, {"session": looked.id, "requests": rows})
        return 0
    read = sum(each.cache_read for each in found.requests)
    sent = sum(each.prompt for each in found.requests)
    screen.print(inert(f"{looked.id[:8]}  {looked.title}"))
    share = f"{100 * read // sent} %" if sent else "nothing"
    asked = counted(len(found.requests), "request")
    screen.print(f"{asked}, {sent:,} tokens sent, {share} of them from the cache")
    if not found.is_cached:
        screen.note("the provider told of no cache in this conversation")
    elif not found.misses:
        screen.note("no request has missed it")
    for miss in found.misses:
        when = f"request {miss.number}, turn {miss.request.turn}, {local_time(miss.request.at)}"
        screen.print(f"  {when}: {miss.lost:,} tokens read anew: {miss.cause}")
    return 0


BREAK_CACHE = Verb(
    """\
Show where a conversation missed the provider's prompt cache, and what is the likely cause.

A request that reads less from the cache than the one before it had kept has missed. It is the
newest conversation of this workspace, or SESSION. Nothing is changed: DISABLE_PROMPT_CACHING=1
turns the cache off.
""",
    _break_cache_options,
    _break_cache,
)
