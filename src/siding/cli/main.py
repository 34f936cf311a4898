"""The edge of the command line: find the verb, load only its module, turn failures into exits.

Exit codes: the command's own for ``run``; 1 an expected failure, 2 usage, 3 not initialised,
4 no active task, 5 policy, 70 a bug in Siding, 130 on Ctrl-C, 141 when the reader went away.
"""

# The C half of `signal`, which would load `enum` before `--version` answers.
import _signal  # type: ignore[import-not-found]
import sys

from siding import __version__

# verb -> (where it is, see `verb.load`, and what it does). The order is that of the help page.
VERBS: dict[str, tuple[str, str]] = {
    "run": ("run", "run a command in the task's workspace and record it"),
    "status": ("status", "where you are: task, workspace, last step"),
    "log": ("log", "the steps of a task"),
    "show": ("show", "one step with its output"),
    "diff": ("diff", "what a task, a step or a range of steps changed"),
    "apply": ("apply", "switch a task's change onto the main line"),
    "pr": ("pr", "push a task's branch and open a pull request"),
    "rollback": ("rollback", "go back to any step, or to the base"),
    "undo": ("undo:UNDO", "take a rollback, apply, closing or removal back"),
    "redo": ("undo:REDO", "do again what an undo took back"),
    "checkpoint": ("checkpoint", "record the workspace as it stands"),
    "cd": ("cd", "go into a task's workspace (see `siding cd --help`)"),
    "path": ("path", "where a task's workspace is"),
    "open": ("open", "open a task's workspace in your editor"),
    "verify": ("verify", "prove a task's record whole"),
    "ui": ("siding.web.command", "the dashboard: this project in a browser"),
    "gc": ("gc", "what tasks use on disk; free closed ones, recoverably"),
    "init": ("init", "make this repository a project (implicit on first use)"),
    "doctor": ("doctor", "find and mend what disagrees, without deleting work"),
    "inbox": ("inbox", "all that waits for a person, in every project"),
    "trust": ("trust", "allow hooks and permissions that come with the repository"),
    "shell-init": ("shell_init", "what makes `siding cd` work in your shell"),
    "completion": ("completion", "print the completion script of a shell"),
}

GROUPS: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "task": (
        "what is to be done",
        {
            "start": ("task_start", "make a task and its workspace"),
            "list": ("task_list", "the tasks of this project"),
            "show": ("task_show", "one task and its start card"),
            "switch": ("task_switch", "choose the active task"),
            "update": ("task_update", "change owner, description, tags, blocked-by"),
            "close": ("task_close", "finish a task; keep or remove its workspace"),
            "reopen": ("task_reopen", "bring a closed or deleted task back"),
        },
    ),
    "worktree": (
        "where it is done",
        {
            "add": ("worktree_add", "give a task a workspace"),
            "list": ("worktree_list", "the workspaces of this project"),
            "status": ("worktree_status", "what changed in a workspace"),
            "keep": ("worktree_keep", "record that a workspace stays"),
            "remove": ("worktree_remove", "move a workspace away, recoverably"),
            "events": ("worktree_events", "the newest lifecycle events"),
        },
    ),
    "policy": (
        "what commands may do",
        {
            "check": ("policy_check", "what the policy makes of a command"),
            "test": ("policy_test", "run the project's own examples"),
            "list": ("policy_list", "every rule, and where it comes from"),
            "show": ("policy_show", "the policy's files, or one rule"),
        },
    ),
    "decide": (
        "questions put to a person, and the answers",
        {
            "submit": ("decide_submit", "put one and wait (so does `decide '<json>'`)"),
            "result": ("decide_result", "the answer, as one line of JSON"),
            "list": ("decide_list", "the decisions that wait"),
            "show": ("decide_show", "one decision, with what speaks for each option"),
            "answer": ("decide_answer", "answer one in the terminal"),
            "cancel": ("decide_cancel", "take a question back"),
            "clean": ("decide_clean", "move old records to the trash"),
        },
    ),
    "phase": (
        "where a task stands in its process",
        {
            "start": ("phase_moves:START", "begin, in any phase"),
            "next-step": ("phase_moves:NEXT_STEP", "go on by a step"),
            "back-step": ("phase_moves:BACK_STEP", "a step has to be done again"),
            "next-part": (
                "siding.cli.phase_moves:NEXT_PART",
                "go on to the next phase, past its gates",
            ),
            "back-part": ("phase_moves:BACK_PART", "go back to an earlier phase"),
            "issue": ("phase_moves:ISSUE", "record something to come back to"),
            "error": ("phase_moves:ERROR", "record what went wrong"),
            "status": ("phase_status", "phase, step, what came last"),
            "list": ("phase_list", "the passes of all tasks"),
            "show": ("phase_show", "the history of one"),
        },
    ),
    "session": (
        "conversations: transcripts that open at once",
        {
            "list": ("session_list", "the sessions of this project"),
            "show": ("session_show", "a conversation: text, Markdown, JSON, a page"),
            "search": ("session_search", "words in all sessions"),
            "resume": ("session_resume", "what a session is gone on with"),
            "branch": ("session_branch", "go on with a copy"),
            "rewind": ("session_rewind", "go on behind an earlier message"),
            "compact": ("session_compact", "make the context shorter"),
            "export": ("session_export", "as Claude Code, Codex or Gemini CLI keeps it"),
            "import": ("session_import", "from Claude Code, Codex or Gemini CLI"),
            "doctor": ("session_doctor", "find what is damaged"),
            "usage": ("session_usage", "tokens by day, model, task, session"),
        },
    ),
}

