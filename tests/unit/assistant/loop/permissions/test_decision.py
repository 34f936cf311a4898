"""Which calls are allowed, asked about and denied: families of cases."""

import pytest

from siding.assistant.loop.permissions.decision import is_read_denied
from siding.assistant.loop.permissions.rules import PermissionMode
from siding.assistant.tools.port import Use

from .ground import GROUND, bash, fetch, file, outcome, rules

# A line of shell, and what becomes of it when commits, tests and `make` are allowed.
ALLOW = "Bash(git commit:*); Bash(npm test:*); Bash(make check); Bash(npm run * --dry)"
LINES = [
    # One command.
    ("git commit -m x", "allow"),
    ("git commit", "allow"),
    ("git  commit   -m 'a b'", "allow"),
    ('"git" commit', "allow"),
    ("g\\it commit", "allow"),
    ("git commit-tree x", "ask"),
    ("git push", "ask"),
    ("gitcommit", "ask"),
    ("make check", "allow"),
    ("make check all", "ask"),
    ("npm run build --dry", "allow"),
    ("npm run build", "ask"),
    ("npm run  a b --dry", "allow"),
    # Several.
    ("git commit -m x && npm test", "allow"),
    ("git commit -m x; rm -rf src", "ask"),
    ("git commit -m x || npm test | tee log", "ask"),
    ("git commit -m x\nrm a", "ask"),
    ("git commit -m x & rm a", "ask"),
    ("rm a && git commit", "ask"),
    ("(git commit -m x; npm test)", "allow"),
    ("{ git commit; rm a; }", "ask"),
    ("if npm test; then git commit -m x; fi", "allow"),
    ("if npm test; then git push; fi", "ask"),
    ("for x in 1 2; do npm test $x; done", "allow"),
    ("for x in 1 2; do rm $x; done", "ask"),
    ("while npm test; do :; done", "allow"),
    ("f() { npm test; }; f", "allow"),
    ("f() { rm a; }; f", "ask"),
    ("f() { rm a; }; git commit", "ask"),
    ("git() { rm a; }; git commit", "ask"),
    ("alias git='rm -rf'; git commit", "ask"),
    # With what only reads.
    ("cd src && npm test", "allow"),
    ("git log --oneline | head -3 && git commit", "allow"),
    ("git commit && cat /etc/hostname", "ask"),
    ("git status && git diff", "allow"),
    ("cat src/a.py | grep -n x | wc -l", "allow"),
    ("cat ~/notes", "ask"),
    ("cat src/*.py", "allow"),
    ("cat out/passwd", "ask"),
    ("cat .env", "ask"),
    ("cd .. && ls", "ask"),
    ("cd out && git status", "ask"),
    ("cd $X && ls", "ask"),
    ("cd src && ls", "allow"),
    ("ls $X", "ask"),
    ("x=1; echo $x", "allow"),
    ("sort -o a b", "ask"),
    ("find . -delete", "ask"),
    ("cat < src/a", "allow"),
    ("cat < /etc/passwd", "ask"),
    # Commands in words.
    ('git commit -m "$(cat src/a)"', "allow"),
    ('git commit -m "$(rm a)"', "ask"),
    ("git commit -m `rm a`", "ask"),
    ("git commit -F <(rm a)", "ask"),
    ("git commit -m $X", "allow"),
    ("$X commit", "ask"),
    ("git $X", "ask"),
    ("eval 'git commit'", "ask"),
    ("bash -c 'git commit'", "ask"),
    ("echo a | xargs npm test", "ask"),
    # Redirections.
    ("git commit -m x > /dev/null 2>&1", "allow"),
    ("git commit -m x > log", "ask"),
    ("npm test >> ~/.bashrc", "ask"),
    ("git commit -F - <<'E'\ntext\nE", "allow"),
    ("git commit -F - <<E\n$(rm a)\nE", "ask"),
    # Variables.
    ("CI=1 npm test", "allow"),
    ("PATH=/tmp:$PATH npm test", "ask"),
    ("LD_PRELOAD=./x.so npm test", "ask"),
    ("GIT_EDITOR='rm a' git commit", "ask"),
    ("PATH=.; git commit", "ask"),
    ("export PATH=.; git commit", "ask"),
    ("n=3; npm test $n", "allow"),
    # What starts it.
    ("timeout 60 npm test", "allow"),
    ("nice -n 5 npm test", "allow"),
    ("timeout 60 rm a", "ask"),
    ("sudo npm test", "ask"),
    ("env FOO=1 npm test", "ask"),
    ("./timeout 60 npm test", "ask"),
    # What is no line.
    ("git commit -m 'x", "ask"),
    ("git commit && ", "ask"),
    ("git commit \u202e", "ask"),
    ("git commit\x01", "ask"),
    ("", "ask"),
    ("# nothing", "ask"),
]


