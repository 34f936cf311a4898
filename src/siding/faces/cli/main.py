"""Run one command line: find the verb, load only its module, turn failures into exit statuses.

Exit codes: the command's own for ``run``; 1 an expected failure, 2 usage, 3 not initialised,
4 no active task, 5 policy, 70 a bug in Siding, 130 on Ctrl-C, 141 when the reader of a pipe left.
"""

# The C half of `signal`: the module itself would load `enum` before `--version` answers.
import _signal  # type: ignore[import-not-found]
import sys

from siding import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from typing import NoReturn


# What has to see the interpreter's ordinary end: temporary files go when their objects do, and the
# others end their threads and processes, or write down what they measured.
_NEEDS_ORDINARY_END = frozenset(
    {"asyncio", "concurrent.futures", "coverage", "multiprocessing", "tempfile"}
)


_HELP = ("-h", "--help", "help")


def command() -> "NoReturn":
    """Be the program ``siding``: run the command line of this process, then end the process."""
    leave(main())


def leave(status: int) -> "NoReturn":
    """End the process, without taking the interpreter apart where nobody needs that.

    To free one object after the other takes 1.3 ms of processor time after `log` and 5 after `run`,
    and the kernel frees all of them anyway. What the ordinary end does for others is done here:
    `atexit` functions run, then both outputs are flushed. Files are never left to the end: who
    writes one closes it.
    """
    if _may_leave_at_once():
        import atexit

        atexit._run_exitfuncs()
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None and not stream.closed:
                    stream.flush()
        except (OSError, ValueError):
            pass  # a full disk, or a pipe without a reader: the ordinary end says so
        else:
            import os

            os._exit(status)
    # What was loaded is not garbage: to look for some in it took 40 ms after `workflow list`.
    import gc

    gc.freeze()
    sys.exit(status)


def _may_leave_at_once() -> bool:
    """Tell whether no thread lives, nobody watches the interpreter, and nothing waits for its
    end."""
    import _thread

    watched = sys.gettrace() is not None or sys.getprofile() is not None
    asked_to_stay = sys.flags.inspect or sys.flags.dev_mode
    # Threads of any kind: it counts those that `threading` does not know of, too.
    lives = _thread._count() > 0
    return not (watched or asked_to_stay or lives or _NEEDS_ORDINARY_END & sys.modules.keys())


