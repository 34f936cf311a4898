"""The verbs of a person's shell: where a workspace is, `siding cd`, and what completes words."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from contextlib import suppress

from siding.faces.cli.globals import Context, add_globals
from siding.faces.cli.table import BELOW, GROUPS, VERBS, load
from siding.faces.cli.verb import Verb
from siding.ground.errors import SidingError, UsageError

BASH_COMPLETION = """\
_siding() {
    local IFS=$'\\n'
    COMPREPLY=($(siding __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _siding siding
"""
ZSH_COMPLETION = """\
_siding() {
    local -a found
    found=("${(@f)$(siding __complete -- "${words[@]:1:$((CURRENT-1))}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _siding siding
"""
FISH_COMPLETION = """\
function __siding_complete
    set -l words (commandline -opc)[2..-1] (commandline -ct)
    siding __complete -- $words 2>/dev/null
end
complete -c siding -a '(__siding_complete)'
"""
COMPLETIONS = {"bash": BASH_COMPLETION, "zsh": ZSH_COMPLETION, "fish": FISH_COMPLETION}
START_LINES = {
    "bash": ('eval "$(siding shell-init bash)"', "~/.bashrc"),
    "zsh": ('eval "$(siding shell-init zsh)"', "~/.zshrc"),
    "fish": ("siding shell-init fish | source", "~/.config/fish/config.fish"),
}
# `command siding` runs the program and not this function. Options of `siding cd` itself (--help)
# print a page, which is no directory to go to.
BASH_AND_ZSH = """\
siding() {
    local place result
    if [ "${1-}" = cd ]; then
        case " $* " in
            *" -h "* | *" --help "*) command siding "$@"; return ;;
        esac
        shift
        place="$(command siding path --switch "$@")" || return
        builtin cd -- "$place"
        return
    fi
    command siding "$@"
    result=$?
    if [ ! -d "$PWD" ] && place="$(command siding path --main 2>/dev/null)"; then
        builtin cd -- "$place" && printf 'siding: back in %s\\n' "$place" >&2
    fi
    return $result
}
"""
FISH = """\
function siding
    if test (count $argv) -gt 0; and test "$argv[1]" = cd
        if contains -- -h $argv; or contains -- --help $argv
            command siding $argv
            return
        end
        set -l place (command siding path --switch $argv[2..-1])
        or return
        builtin cd -- $place
        return
    end
    command siding $argv
    set -l result $status
    if not test -d "$PWD"
        set -l place (command siding path --main 2>/dev/null)
        and builtin cd -- $place
        and printf 'siding: back in %s\\n' $place >&2
    end
    return $result
end
"""
FUNCTIONS = {"bash": BASH_AND_ZSH, "zsh": BASH_AND_ZSH, "fish": FISH}
TASK_OPTIONS = {"-t", "--task", "--blocked-by"}
STEP_OPTIONS = {"--step", "--from", "--to"}
TASK_ARGUMENT = {
    "cd",
    "path",
    "open",
    "switch",
    "task show",
    "task switch",
    "task update",
    "task close",
    "task reopen",
    "verify",
    "worktree add",
    "worktree status",
    "worktree keep",
    "worktree remove",
    "phase status",
    "phase show",
}
STEP_ARGUMENT = {"show"}
RUN_ARGUMENT = {"output", "stop", "attach", "send"}
OPEN_DECISION = {"decide answer", "decide cancel"}
ANY_DECISION = {"decide show", "decide result"}
POINTS = ("base", "last", "now")


def _path_options(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", metavar="TASK", help="id or name (default: the active)")
    parser.add_argument("--main", action="store_true", help="your own checkout")
    parser.add_argument(
        "--switch", action="store_true", help="and have this terminal be about TASK, as `cd` does"
    )


def _path(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.tasks.changes import switch
    from siding.tasks.whereabouts import main_path, workspace_path

    if arguments.main and arguments.task is not None:
        raise UsageError("--main is your own checkout, which belongs to no task")
    if arguments.main:
        place = main_path(context.app)
    else:
        project = require_project(context.app)
        place = workspace_path(project, arguments.task)
        if arguments.switch and arguments.task is not None:
            with suppress(SidingError):  # a closed task that kept its workspace can be looked at
                switch(project, arguments.task)
    # Written as bytes: the encoding of the terminal may not have every character of the path.
    context.screen.out.flush()
    context.screen.out.buffer.write(bytes(place) + b"\n")
    return 0


PATH = Verb(
    """\
Print where a task's workspace is, for use in other commands: code "$(siding path)".

Without TASK it is that of the task that this terminal is about. --main prints your own checkout.
""",
    _path_options,
    _path,
)


def _cd(arguments: Namespace, context: Context) -> int:
    """Tell how to set the shell up. Once its function is in place, this code is not reached."""
    from shlex import quote

    words = [*([quote(arguments.task)] if arguments.task else []), *["--main"] * arguments.main]
    path = " ".join(["siding", "path", *words])
    shell = os.path.basename(context.app.env.get("SHELL", ""))
    line, file = START_LINES.get(shell, START_LINES["bash"])
    raise UsageError(
        "a program cannot change the directory of your shell",
        hint=f'cd "$({path})" goes there now; `{line}` in {file} makes `siding cd` work',
    )


CD = Verb(
    """\
Go into a task's workspace; `siding cd --main` goes back to your own checkout.

With TASK, this terminal is about that task from then on, as after `siding switch TASK`.

A program cannot change the directory of the shell it was started by. A line in the shell's start
file makes `siding cd` a function of the shell, which can:

  bash   eval "$(siding shell-init bash)"      in ~/.bashrc
  zsh    eval "$(siding shell-init zsh)"       in ~/.zshrc
  fish   siding shell-init fish | source       in ~/.config/fish/config.fish
""",
    _path_options,
    _cd,
)


def _completion_options(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(COMPLETIONS))


def _completion(arguments: Namespace, context: Context) -> int:
    context.screen.out.write(COMPLETIONS[arguments.shell])
    return 0


COMPLETION = Verb(
    """\
Print the completion script of a shell: bash, zsh or fish.

bash:  eval "$(siding completion bash)"          in ~/.bashrc
zsh:   eval "$(siding completion zsh)"           in ~/.zshrc
fish:  siding completion fish | source           in ~/.config/fish/config.fish
""",
    _completion_options,
    _completion,
)


def _shell_init_options(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(FUNCTIONS))


def _shell_init(arguments: Namespace, context: Context) -> int:
    context.screen.out.write(FUNCTIONS[arguments.shell] + COMPLETIONS[arguments.shell])
    return 0


SHELL_INIT = Verb(
    """\
Print the function `siding cd` and the completion for a shell: bash, zsh or fish.

bash:  eval "$(siding shell-init bash)"          in ~/.bashrc
zsh:   eval "$(siding shell-init zsh)"           in ~/.zshrc
fish:  siding shell-init fish | source           in ~/.config/fish/config.fish

When a command takes the workspace away that you stand in, as `siding apply` does, the shell goes
back to your own checkout and says so.
""",
    _shell_init_options,
    _shell_init,
)


def _complete_options(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="*")


def _complete(arguments: Namespace, context: Context) -> int:
    words = arguments.words or [""]
    try:
        candidates = list(_candidates(words, context))
    except (SidingError, OSError):
        return 0  # an error message would end up in the middle of the typed line
    for candidate in candidates:
        if candidate.startswith(words[-1]):
            print(candidate)
    return 0


COMPLETE = Verb(
    """Print completions for the last word of a command line; shells call this.""",
    _complete_options,
    _complete,
)


def _of_below(words: list[str]) -> Iterable[str] | None:
    """Return what comes behind a verb with others below it; None if that is the verb's own."""
    below = BELOW.get(words[0], {})
    if below and len(words) == 2 and not words[1].startswith("-"):
        return list(below)
    if words[1] not in below:
        return None
    return _options_of_verb(below[words[1]][0]) if words[-1].startswith("-") else []


def _candidates(words: list[str], context: Context) -> Iterable[str]:
    if len(words) == 1:
        return [*VERBS, *GROUPS, "--version", "--help"]
    group = GROUPS.get(words[0])
    if group is not None and len(words) == 2:
        return list(group[1])
    below = _of_below(words)
    if below is not None:
        return below
    verb = f"{words[0]} {words[1]}" if group is not None else words[0]
    found = group[1].get(words[1]) if group is not None else VERBS.get(words[0])
    if found is None or "--" in words[:-1]:
        return []
    last, before = words[-1], words[-2]
    if before in TASK_OPTIONS or (verb in TASK_ARGUMENT and not last.startswith("-")):
        return _names_of_tasks(context)
    if verb == "task start" and before == "--from":
        return [*_names_of_branches(context), *_names_of_tasks(context)]
    if before in STEP_OPTIONS or (verb in STEP_ARGUMENT and not last.startswith("-")):
        return [*_ids_of_steps(context), *POINTS]
    if verb in RUN_ARGUMENT and not last.startswith("-"):
        return _names_of_runs(context, ended=verb == "stop")
    if verb in OPEN_DECISION | ANY_DECISION and not last.startswith("-"):
        return _ids_of_decisions(context, closed=verb in ANY_DECISION)
    if last.startswith("-"):
        return _options_of_verb(found[0])
    if verb in ("completion", "shell-init"):
        return ["bash", "zsh", "fish"]
    return []


def _options_of_verb(place: str) -> list[str]:
    parser = ArgumentParser(add_help=True)
    add_globals(parser)
    load(place).add_arguments(parser)
    return sorted(name for name in parser._option_string_actions if name.startswith("--"))


def _names_of_tasks(context: Context) -> list[str]:
    from siding.feed.board import rows
    from siding.record.place.project import require_project

    found = rows(require_project(context.app), include_closed=False)
    return [word for row in found for word in (row.id, row.name) if " " not in word]


def _names_of_branches(context: Context) -> list[str]:
    from siding.record.place.project import require_project
    from siding.starting.readings import branches

    return branches(require_project(context.app))


def _ids_of_decisions(context: Context, *, closed: bool) -> list[str]:
    from siding.asking.lookup import list_decisions
    from siding.record.place.project import require_project

    found, _ = list_decisions(require_project(context.app), closed=closed, limit=50)
    return [each.session_id for each in found]


def _names_of_runs(context: Context, *, ended: bool) -> list[str]:
    from siding.record.place.project import require_project
    from siding.running.named_run import runs_to_stop

    _task, live, left = runs_to_stop(require_project(context.app), None, (), every=True)
    found = [(run.id, run.name) for run in live]
    found += [(run.id, run.name) for run in left if ended]
    return [word for names in found for word in names if word and " " not in word]


def _ids_of_steps(context: Context) -> list[str]:
    from siding.record.place.project import require_project
    from siding.record.recording.steps import log

    _task, steps = log(require_project(context.app), None, limit=50)
    return [step.id for step in steps]