@pytest.mark.parametrize(("line", "wanted"), LINES)
def test_a_line_is_allowed_if_all_of_it_is(line: str, wanted: str) -> None:
    assert outcome(bash(line), rules(allow=ALLOW)) == wanted
    if wanted == "ask":
        assert outcome(bash(line), rules(allow=ALLOW), PermissionMode.DONT_ASK) == "deny"


DENIED = "Bash(rm:*); Bash(git push:*); Bash(* --force); Bash(curl *)"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("rm a", "deny"),
        ("rm", "deny"),
        ("rmdir a", "allow"),
        ("/bin/rm a", "deny"),
        ("r'm' a", "deny"),
        ("true && rm a", "deny"),
        ("sudo rm a", "deny"),
        ("bash -c 'rm a'", "deny"),
        ("sh -c \"bash -c 'rm a'\"", "deny"),
        ("find . -exec rm {} +", "deny"),
        ("ls | xargs rm", "deny"),
        ("echo $(rm a)", "deny"),
        ("X=1 rm a", "deny"),
        ("x=rm; $x a", "deny"),
        ("f() { rm a; }", "deny"),
        ("while :; do rm a; done", "deny"),
        ("git push", "deny"),
        ("git -C . push", "deny"),
        ("git -c a=b --no-pager push origin", "deny"),
        ("git status", "allow"),
        ("deploy --force", "deny"),
        ("curl https://a.example", "deny"),
        ("eval rm a", "deny"),
        ("timeout 5 rm a", "deny"),
        ("$X a", "ask"),
        ("$X", "ask"),
        ("git $X", "ask"),
        ("$X push origin", "ask"),
        ("$X pull", "ask"),
        ("eval $X", "ask"),
        ("rm 'a", "ask"),
        ("echo $X", "ask"),
        ("echo a", "allow"),
    ],
)
@pytest.mark.parametrize("mode", [PermissionMode.DEFAULT, PermissionMode.BYPASS])
def test_what_a_rule_denies_is_denied_however_it_is_written(
    line: str, wanted: str, mode: PermissionMode
) -> None:
    assert outcome(bash(line), rules(allow="Bash", deny=DENIED), mode) == wanted