def main(argv: list[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    _leave_quietly_on_ctrl_c()
    words = sys.argv[1:] if argv is None else argv
    if words in (["--version"], ["-V"], ["version"]):
        print(f"siding {__version__}")
        return 0
    # Imports begin here, so that `--version` needs none. Collection is off meanwhile: loading
    # modules leaves nothing to free, and looking for it takes 4 ms of a command's start.
    import gc

    from siding.faces.cli.edge import guarded

    gc.disable()
    return guarded(lambda: _dispatch(words))


def agent() -> int:
    """Run the program ``siding-agent``, which is ``siding agent``."""
    return main(["agent", *sys.argv[1:]])


def _leave_quietly_on_ctrl_c() -> None:
    """Let Ctrl-C end the process at once; `guarded` changes that when there is work to clean up."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def _dispatch(words: list[str]) -> int:
    from siding.faces.cli.globals import split_globals
    from siding.faces.cli.table import ALONE, BELOW, GROUPS, HIDDEN, VERBS

    flags, rest = split_globals(words)
    if rest[:1] and rest[0] in _HELP:
        while rest[1:] and rest[1] in _HELP:
            del rest[1]
        return _help(rest[1:])
    if rest[:1] in (["--version"], ["-V"]) and not split_globals(rest[1:])[1]:
        print(f"siding {__version__}")
        return 0
    if rest in ([], ["--plain"]):
        import os

        # Descriptors, and not `sys.stdin`, which may be closed. A pipe loads nothing more.
        if rest or (os.isatty(0) and os.isatty(1)):
            from siding.faces.cli.table import TERMINAL, load

            status = load(TERMINAL).opened(flags, plain=bool(rest))
            assert status is None or isinstance(status, int)
            if status is not None:
                return status
        rest = []
    if not rest or rest[0].startswith("-"):
        return _run_verb("siding", VERBS[ALONE], rest, flags)
    verb, *arguments = rest
    if verb in GROUPS:
        return _group(verb, arguments, flags)
    below = BELOW.get(verb, {}).get(arguments[0]) if arguments else None
    if below is not None:
        return _run_verb(f"siding {verb} {arguments[0]}", below, arguments[1:], flags)
    found = VERBS.get(verb) or HIDDEN.get(verb)
    if found is None:
        return _workflow_or_unknown(verb, arguments, flags, [*VERBS, *GROUPS])
    return _run_verb(f"siding {verb}", found, arguments, flags)


def _workflow_or_unknown(
    verb: str, arguments: list[str], flags: dict[str, object], known: list[str]
) -> int:
    """Run the workflow of this name, if there is one: its name is as good as a verb."""
    from argparse import Namespace

    from siding.faces.cli.globals import context_from
    from siding.faces.cli.table import GROUPS
    from siding.faces.cli.workflows.scripts import is_workflow

    if not is_workflow(context_from(Namespace(**flags)), verb):
        return _meant_or_unknown("siding", verb, arguments, flags, known)
    found = GROUPS["workflow"][1]["run"]
    return _run_verb(f"siding {verb}", found, [verb, *arguments], flags)


def _group(group: str, arguments: list[str], flags: dict[str, object]) -> int:
    from siding.faces.cli.table import BARE, GROUPS, UNNAMED

    about, verbs = GROUPS[group]
    is_help = arguments[:1] in (["-h"], ["--help"])
    if group in BARE and not is_help and (not arguments or arguments[0].startswith("-")):
        return _run_verb(f"siding {group}", verbs[BARE[group]], arguments, flags)
    if not arguments or arguments[0] in _HELP:
        from siding.faces.cli.overview import print_group

        print_group(group, about, verbs)
        return 0 if arguments else 2
    verb, *rest = arguments
    unnamed, beginnings = UNNAMED.get(group, ("", ()))
    is_words = " " in verb.strip() or verb.endswith("?")
    if unnamed and (is_words or verb.lstrip().startswith(beginnings)):
        return _run_verb(f"siding {group}", verbs[unnamed], arguments, flags)
    found = verbs.get(verb)
    if found is None:
        return _meant_or_unknown(f"siding {group}", verb, rest, flags, list(verbs))
    return _run_verb(f"siding {group} {verb}", found, rest, flags)


def _run_verb(
    program: str, found: tuple[str, str], arguments: list[str], flags: dict[str, object]
) -> int:
    import gc
    from argparse import ArgumentParser

    from siding.faces.cli.globals import add_globals, context_from
    from siding.faces.cli.help import HelpPage
    from siding.faces.cli.table import is_mixed, load

    verb = load(found[0])
    parser = ArgumentParser(
        prog=program,
        description=(verb.__doc__ or "").strip(),
        formatter_class=HelpPage,
        allow_abbrev=False,
    )
    add_globals(parser)
    verb.add_arguments(parser)
    parse = parser.parse_intermixed_args if is_mixed(verb) else parser.parse_args
    parsed = _parsed(parse, arguments, flags)
    for name, value in flags.items():  # given before the verb
        setattr(parsed, name, value)
    parsed.typed = arguments
    context = context_from(parsed)
    gc.freeze()  # what is loaded by now stays until the end; later collections skip it
    # A verb begins by loading what carries it out. With Python's own threshold (700 objects) that
    # alone would be 10 to 60 collections, which find nothing. No verb loads more than 130,000.
    gc.set_threshold(200_000)
    gc.enable()
    status = verb.run(parsed, context)
    assert isinstance(status, int)
    return status


def _parsed(
    parse: "Callable[[list[str]], Namespace]", arguments: list[str], flags: dict[str, object]
) -> "Namespace":
    if not any(word[:1] == "-" and word[:2] != "--" and len(word) > 3 for word in arguments):
        return parse(arguments)
    from siding.faces.cli.dashed_ids import shield_ids, unshield_ids

    words = shield_ids(arguments, flags)
    parsed = parse(words)
    unshield_ids(parsed, words)
    return parsed


def _help(words: list[str]) -> int:
    from siding.faces.cli.table import BELOW, GROUPS

    if words == ["all"]:
        from siding.faces.cli.overview import print_all

        print_all()
        return 0
    if words:
        has_more = words[0] in GROUPS or set(words[1:2]) <= set(BELOW.get(words[0], ()))
        return _dispatch([*words[: 1 + has_more], "--help"])
    from siding.faces.cli.overview import print_overview

    print_overview()
    return 0


def _meant_or_unknown(
    program: str, verb: str, arguments: list[str], flags: dict[str, object], known: list[str]
) -> int:
    """Run the command that is meant by a word that people type by habit; else say what is there."""
    from siding.faces.cli.habits import INSTEAD, MEANT

    typed = f"{program} {verb}".removeprefix("siding ")
    if typed in MEANT:
        from siding.faces.cli.table import GROUPS, VERBS

        first, _space, second = MEANT[typed].partition(" ")
        if not second and first in GROUPS:
            return _group(first, arguments, flags)
        found = GROUPS[first][1][second] if second else VERBS[first]
        return _run_verb(f"siding {MEANT[typed]}", found, arguments, flags)
    if typed in INSTEAD:
        hint = INSTEAD[typed]
    else:
        from difflib import get_close_matches

        close = get_close_matches(verb, known, n=1)
        all_of_them = f"{program} --help" if program != "siding" else "siding help all"
        hint = f"did you mean `{program} {close[0]}`?" if close else f"`{all_of_them}` lists them"
    print(f"siding: error: {program} has no command {verb!r}\n  hint: {hint}", file=sys.stderr)
    return 2
