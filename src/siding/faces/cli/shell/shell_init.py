"""Print the function `siding cd` and the completion for a shell: bash, zsh or fish.

bash:  eval "$(siding shell-init bash)"          in ~/.bashrc
zsh:   eval "$(siding shell-init zsh)"           in ~/.zshrc
fish:  siding shell-init fish | source           in ~/.config/fish/config.fish

When a command takes the workspace away that you stand in, as `siding apply` does, the shell goes
back to your own checkout and says so.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.faces.cli.shell.completion import SCRIPTS as COMPLETION

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


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(FUNCTIONS))


def run(arguments: Namespace, context: Context) -> int:
    context.screen.out.write(FUNCTIONS[arguments.shell] + COMPLETION[arguments.shell])
    return 0
