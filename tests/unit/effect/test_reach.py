"""Which commands may be tried: those whose effect is on files of the workspace alone."""

import pytest

from siding.effect.reach import Reach, reach_of
from siding.shellguard.face import JudgingPlace

PLACE = JudgingPlace(
    cwd="/w/src", workspace="/w", home="/home/me", agents=frozenset({"claude"}), obeyed=()
)
HIDDEN = ("/home/me", "/tmp")


def reach(line: str, place: JudgingPlace = PLACE) -> Reach:
    return reach_of(line, place, {"PATH": "/usr/bin", "KNOWN": "build"}, HIDDEN)


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf build/",
        "rm -rf /w/build $KNOWN",
        "rm -rf *",
        "sed -i s/a/b/ x.py && git checkout -- . && git status",
        "find . -name '*.pyc' | xargs rm -f",
        "find . -type f -exec rm {} +",
        "bash -c 'rm -rf build'",
        "f() { rm x; }; f",
        "for f in *.txt; do mv $f $f.old; done",
        "cat >x <<'E'\nhi\nE",
        "/bin/rm x; env A=1 timeout 5 rm y",
        "cat /etc/passwd >x",
        "ruff check --fix .",
    ],
)
def test_of_files_alone(line: str) -> None:
    assert reach(line).why_not == ""


@pytest.mark.parametrize(
    "line",
    [
        "",
        "# nothing",
        "curl https://e.org",
        "rm x; curl https://e.org",
        "echo $(curl https://e.org)",
        "cat <(curl x)",
        "find . -exec curl {} ;",
        "xargs -a list curl",
        "env curl x",
        "f() { curl x; }; f",
        "echo x >/dev/tcp/a/80",
        "git push",
        "git fetch",
        "git commit -m x",
        "git -C /w push",
        "git stash drop",
        "git -c core.pager=x log",
        "git grep -Ocurl x",
        "npm install",
        "pip install x",
        "make clean",
        "pytest",
        "python -c 'import socket'",
        "python x.py",
        "perl -pi -e s/a/b/ x",
        "awk 'BEGIN{system(\"curl x\")}'",
        "sed -i '1e curl x' f",
        "tar -I 'curl x' -xf a",
        "./clean.sh",
        "bash clean.sh",
        "sh ./clean.sh -c",
        ". ./clean.sh",
        "bash <clean.sh",
        "printf 'curl x' | sh",
        "eval 'rm x'",
        "frobnicate",
        "./rm x",
        "/w/bin/rm x",
        "PATH=.:$PATH rm x",
        "LD_PRELOAD=./x.so rm x",
        "alias rm=curl; rm x",
        "$PROGRAM x",
        "rm -rf $UNKNOWN",
        "rm -rf $(cat list)",
        "echo $UNKNOWN >x",
        "sudo rm x",
        "docker ps",
        "psql -c 'drop table x'",
        "ssh a rm x",
        "kill 1",
        "claude -p x",
        "siding undo",
        "rm -rf ../../x",
        "rm -rf ~/x",
        "cp x /home/me/y",
        "cp /tmp/x y",
        "cat /home/me/.netrc >y",
        "ln -s /etc/passwd x && rm x",
        "rm 'unclosed",
    ],
)
def test_what_reaches_further_or_is_not_understood(line: str) -> None:
    assert reach(line).why_not


def test_what_lies_outside_is_named() -> None:
    assert reach("echo x >/tmp/y; rm z").notes == (
        "not shown: /tmp/y, which lies outside the workspace",
    )
    outside = PLACE._replace(cwd="/elsewhere")
    assert "outside the workspace" in reach("rm x", outside).why_not
    beside = PLACE._replace(cwd="/web")
    assert "outside the workspace" in reach("rm x", beside).why_not


def test_what_it_may_change() -> None:
    gone = reach("rm -rf build; rm -f other.log; sed -i s/a/b/ x/y")
    assert gone.may_change("/w/src/build")
    assert gone.may_change("/w/src/build/below")
    assert gone.may_change("/w/src/x")
    assert not gone.may_change("/w/build")
    assert not gone.may_change("/w/src/buildings")
    assert reach("rm -rf ../*").may_change("/w/node_modules")
    assert not reach("rm *.log").may_change("/w/src/node_modules")


def test_git_that_writes_is_known_as_such() -> None:
    assert reach("git reset --hard HEAD").uses_git
    assert not reach("git status").uses_git
