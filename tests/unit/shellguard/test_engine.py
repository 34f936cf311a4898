"""The engine: argument lists, parts, what it knows of the shell, the project's own rules."""

import os
import re
from importlib import import_module
from pathlib import Path

import pytest

from siding.shellguard.face import Action, Effect, JudgingPlace, Policy, ToolUse
from siding.shellguard.programs.rows import MODULE_OF
from siding.shellguard.rules import BUILT_IN, Rule

from .setting import PLACE, judged, judged_words, rules_of


def test_an_argument_list_is_not_read_by_a_shell() -> None:
    assert judged_words("echo", "$(rm -rf /); x").runs
    assert judged_words("rm", "-rf", "*").runs, "a file of that name"
    assert judged_words("rm", "-rf", "build").runs


def test_a_shell_in_an_argument_list_is_unwrapped() -> None:
    verdict = judged_words("bash", "-c", "cd /tmp && sudo rm -rf ~")
    assert verdict.action is Action.BLOCK
    via = {part.text: part.via for part in verdict.parts}
    assert via["rm -rf /home/dev"] == ("bash -c", "sudo")


def test_no_program_is_a_question() -> None:
    assert not Policy().judge([], PLACE).runs
    assert not judged_words("").runs


def test_the_most_severe_part_decides() -> None:
    verdict = judged("make; git reset --hard; rm -rf /srv")
    assert [part.action for part in verdict.parts] == [Action.ALLOW, Action.ASK, Action.BLOCK]
    assert verdict.action is Action.BLOCK


def test_events_are_records_of_the_bar_tool_and_more() -> None:
    (event,) = judged("rm -rf /srv").events()
    assert event["rule"] == "delete-outside"
    assert event["action"] == "block"
    assert event["matched"] == "/srv"
    assert event["command"] == "rm -rf /srv"


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("cd build && rm -rf *", True),
        ("cd build; rm -rf *", False),  # the cd may fail
        ("cd build || exit 1; rm -rf out", True),
        ("cd ~ && cd /repos/proj/build && rm -rf x", True),
        ("cd ~; cd /repos/proj; rm -rf x", False),
        ("x=build; rm -rf $x", True),
        ("x=~; false && x=build; rm -rf $x", False),
        ("x=build; if true; then x=/srv; fi; rm -rf $x", False),
        ("x=build; while true; do rm -rf $x; x=/srv; done", False),
        ('f() { rm -rf "$1"; }; f build', True),
        ('f() { rm -rf "$1"; }; f /srv', False),
        ("f() { rm -rf $x; }; x=/srv; f", False),
        ("(cd /srv); rm -rf build", True),
        ("cd /srv | cat; rm -rf build", True),
        ('D=$(mktemp -d); rm -rf "$D"', True),
        ("rm -rf /tmp/x-$$", True),
        ("rm -rf /tmp/$x", False),
        ("ls *.orig | xargs rm", True),
        ("cat list | xargs rm", True),
        ("xargs rm -f < list", True),
        ('while read -r f; do rm -f "$f"; done < list', True),
        ("cat list | xargs rm -rf", False),
        ("cat ../list | xargs rm", False),
        ("curl https://example.org/list | xargs rm", False),
        ("cat list | xargs -I{} sh -c {}", False),
        ("while read -r c; do $c; done < list", False),
        ("echo build | xargs rm -rf", True),
    ],
)
def test_what_the_shell_would_know_is_known(line: str, runs: bool) -> None:
    assert judged(line).runs is runs