# What a group does with arguments that begin like these: no command has such a name.
UNNAMED: dict[str, tuple[str, tuple[str, ...]]] = {"decide": ("submit", ("{", "[", '"', "-"))}

HIDDEN: dict[str, tuple[str, str]] = {
    "__complete": ("complete", "values for shell completion"),
}


def main(argv: list[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    _leave_quietly_on_ctrl_c()
    words = sys.argv[1:] if argv is None else argv
    if words in (["--version"], ["-V"], ["version"]):
        print(f"siding {__version__}")
        return 0
    # Everything below costs imports; the version does not. Loading modules makes nothing that can
    # be freed, and looking for it takes 4 ms of a command's start.
    import gc

    from siding.cli.edge import guarded

    gc.disable()
    return guarded(lambda: _dispatch(words))


def _leave_quietly_on_ctrl_c() -> None:
    """Until there is something to clean up, Ctrl-C ends us as it ends any program."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def _dispatch(words: list[str]) -> int:
    from siding.cli.globals import split_globals

    flags, rest = split_globals(words)
    if not rest or rest[0] in ("-h", "--help", "help"):
        return _help(rest[1:])
    verb, *arguments = rest
    if verb in GROUPS:
        return _group(verb, arguments, flags)
    found = VERBS.get(verb) or HIDDEN.get(verb)
    if found is None:
        return _unknown("siding", verb, [*VERBS, *GROUPS])
    return _run_verb(f"siding {verb}", found, arguments, flags)


def _group(group: str, arguments: list[str], flags: dict[str, object]) -> int:
    about, verbs = GROUPS[group]
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        from siding.cli.help import print_group

        print_group(group, about, verbs)
        return 0 if arguments else 2
    verb, *rest = arguments
    unnamed, beginnings = UNNAMED.get(group, ("", ()))
    if unnamed and verb.lstrip().startswith(beginnings):
        return _run_verb(f"siding {group}", verbs[unnamed], arguments, flags)
    found = verbs.get(verb)
    if found is None:
        return _unknown(f"siding {group}", verb, list(verbs))
    return _run_verb(f"siding {group} {verb}", found, rest, flags)


def _run_verb(
    program: str, found: tuple[str, str], arguments: list[str], flags: dict[str, object]
) -> int:
    import gc
    from argparse import ArgumentParser

    from siding.cli.globals import add_globals, context_from
    from siding.cli.help import HelpPage
    from siding.cli.verb import load

    verb = load(found[0])
    parser = ArgumentParser(
        prog=program,
        description=(verb.__doc__ or "").strip(),
        formatter_class=HelpPage,
        allow_abbrev=False,
    )
    add_globals(parser)
    verb.add_arguments(parser)
    parsed = parser.parse_args(arguments)
    for name, value in flags.items():  # given before the verb
        setattr(parsed, name, value)
    context = context_from(parsed)
    gc.freeze()  # what was loaded so far stays; later collections need not look at it
    gc.enable()
    status = verb.run(parsed, context)
    assert isinstance(status, int)
    return status


def _help(words: list[str]) -> int:
    if words:
        return _dispatch([*words[:2], "--help"] if words[0] in GROUPS else [words[0], "--help"])
    from siding.cli.help import print_overview

    print_overview(VERBS, GROUPS)
    return 0


def _unknown(program: str, verb: str, known: list[str]) -> int:
    from difflib import get_close_matches

    close = get_close_matches(verb, known, n=1)
    hint = f"did you mean `{program} {close[0]}`?" if close else f"`{program} --help` lists them"
    print(f"siding: error: {program} has no command {verb!r}\n  hint: {hint}", file=sys.stderr)
    return 2
