"""The verbs of a person's shell: where a workspace is, `siding cd`, and what completes words."""

import os
from argparse import ArgumentParser, Namespace
from contextlib import suppress

from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_task_word
from siding.faces.cli.verb import Verb
from siding.ground.errors import SidingError, UsageError

# `__complete` prints a line for each value, with what it is behind a tab; its status 3 means that
# the word may be the name of a file. What was typed comes with its quotes and backslashes.
BASH_COMPLETION = """\
_siding() {
    local line result word="${COMP_WORDS[COMP_CWORD]}"
    word="${word#[\\"\\']}"
    line="$(siding __complete -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" "${word//\\\\/}" 2>/dev/null)"
    result=$?
    COMPREPLY=()
    if [ "$result" -eq 3 ]; then compopt -o default; fi
    [ -n "$line" ] || return 0
    while IFS= read -r line; do
        line="${line%%$'\\t'*}"
        case "${COMP_WORDS[COMP_CWORD]}" in
            \\"* | \\'*) ;;
            *) printf -v line '%q' "$line" ;;
        esac
        COMPREPLY+=("$line")
    done <<<"$line"
}
complete -F _siding siding
"""
ZSH_COMPLETION = """\
_siding() {
    local -a values shown
    local line found
    found="$(siding __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"
    if [[ $? -eq 3 ]]; then _files; return; fi
    for line in "${(@f)found}"; do
        [[ -n "$line" ]] || continue
        values+=("${line%%$'\\t'*}")
        if [[ "$line" == *$'\\t'* ]]; then
            shown+=("${(r:26:)${line%%$'\\t'*}}  ${line#*$'\\t'}")
        else
            shown+=("$line")
        fi
    done
    (( $#values )) || return 1
    if [[ "$found" == *$'\\t'* ]]; then
        compadd -l -d shown -a values
    else
        compadd -a values
    fi
}
compdef _siding siding
"""
FISH_COMPLETION = """\
function __siding_complete
    set -l words (commandline -opc)[2..-1] (commandline -ct | string unescape)
    set -l found (siding __complete -- $words 2>/dev/null)
    if test $status -eq 3
        __fish_complete_path (commandline -ct)
        return
    end
    printf '%s\\n' $found
end
complete -c siding -f -a '(__siding_complete)'
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


def _path_options(parser: ArgumentParser) -> None:
    add_task_word(parser)
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

  siding cd parser                  a part of its name is enough
  siding cd -                       the workspace of the task before

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
    parser.add_argument("shell", choices=sorted(COMPLETIONS), help="which shell")


def _completion(arguments: Namespace, context: Context) -> int:
    context.screen.out.write(COMPLETIONS[arguments.shell])
    return 0


COMPLETION = Verb(
    """\
Print the completion script of a shell: bash, zsh or fish.

  bash   eval "$(siding completion bash)"          in ~/.bashrc
  zsh    eval "$(siding completion zsh)"           in ~/.zshrc
  fish   siding completion fish | source           in ~/.config/fish/config.fish
""",
    _completion_options,
    _completion,
)


def _shell_init_options(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(FUNCTIONS), help="which shell")


def _shell_init(arguments: Namespace, context: Context) -> int:
    context.screen.out.write(FUNCTIONS[arguments.shell] + COMPLETIONS[arguments.shell])
    return 0


SHELL_INIT = Verb(
    """\
Print the function `siding cd` and the completion for a shell: bash, zsh or fish.

  bash   eval "$(siding shell-init bash)"          in ~/.bashrc
  zsh    eval "$(siding shell-init zsh)"           in ~/.zshrc
  fish   siding shell-init fish | source           in ~/.config/fish/config.fish

When a command takes the workspace away that you stand in, as `siding apply` does, the shell goes
back to your own checkout and says so.
""",
    _shell_init_options,
    _shell_init,
)
