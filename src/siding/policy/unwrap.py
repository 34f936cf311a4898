"""Programs that run another program, and how to find that command in their arguments.

A row says which options take a value and how many operands come before the command. A wrapper that
is not in the table is an unknown program; the policy asks about it.
"""

from siding.namedtuples import NamedTuple
from siding.policy.options import arguments


class Wrapper(NamedTuple):
    """The arguments of one wrapper."""

    with_value: tuple[str, ...] = ()
    operands: int = 0  # operands of its own before the command
    assignments: bool = False  # NAME=value may come before the command
    line_options: tuple[str, ...] = ()  # options whose value is a whole command line
    rule: str = ""  # a rule that the wrapper itself matches
    writes: tuple[str, ...] = ()  # options whose value is a file it writes


def _options(text: str) -> tuple[str, ...]:
    return tuple(text.split())


WRAPPERS: dict[str, Wrapper] = {
    "env": Wrapper(
        _options("-u --unset -C --chdir -S --split-string -a --argv0"),
        assignments=True,
        line_options=("-S", "--split-string"),
    ),
    "nice": Wrapper(_options("-n --adjustment")),
    "ionice": Wrapper(_options("-c -n -p -P -u --class --classdata")),
    "chrt": Wrapper(_options("-T -P -D"), operands=1),
    "nohup": Wrapper(),
    "setsid": Wrapper(),
    "timeout": Wrapper(_options("-k -s --kill-after --signal"), operands=1),
    "gtimeout": Wrapper(_options("-k -s --kill-after --signal"), operands=1),
    "time": Wrapper(_options("-f -o --format --output"), writes=("-o", "--output")),
    "stdbuf": Wrapper(_options("-i -o -e --input --output --error")),
    "unbuffer": Wrapper(),
    "chronic": Wrapper(),
    "ifne": Wrapper(),
    "errno": Wrapper(),
    "command": Wrapper(),
    "builtin": Wrapper(),
    "exec": Wrapper(_options("-a")),
    "noglob": Wrapper(),
    "nocorrect": Wrapper(),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "taskset": Wrapper(_options("-p"), operands=1),
    "numactl": Wrapper(_options("-N -m -C -i -l -p --cpunodebind --membind --physcpubind")),
    "prlimit": Wrapper(_options("-p -o --pid --output")),
    "cpulimit": Wrapper(_options("-l -p -e -P")),
    "setarch": Wrapper(operands=1),
    "linux32": Wrapper(),
    "linux64": Wrapper(),
    "i386": Wrapper(),
    "x86_64": Wrapper(),
    "strace": Wrapper(_options("-e -o -p -s -S -u -E -a -P -I -O -b -X -U"), writes=("-o",)),
    "ltrace": Wrapper(_options("-e -o -p -s -S -u -n -l -x -F -a -A -D -w"), writes=("-o",)),
    "truss": Wrapper(_options("-o -p -s -t")),
    "valgrind": Wrapper(_options(""), writes=("--log-file", "--xml-file")),
    "catchsegv": Wrapper(),
    "perf": Wrapper(_options("-e -o -F -c -g -p -t -C"), operands=1),
    "heaptrack": Wrapper(_options("-o")),
    "gdbserver": Wrapper(operands=1),
    "rr": Wrapper(operands=1),
    "eatmydata": Wrapper(),
    "faketime": Wrapper(_options("-f"), operands=1),
    "fakeroot": Wrapper(_options("-l -s -i -b --lib --faked")),
    "fakechroot": Wrapper(),
    "torsocks": Wrapper(),
    "proxychains": Wrapper(_options("-f")),
    "proxychains4": Wrapper(_options("-f")),
    "dbus-launch": Wrapper(),
    "dbus-run-session": Wrapper(_options("--config-file --dbus-daemon")),
    "xvfb-run": Wrapper(
        _options("-e -f -n -p -s -w --error-file --auth-file --server-num --server-args --wait"),
        writes=("-e", "--error-file"),
    ),
    "setpriv": Wrapper(_options("--reuid --regid --groups --inh-caps --bounding-set")),
    "unshare": Wrapper(_options("-R -w -S -G --root --wd --setuid --setgid --map-user")),
    "nsenter": Wrapper(_options("-t -r -w -S -G --target"), rule="become-root"),
    "chroot": Wrapper(_options("--userspec --groups"), operands=1, rule="become-root"),
    "proot": Wrapper(_options("-r -b -w -q -R -S"), rule="become-root"),
    "bwrap": Wrapper(rule="option-runs-program"),
    "firejail": Wrapper(_options("")),
    "systemd-run": Wrapper(
        _options(
            "-p -u -E -M -H -t --property --unit --setenv --on-active "
            "--on-calendar --slice --uid --gid --working-directory "
            "--description"
        ),
        rule="schedule",
    ),
    "systemd-inhibit": Wrapper(_options("--what --who --why --mode")),
    "caffeinate": Wrapper(_options("-t -w")),
    "daemonize": Wrapper(_options("-a -c -e -o -p -l -u -E"), rule="schedule"),
    "start-stop-daemon": Wrapper(_options("-x -p -n -u -c --exec --pidfile"), rule="schedule"),
    "flock": Wrapper(
        _options("-w -E -c --timeout --command --conflict-exit-code"),
        operands=1,
        line_options=("-c", "--command"),
    ),
    "lockfile-exec": Wrapper(operands=1),
    "setlock": Wrapper(operands=1),
    "chpst": Wrapper(_options("-u -U -b -e -/ -n -l -L -m -d -o -p -f -c -r -t")),
    "softlimit": Wrapper(_options("-a -c -d -f -l -m -o -p -r -s -t")),
    "with-contenv": Wrapper(),
    "tini": Wrapper(_options("-p -e")),
    "dumb-init": Wrapper(_options("-r --rewrite")),
    "su-exec": Wrapper(operands=1, rule="become-root"),
    "gosu": Wrapper(operands=1, rule="become-root"),
    "sudo": Wrapper(
        _options(
            "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt "
            "--chdir --role --type --close-from --chroot --other-user"
        ),
        assignments=True,
        rule="become-root",
    ),
    "doas": Wrapper(_options("-u -C"), rule="become-root"),
    "pkexec": Wrapper(_options("--user"), rule="become-root"),
    "run0": Wrapper(
        _options("-u -g -D --user --group --chdir --setenv --unit --property"), rule="become-root"
    ),
    "sudo-rs": Wrapper(_options("-u -g -h -p -C -D -R"), assignments=True, rule="become-root"),
    "gksudo": Wrapper(_options("-u"), rule="become-root"),
    "kdesudo": Wrapper(_options("-u"), rule="become-root"),
    "dzdo": Wrapper(_options("-u"), rule="become-root"),
    "calife": Wrapper(operands=1, rule="become-root"),
    "capsh": Wrapper(line_options=("-c",), with_value=("-c",), rule="become-root"),
    "ld.so": Wrapper(_options("--library-path --preload --audit --argv0"), rule="loads-code"),
    "ld-linux.so.2": Wrapper(_options("--library-path --preload --audit"), rule="loads-code"),
    "ld-linux-x86-64.so.2": Wrapper(
        _options("--library-path --preload --audit"), rule="loads-code"
    ),
    "ld-linux-aarch64.so.1": Wrapper(
        _options("--library-path --preload --audit"), rule="loads-code"
    ),
    "watch": Wrapper(_options("-n -q --interval --equexit")),
    "entr": Wrapper(),
    "hyperfine": Wrapper(
        _options(
            "-w -m -M -r -n -N -p -c -S -L -P --warmup --runs --min-runs --export-json --prepare"
        )
    ),
    "multitime": Wrapper(_options("-n -s -i -o -I")),
    "retry": Wrapper(_options("-d -t -m --delay --times")),
    "loop": Wrapper(),
    "rlwrap": Wrapper(_options("-a -C -D -f -H -s -S")),
    "script": Wrapper(
        _options("-c --command -I -O -B -T -m -o -E --log-out"),
        line_options=("-c", "--command"),
        writes=("-O", "--log-out"),
    ),
    "asciinema": Wrapper(_options("-c --command -t -i"), line_options=("-c", "--command")),
    "tsp": Wrapper(_options("-N -D -L -S"), rule="schedule"),
    "wsl": Wrapper(_options("-d -u --distribution --user --cd")),
    "wsl.exe": Wrapper(_options("-d -u --distribution --user --cd")),
    "wine": Wrapper(rule="unknown-program"),
    "arch": Wrapper(),
    "ssh-agent": Wrapper(_options("-a -t -E -O -P")),
    "keychain": Wrapper(),
}


def command_in(
    wrapper: Wrapper, words: tuple[str, ...]
) -> tuple[list[tuple[str, str]], tuple[str, ...], dict[str, str]]:
    """Split a wrapper's arguments into its options, the command's words, and assignments.

    Options are (name, value) pairs with "" for no value. Assignments are the ``NAME=value`` words
    before the command, as ``env`` and ``sudo`` take them.
    """
    given = arguments(words, wrapper.with_value, stop_at_operand=True)
    rest = list(given.operands)
    assigned: dict[str, str] = {}
    while wrapper.assignments and rest and "=" in rest[0] and not rest[0].startswith("/"):
        name, _, value = rest.pop(0).partition("=")
        assigned[name] = value
    rest = rest[wrapper.operands :]
    if rest and rest[0] == "--":
        rest = rest[1:]
    return [(name, value or "") for name, value in given.options], tuple(rest), assigned