def test_links_are_followed(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "work", tmp_path / "elsewhere"
    (workspace / "real").mkdir(parents=True)
    outside.mkdir()
    (workspace / "link").symlink_to(outside)
    place = JudgingPlace(
        cwd=str(workspace),
        workspace=str(workspace),
        home="/home/dev",
        agents=frozenset(),
        obeyed=(),
        temporary=(),
        resolve=os.path.realpath,
    )
    for line, runs in (
        ("rm -rf real/", True),
        ("rm -rf link", True),  # the link itself
        ("rm -rf link/", False),
        ("rm -rf link/*", False),
        ("echo x > link/file", False),
        ("cp a link/", False),
        ("cd link && rm -rf x", False),
        ("rm -rf */*", False),  # the shell goes through the link
        ("rm -rf l*/x", False),
        ("rm -rf real/*/link/x", True),  # there is no directory in between
        ("rm -rf *[a-z]/*/*", False),
        ("rm -rf re*/*", True),
        ("rm -f *", False),  # everything
        ("rm -f l*", True),
        ("touch */x", False),
        ("chmod -R u+w *", False),
        ("for d in */; do rm -rf $d/x; done", False),
    ):
        assert Policy().judge(line, place).runs is runs, line


def test_what_follows_links_reads_no_credentials_through_them(tmp_path: Path) -> None:
    workspace, home = tmp_path / "work", tmp_path / "home"
    (workspace / "src/deep").mkdir(parents=True)
    (workspace / "own").mkdir()
    (home / ".ssh").mkdir(parents=True)
    (workspace / "src/deep/link").symlink_to(home)
    (workspace / "own/link").symlink_to(workspace / "src/deep")
    place = PLACE._replace(
        cwd=str(workspace),
        workspace=str(workspace),
        home=str(home),
        temporary=("/tmp",),
        resolve=os.path.realpath,
        exists=os.path.exists,
    )
    for line, plain in (
        ("cp -rL {} out", "cp -r {} out"),
        ("tar -chf a.tar {}", "tar -cf a.tar {}"),
        ("rsync -aL {}/ out/", "rsync -a {}/ out/"),
        ("grep -R token {}", "grep -r token {}"),
        ("rg -L token {}", "rg token {}"),
        ("zip -r a.zip {}", "zip a.zip {}"),
        ("chown -RL dev {}", "chown -R dev {}"),
    ):
        assert not Policy().judge(line.format("src"), place).runs, line
        assert Policy().judge(line.format("own"), place).runs, line
        assert Policy().judge(plain.format("src"), place).runs, plain
    assert not Policy().judge("cat src/deep/*/.ssh/id_rsa", place).runs


def test_variables_the_caller_knows_are_used() -> None:
    line = 'rm -rf "$OUT"/x'
    assert not judged(line).runs
    assert Policy().judge(line, PLACE, env={"OUT": "/repos/proj/build"}).runs
    assert Policy().judge(line, PLACE, env={"OUT": ""}).action is Action.BLOCK


def _rule(name: str, pattern: str, action: Action) -> Rule:
    return Rule(name=name, group="project", action=action, reason="r", pattern=re.compile(pattern))


def test_a_projects_rule_sees_every_simple_command() -> None:
    policy = Policy(rules=(_rule("no-make", r"^make\b", Action.BLOCK),))
    for line in (
        "make",
        "true && make x",
        "sh -c 'make x'",
        "env A=1 make",
        "$(make)",
        "xargs make",
        "find . -exec make {} \\;",
        "'ma'ke",
    ):
        assert judged(line, policy).action is Action.BLOCK, line
    assert judged("cmake .", policy).runs


def test_a_projects_rule_sees_the_line_as_a_whole_too() -> None:
    policy = Policy(rules=(_rule("no-pipe", r"cat .*\| *head", Action.BLOCK),))
    assert judged("cat x | head", policy).action is Action.BLOCK


def test_warn_and_log_let_run() -> None:
    policy = Policy(rules=(_rule("w", "make", Action.WARN), _rule("l", "make", Action.LOG)))
    verdict = judged("make", policy)
    assert verdict.runs
    assert verdict.action is Action.WARN
    assert rules_of(verdict) == {"w", "l"}


def test_allow_answers_a_question_and_never_lifts_a_block() -> None:
    policy = Policy(rules=(_rule("ok", r"git reset --hard|rm -rf /srv", Action.ALLOW),))
    assert judged("git reset --hard", policy).runs
    assert not judged("git reset --hard HEAD~9", policy).runs, "only the whole command"
    assert judged("rm -rf /srv", policy).action is Action.BLOCK
    assert not judged("git reset --hard; git clean -fd", policy).runs, "only that part"


def test_rules_and_sets_are_switched_off_by_name() -> None:
    assert judged("git reset --hard", Policy(off=frozenset({"git-discards"}))).runs
    assert judged("git push --force", Policy(off=frozenset({"git"}))).runs
    assert not judged("git push --force", Policy(off=frozenset({"git-discards"}))).runs


def test_a_rules_action_is_changed_by_name() -> None:
    policy = Policy(actions={"delete-outside": Action.WARN})
    assert judged("rm -rf /srv", policy).action is Action.WARN


def test_programs_and_directories_of_the_project_are_known() -> None:
    policy = Policy(programs={"frobnicate": "project"})
    assert judged("frobnicate --all", policy).runs
    place = PLACE._replace(writable=("/data/out",))
    assert Policy().judge("rm -rf /data/out/x", place).runs
    assert not Policy().judge("rm -rf /data/out", place).runs


def test_a_broken_policy_blocks_everything() -> None:
    verdict = judged("ls", Policy(broken="line 3: no"))
    assert verdict.action is Action.BLOCK
    assert verdict.findings[0].matched == "line 3: no"


def test_every_built_in_rule_is_reached() -> None:
    """A rule nothing names protects nobody."""
    from .dangerous_lines import ASKED, BLOCKED
    from .family_lines import LET_THROUGH

    tables = (BLOCKED, ASKED, LET_THROUGH)
    lines = [line for table in tables for group in table.values() for line in group]
    reached = {rule for line in lines for rule in rules_of(judged(line))}
    reached |= rules_of(Policy().judge(ToolUse("x", ((Effect.UNKNOWN, "{}"),)), PLACE))
    assert set(BUILT_IN) - reached == set()


@pytest.mark.parametrize("function", MODULE_OF)
def test_every_function_that_a_row_may_name_is_found(function: str) -> None:
    module = import_module(f"siding.shellguard.programs.{MODULE_OF[function]}")
    assert callable(getattr(module, function))