@pytest.mark.parametrize(
    ("call", "allow", "wanted"),
    [
        (file("Read", "src/a.py"), "", "allow"),
        (file("Read", "/w/src/a.py"), "", "allow"),
        (file("Read", "/extra/a"), "", "allow"),
        (file("Read", "/results/x.txt"), "", "allow"),
        (file("Read", "/etc/passwd"), "", "ask"),
        (file("Read", "../x"), "", "ask"),
        (file("Read", "out/passwd"), "", "ask"),
        (file("Read", "out/passwd"), "Read(out/**)", "ask"),
        (file("Read", "out/passwd"), "Read(out/**); Read(//etc/**)", "allow"),
        (file("Read", "/etc/passwd"), "Read(//etc/**)", "allow"),
        (file("Read", "~/x"), "Read(~/x)", "allow"),
        (file("Read", "~/x/y"), "Read(~/x)", "allow"),
        (file("Read", "~/xy"), "Read(~/x)", "ask"),
        (file("Read", "/data/x"), "Read(~/data/**)", "ask"),
        (file("Read", "~/x"), "Edit(~/**)", "allow"),
        (file("Read", "~/x"), "Read", "allow"),
        (file("Grep", "~/x"), "Read(~/**)", "allow"),
        (file("Grep", "~/x"), "Read", "ask"),
        (file("Edit", "src/a.py"), "", "ask"),
        (file("Edit", "src/a.py"), "Edit(src/**)", "allow"),
        (file("Write", "src/a.py"), "Edit(src/**)", "allow"),
        (file("Write", "src/a.py"), "Edit", "ask"),
        (file("Edit", "src/a.py"), "Read(src/**)", "ask"),
        (file("Edit", "src"), "Edit(src/**)", "ask"),
        (file("Edit", "src/a/b/c.py"), "Edit(src/*)", "allow"),
        (file("Edit", "src/a.js"), "Edit(*.py)", "ask"),
        (file("Edit", "src/a.py"), "Edit(*.py)", "allow"),
        (file("Edit", "src/a.py"), "Edit(/*.py)", "ask"),
        (file("Edit", "a.py"), "Edit(/*.py)", "allow"),
        (file("Edit", "src/deep/a.py"), "Edit(src/**/a.py)", "allow"),
        (file("Edit", "src/a.py"), "Edit(src/**/a.py)", "allow"),
        (file("Edit", "src/b.py"), "Edit(src/[a-c].py)", "allow"),
        (file("Edit", "src/b.py"), "Edit(src/[!b].py)", "ask"),
        (file("Edit", "src/b.py"), "Edit(src/?.py)", "allow"),
        (file("Edit", "into/a.py"), "Edit(into/**)", "ask"),
        (file("Edit", "into/a.py"), "Edit(into/**); Edit(src/**)", "allow"),
        (file("Edit", "Src/a.py"), "Edit(src/**)", "ask"),
        (fetch("https://docs.example.org/x"), "", "ask"),
        (fetch("https://docs.example.org/x"), "WebFetch(domain:docs.example.org)", "allow"),
        (fetch("https://DOCS.example.org:8080/x"), "WebFetch(domain:docs.example.org)", "allow"),
        (fetch("https://docs.example.org/x"), "WebFetch(domain:example.org)", "ask"),
        (fetch("https://docs.example.org/x"), "WebFetch(domain:*.example.org)", "allow"),
        (fetch("https://badexample.org/x"), "WebFetch(domain:*.example.org)", "ask"),
        (
            fetch("https://docs.example.org@evil.example/"),
            "WebFetch(domain:docs.example.org)",
            "ask",
        ),
        (
            fetch("https://docs.example.org\\@evil.example/"),
            "WebFetch(domain:*.example.org)",
            "ask",
        ),
        (fetch("file:///etc/passwd"), "WebFetch(domain:example.org)", "ask"),
        (fetch("https://x.example"), "WebFetch", "allow"),
        (("mcp__git__log", Use(), False), "", "ask"),
        (("mcp__git__log", Use(), False), "mcp__git", "allow"),
        (("mcp__git__log", Use(), False), "mcp__git__*", "allow"),
        (("mcp__git__log", Use(), False), "mcp__git__log", "allow"),
        (("mcp__git__log", Use(), False), "mcp__git__l*", "allow"),
        (("mcp__git__log", Use(), False), "mcp__gi", "ask"),
        (("mcp__github__log", Use(), False), "mcp__git", "ask"),
        (("Task", Use("review"), False), "Task(review)", "allow"),
        (("Task", Use("build"), False), "Task(review)", "ask"),
        (("Skill", Use("deploy now"), False), "Skill(deploy *)", "allow"),
        (("TodoWrite", Use(in_conversation=True), False), "", "allow"),
        (bash("ls > src/list"), "Edit(src/**)", "allow"),
        (bash("ls > list"), "Edit(src/**)", "ask"),
        (bash("ls > src/$X"), "Edit(src/**)", "ask"),
        (bash("cat ~/x"), "Read(~/**)", "allow"),
        (bash("touch src/a"), "Edit(src/**)", "ask"),
        (bash("a && b"), "Bash(a && b)", "allow"),
        (bash("a && c"), "Bash(a && b)", "ask"),
        (bash("a 'b c'"), "Bash(a 'b c')", "allow"),
        (bash("a b c"), "Bash(a 'b c')", "ask"),
        (bash("a (b"), "Bash", "allow"),
        (bash("anything | at all"), "Bash(*)", "allow"),
        (bash("ls"), "", "allow"),
        (bash("ls -la"), "Bash(ls *)", "allow"),
        (bash("lsof"), "Bash(ls *)", "ask"),
        (bash("lsof"), "Bash(ls*)", "allow"),
    ],
)
def test_what_an_allow_rule_covers(call: tuple[str, Use, bool], allow: str, wanted: str) -> None:
    assert outcome(call, rules(allow=allow)) == wanted


