"""Print the completion script of a shell: bash, zsh or fish.

bash:  eval "$(siding completion bash)"          in ~/.bashrc
zsh:   eval "$(siding completion zsh)"           in ~/.zshrc
fish:  siding completion fish | source           in ~/.config/fish/config.fish
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context

BASH = """\
_siding() {
    local IFS=$'\\n'
    COMPREPLY=($(siding __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _siding siding
"""

ZSH = """\
_siding() {
    local -a found
    found=("${(@f)$(siding __complete -- "${words[@]:1:$((CURRENT-1))}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _siding siding
"""

FISH = """\
function __siding_complete
    set -l words (commandline -opc)[2..-1] (commandline -ct)
    siding __complete -- $words 2>/dev/null
end
complete -c siding -a '(__siding_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(SCRIPTS))


def run(arguments: Namespace, context: Context) -> int:
    context.screen.out.write(SCRIPTS[arguments.shell])
    return 0
