"""Lines that are short to write and long to judge, each about 10,000 characters long."""

LENGTH = 9_900


def _of(piece: str, *, start: str = "", end: str = "") -> str:
    """Return `start`, as many pieces as there is room for, and `end`."""
    return start + piece * ((LENGTH - len(start) - len(end)) // len(piece)) + end


def _each(piece: str, end: str = "") -> str:
    """Return the piece with one number after the other in it."""
    return "".join(piece.format(number) for number in range(LENGTH // (len(piece) + 3))) + end


# What is asked about, or blocked, because judging it would take too much.
TOO_MUCH: dict[str, str] = {
    "launchers in launchers": _of("sudo ", end="x"),
    "packages in packages": _of("npx ", end="tsc"),
    "options with values": _of("-v a:b ", start="docker run "),
    "variables of make": _of("A=/x ", start="make "),
    "subcommands": _of("a ", start="gcloud "),
    "names put into a shell": _of("{} ", start="ls | xargs -I{} sh -c '", end="'"),
    "many items": _of("a ", start="parallel rm ::: "),
    "a value that doubles": "x=a;" + "x=$x$x;" * 200 + "rm $x",
    "a value that grows twelvefold": _of("x=$x$x$x$x$x$x$x$x$x$x$x$x;", start="x=a;", end="rm $x"),
    "a value appended to itself": _of("x+=$x;", start="x=aaaaaaaa;", end="rm $x"),
    "many long values": _each("v{}=$x$x$x$x;").replace("", "x=" + "a" * 4000 + ";", 1),
    "parentheses": _of("("),
    "parentheses and blanks": _of("((", end="x"),
    "arithmetic": _of("$(("),
    "arithmetic with blanks": _of("$(( "),
    "arithmetic that is none": "echo " + "$(( " * 19 + ") ) " * 38,
    "arithmetic, quotes and parameters": _of('$(("`${x:-$('),
    "subscripts": _of("((a[$("),
    "subscripts that are none": "a[$(" * 20 + "x" + ")]" * 20,
    "eval of eval": _of("eval ", end="x"),
    "eval of a long value": _of('eval "$x$x$x$x";', start="x='" + "echo a;" * 600 + "';"),
    "open braces": _of("{"),
    "braces in braces": _of("{a,", end="b"),
    "braces closed": "echo " + "{" * 4900 + "}" * 4900,
    "braces beside braces": _of("{a,b}"),
    "braces of one": _of("{1..1}"),
    "ranges": "echo {1..2000}{1..2000}",
    "a range with a long end": "echo {1..1999}" + "x" * 9000,
    "many commands": _of("a;"),
    "many commands in the background": _of("a&"),
    "many pipes": _of("a|", end="a"),
    "many subshells": _each("v{}=1;(a);"),
    "many directories": _of("cd a;", end="rm b"),
    "many other ways": _of("cd a||", end="b"),
    "many branches": _of("if a; then x=1; fi;"),
    "branches over many variables": _each("v{}=1;if a;then b;fi;"),
    "many patterns": _of("a) x=1;;", start="case $x in ", end=" esac"),
    "loops in loops": "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do " * 30 + "x;" + "done;" * 30,
    "loops in loops around much": "while a; do " * 30 + "x=1;" * 2300 + "done;" * 30,
    "loops with many turns": _of(
        "rm $i$j;", start="for i in {1..12}; do for j in {1..12}; do ", end="done; done"
    ),
    "functions that call two": _each("f{0}(){{ f1{0}; f1{0}; }};f{0};"),
    "a function that calls itself": _of("f;", start="f(){ ", end="};f"),
    "aliases of aliases": _of("a;", start="alias a='b b'; alias b='a a';"),
    "many conditions": _each("v{}=1;((1));"),
    "arrays": _of('a=("${a[@]}" "${a[@]}");', start="a=(a b c d e f g h);"),
    "positional parameters": _of('set -- "$@" "$@";', start="set -- a b c d e f g h;"),
    "many arguments": _of("a ", start="rm "),
    "the same arguments again": _of('ls "$@";', start="set -- " + "a " * 900 + ";"),
    "arguments that are flags": _of("s", start="curl -"),
    "redirections": _of(">b ", start="a "),
    "redirections of groups": _of("{ a; } >b;"),
    "links and paths": _each("ln -s /x a{};rm b;"),
    "files from elsewhere": _each("curl -o a{} u;sh b;"),
    "here-documents": _of("cat <<A\nx\nA\n"),
    "substitutions": _of("``"),
    "process substitutions": _of("<(a) ", start="cat "),
    "filled in by xargs": f"echo {'b' * 4000} | xargs -I a rm {'a' * 4000}",
    "filled in by parallel": f"parallel {'{}' * 2000} ::: {'a' * 4000}",
    "filled in by find": f"find {'a' * 4000} -exec rm {'{}' * 2000} \\;",
    "what find deletes": "find " + "/a " * 1000 + "-delete " * 600,
    "a format used again": "printf -v x '" + "a" * 3000 + "%s' {1..1999}; rm $x",
    "arguments that are commands": _of("'rm -rf x' ", start="foo "),
    "a shell in a shell": _of("sh -c 'a';"),
    "traps in a trap": _of("trap a b;", start="trap '", end="' EXIT"),
    "wrappers": ("nice " * 11 + "rm a;") * 160,
    "letters without end": _of("rm(", start="node -e '", end="'"),
    "sed that runs": _of("s/a/b/e;", start="sed '", end="'"),
    "more than any line": "echo " + "x" * 200_000,
    "more than anything": "rm -rf / #" + "x" * 5_000_000,
}

# What was slow once, and can be judged now.
ENOUGH: dict[str, str] = {
    "awk that prints": _of("print ", start="awk '{", end=">}'"),
    "modules of JavaScript": _of("import ", start="node -e '", end="'"),
    "Python": "python3 -c '" + "f({x})+" * 1400 + "x'",
    "options nobody knows": _of("--abcdef ", start="kubectl "),
    "statements": _of("select '' ; ", start='psql -c "', end='"'),
    "substitutions of perl": _of("s/a/b/;", start="perl -pe '", end="'"),
    "substitutions that do not end": _of(";s/a", start="perl -pe '", end="'"),
    "a long address": _of("/x", start="curl -d a http://localhost"),
    "a pattern of many sets": _of("[", start="echo ", end="/]"),
    "a pattern of sets": _of("[a]", start="echo "),
    "a name that looks secret": _of("private", start="cat "),
    "directories with a dot": _of(".a/", start="echo x > "),
    "slashes of JavaScript": _of("a/", start="node -e '", end="'"),
    "labels of sed": "sed '" + "b;" * 2000 + "'",
    "blank lines of SQL": _of("\n", start="psql -c '", end="x'"),
    "a message with blanks": _of(" ", start='node -e \'console.log("a")', end="x'"),
    "a remote of dots": _of("a.", start="git push ", end=" b"),
    "a format without values": "printf '%%' a",
    "a comparison of awk": _of(">", start="awk '{ print (", end="}'"),
    "a web address": _of("?", start='curl "$x/', end='"'),
    "a here-document of a file": _of("text of a line\n", start="cat >f <<'A'\n", end="A\n") * 5,
    "the shell's own name": "bash -c '$0 -x' '\\d'",
    "one word": _of("x", start="echo ") * 4,
    "comments": _of("# of what follows\n", end="true"),
    "an ordinary script": 'if [ -e a ]; then\n  grep -n "b" a | head -n 3\nfi\n' * 60,
}
