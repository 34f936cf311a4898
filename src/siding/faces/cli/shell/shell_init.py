"""The verbs that print what a shell reads: the function `siding cd`, completions."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.faces.cli.verb import Verb

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
