"""A conversation is shown as people read it, followed, and left without ending it."""

import re

from integration.chat.talks import Conversation
from sandbox import SIDING
from terminal import Terminal

TURN = """\
think a long thought
think about it
say hello
run printf 'a\\nb\\nc\\nd\\ne\\nf\\ng\\nh\\ni\\n'; exit 3
edit new.txt fresh
plan the work
ask Which colour?"""
SHOWN = """\

> think a long thought
  think about it
  say hello
  run printf 'a\\nb\\nc\\nd\\ne\\nf\\ng\\nh\\ni\\n'; exit 3
  edit new.txt fresh
  plan the work
  ask Which colour?
~ a long thought …
hello
· printf 'a\\nb\\nc\\nd\\ne\\nf\\ng\\nh\\ni\\n'; exit 3
? may it do that?
  allowed by terminal
  a
  b
  c
  d
  … 3 more lines
  h
  i
· Write new.txt
? may it do that?
  new.txt
  @@ -0,0 +1 @@
  +fresh
  refused by terminal: not now
  not now
· TodoWrite
  planned
  [>] the work
· Which colour?
? Which colour?
    1 Red: warm
    2 Blue
"""


def test_a_story_is_told_with_all_that_belongs_to_a_turn(talk: Conversation) -> None:
    talk.begin(TURN)
    talk.says("wait", status=5)
    talk.says("answer", "--yes")
    talk.says("wait", status=5)
    talk.says("answer", "--no", "--reason", "not now")
    talk.says("wait", status=5)
    shown = talk.sandbox.siding("chat", "show").stdout.decode()
    assert shown.startswith(SHOWN)
    assert re.fullmatch(r"  siding chat answer \S+ --choose OPTION\n", shown.removeprefix(SHOWN))
    assert re.fullmatch(
        r"c1  claude  waits  just now  asks: Which colour\? · think a long thought\n",
        talk.says("list"),
    )
    talk.says("answer", "--choose", "2")
    talk.says("wait")
    talk.sandbox.siding("chat", "send", "say bye")
    talk.says("wait")
    shown = talk.sandbox.siding("chat", "show").stdout.decode()
    assert "--choose" not in shown  # of what was answered it is not said how
    assert "  1.2k in · 800 cached · 34 out\n  recorded as step 1\n\n> say bye\nbye\n" in shown
    last = talk.sandbox.siding("chat", "show", "-n", "1").stdout.decode()
    assert last.startswith("\n> say bye\nbye\n")
    assert talk.says("list", "--all").startswith("talk  c1  claude  idle  just now  think a long")
    assert talk.says() == talk.says("list")


def test_who_leaves_with_ctrl_c_leaves_the_agent_at_work(talk: Conversation) -> None:
    words = [*SIDING, "chat", "claude", talk.busy, "--new", "talk", "--follow"]
    person = Terminal(words, cwd=talk.sandbox.repo, env=talk.sandbox.env)
    person.wait_for(b"at work")
    person.type(b"\x03")
    assert person.finish() == 130
    assert b"c1 goes on without this terminal" in person.seen
    assert talk.row["state"] == "running"

    follower = Terminal(
        [*SIDING, "chat", "show", "--follow"], cwd=talk.sandbox.repo, env=talk.sandbox.env
    )
    follower.wait_for(b"at work")
    talk.sandbox.siding("chat", "send", "say from elsewhere")
    talk.go.touch()
    follower.wait_for(b"\nfrom elsewhere")
    talk.says("wait")
    talk.says("end")
    assert follower.finish() == 0
    assert b"a prompt brings it back" in follower.seen


def test_where_there_is_none_it_is_said_how_to_begin_one(talk: Conversation) -> None:
    talk.sandbox.siding("task", "start", "empty")
    assert "siding chat AGENT PROMPT" in talk.says("list")
    assert (
        talk.says("list", "--all")
        == "siding: no conversation · siding chat AGENT PROMPT begins one\n"
    )
    assert "there is no conversation here" in talk.says("show", status=1)
