"""Which module judges which program, so that a run imports only the modules it needs.

Importing all judges takes 10 ms. A test compares this table with the JUDGES of each module.
"""

from collections.abc import Mapping

from siding.policy.names import names

_NAMES = {
    "processes": """
    kill
    """,
    "reading": """
    realpath readlink basename dirname
    """,
    "network": """
    socat http https httpie xh xhs
    """,
    "files": """
    mktemp
    """,
    "search": """
    fd fdfind find
    """,
    "code": """
    python python2 python3 pypy pypy3 py ipython python3.6 python3.7 python3.8 python3.9
    python3.10 python3.11 python3.12 python3.13 python3.14 python3.15 python3.16 python3.17
    python3.18 python3.19 lua5.1 php nodejs deno perl lua5.4 php8.2 node php8.3 ruby lua
    lua5.3 bun php8.1 luajit Rscript
    """,
    "editing": """
    awk gawk mawk nawk goawk sed gsed ssed kak helix joe vimdiff emacs ed vi micro gvim pico
    hx emacsclient red view vim rvim ex nvim nano less more most man info pg pwsh.exe racket
    octave-cli pry gap openocd pwsh tclsh irb guile cmd.exe qjs d8 erl xdotool wish sage
    sbcl ydotool osascript jrunscript runghc clisp xonsh powershell cmd sqlplus elvish csi
    m4 gdb nu powershell.exe hs maxima runhaskell jjs swipl gnuplot janet
    dotnet-script radare2 scala gst expect groovysh jshell ghci lldb r2 bc dc
    """,
    "git": """
    git
    """,
    "shells": """
    ash bash fish rbash tcsh dash ksh csh yash sh zsh mksh . source eval trap
    """,
    "builtins": """
    cd pushd popd chdir echo printf print read mapfile readarray export declare typeset
    local readonly unset let set shopt enable bind complete compgen hash compopt alias
    unalias test [ wait getopts pwd
    """,
    "wrappers": """
    newgrp su runuser sg parallel sem
    rush tmux screen byobu zellij dtach abduco at batch xargs
    """,
}

MODULE_OF: Mapping[str, str] = {
    name: module for module, listed in _NAMES.items() for name in names(listed)
}