@pytest.mark.parametrize(
    ("call", "deny", "wanted"),
    [
        (file("Read", ".env"), "Read(.env)", "deny"),
        (file("Read", "a/.env"), "Read(.env)", "deny"),
        (file("Read", "~/.env"), "Read(.env)", "deny"),
        (file("Read", ".ENV"), "Read(.env)", "deny"),
        (file("Read", "a.env"), "Read(.env)", "allow"),
        (file("Grep", ".env"), "Read(.env)", "deny"),
        (file("Read", "into/x"), "Read(src/**)", "deny"),
        (file("Read", "into/x"), "Read(into/**)", "deny"),
        (file("Read", "out/x"), "Read(//etc/**)", "deny"),
        (file("Read", "/extra/keys/a"), "Read(keys/**)", "deny"),
        (file("Read", "/extra/keys/a"), "Read(keys/a)", "deny"),
        (file("Edit", "src/a"), "Edit(src/**)", "deny"),
        (file("Write", "src/a"), "Edit(src/**)", "deny"),
        (file("Edit", "src/a"), "Write(src/**)", "deny"),
        (file("Edit", "src/a"), "Read(src/**)", "allow"),
        (file("Edit", "src/a"), "Edit", "deny"),
        (file("Write", "src/a"), "Edit", "allow"),
        (bash("cat .env"), "Read(.env)", "deny"),
        (bash("head -1 ./a/../.env"), "Read(.env)", "deny"),
        (bash("cat < .env"), "Read(.env)", "deny"),
        (bash("cd a && cat .env"), "Read(a/.env)", "deny"),
        (bash("cat .e*"), "Read(.env)", "ask"),
        (bash("cat *.py"), "Read(.env)", "allow"),
        (bash("grep -r x ."), "Read(.env)", "ask"),
        (bash("bash -c 'cat .env'"), "Read(.env)", "deny"),
        (bash("cat $X"), "Read(.env)", "ask"),
        (bash("cp a src/b"), "Edit(src/**)", "deny"),
        (bash("echo x > src/b"), "Edit(src/**)", "deny"),
        (bash("sed -i s/a/b/ src/b"), "Edit(src/**)", "deny"),
        (bash("rm src/b"), "Edit(src/**)", "deny"),
        (bash("rm -r src"), "Edit(src/keep)", "ask"),
        (bash("cat src/b"), "Edit(src/**)", "allow"),
        (fetch("https://evil.example/x"), "WebFetch(domain:evil.example)", "deny"),
        (fetch("https://good.example/x"), "WebFetch(domain:evil.example)", "allow"),
        (fetch("https://a@evil.example/x"), "WebFetch(domain:evil.example)", "ask"),
        (("mcp__git__log", Use(), False), "mcp__*", "deny"),
        (("mcp__git__log", Use(), False), "*", "deny"),
        (("Task", Use("review"), False), "Task(review)", "deny"),
        (("Task", Use("build"), False), "Task(review)", "allow"),
    ],
)
def test_what_a_deny_rule_covers(call: tuple[str, Use, bool], deny: str, wanted: str) -> None:
    everything = "Bash; Read; Edit; Write; Grep; WebFetch; Task; mcp__git"
    assert outcome(call, rules(allow=everything, deny=deny)) == wanted
    asked = outcome(call, rules(allow=everything, ask=deny))
    assert asked == ("allow" if wanted == "allow" else "ask")


@pytest.mark.parametrize(
    ("call", "outcomes"),
    [  # default, acceptEdits, plan, dontAsk, bypassPermissions
        (file("Read", "a"), "allow allow allow allow allow"),
        (file("Read", "/etc/a"), "ask ask ask deny allow"),
        (file("Edit", "a"), "ask allow deny deny allow"),
        (file("Write", "/extra/a"), "ask allow deny deny allow"),
        (file("Write", "/other/a"), "ask ask deny deny allow"),
        (file("Write", "out/a"), "ask ask deny deny allow"),
        (file("Write", ".git/hooks/a"), "ask ask deny deny allow"),
        (file("Write", ".claude/settings.json"), "ask ask deny deny allow"),
        (file("Write", "/extra/.claude/settings.json"), "ask ask deny deny allow"),
        (bash("ls"), "allow allow deny allow allow"),
        (bash("make"), "ask ask deny deny allow"),
        (bash("ls > a"), "ask allow deny deny allow"),
        (bash("ls > .git/a"), "ask ask deny deny allow"),
        (("Bash", Use("ls", command="ls"), True), "allow allow allow allow allow"),
        (("Bash", Use("cat ~/x", command="cat ~/x"), True), "ask ask ask deny allow"),
        (fetch("https://a.example"), "ask ask ask deny allow"),
        (("Task", Use("x"), False), "ask ask deny deny allow"),
    ],
)
def test_what_the_modes_do_without_rules(call: tuple[str, Use, bool], outcomes: str) -> None:
    modes = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")
    found = [outcome(call, mode=PermissionMode(mode)) for mode in modes]
    assert found == outcomes.split()


def test_a_long_command_is_compared_with_what_it_begins_with_and_else_asked_about() -> None:
    commit = bash(f"git commit -m '{'a b ' * 20_000}'")
    assert outcome(commit, rules(allow="Bash(git commit:*)")) == "allow"
    assert outcome(commit, rules(allow="Bash(git * -m *)")) == "ask"
    assert outcome(commit, rules(allow="Bash", deny="Bash(rm:*)")) == "allow"
    assert outcome(commit, rules(allow="Bash", deny="Bash(git commit:*)")) == "deny"
    assert outcome(commit, rules(allow="Bash", deny="Bash(* --force)")) == "ask"


def test_a_rule_that_asks_goes_before_one_that_allows_and_before_the_mode() -> None:
    given = rules(allow="Bash(git:*)", ask="Bash(git push:*)")
    assert outcome(bash("git fetch"), given) == "allow"
    assert outcome(bash("git push"), given) == "ask"
    assert outcome(bash("git push"), given, PermissionMode.BYPASS) == "ask"
    assert outcome(bash("git push"), given, PermissionMode.DONT_ASK) == "deny"


def test_a_search_can_ask_which_files_it_has_to_leave_out() -> None:
    given = rules(deny="Read(.env); Read(secrets/**); Edit(src/**)")
    assert is_read_denied("/w/a/.env", given, GROUND)
    assert is_read_denied("/w/secrets/x", given, GROUND)
    assert not is_read_denied("/w/src/a.py", given, GROUND)
