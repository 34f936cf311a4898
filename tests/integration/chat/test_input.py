"""What a prompt is made of: a word, input, pictures; and what is none."""

import subprocess

from agents.talking.rows import PICTURE
from integration.chat.talks import Conversation
from sandbox import SIDING

MEGABYTES = 3 << 20


def test_a_prompt_is_a_word_or_what_comes_from_input(talk: Conversation) -> None:
    talk.sandbox.siding("chat", "claude", "-", "--new", "talk", stdin=b"from input\n\n")
    talk.until_text("You said: from input\n")
    # A pipe is read without being named, as `git diff | siding chat send`.
    piped = f"printf 'piped\\n' | {' '.join(SIDING)} chat send"
    done = subprocess.run(
        ["sh", "-c", piped], cwd=talk.sandbox.repo, env=talk.sandbox.env, check=False
    )
    assert done.returncode == 0
    talk.until_text("You said: piped\n")
    large = "x" * MEGABYTES
    talk.says("send", "-", stdin=f"say {large}".encode())
    talk.until_text(large)
    talk.says("send", "say \x1b[31mred\x07 \u202e")
    talk.turns(4)
    shown = talk.sandbox.siding("chat", "show").stdout
    assert b"\x1b" not in shown
    assert b"\\x1b[31mred\\x07 \\u202e" in shown


def test_what_is_no_prompt_is_refused_before_anything_is_made(talk: Conversation) -> None:
    def refused(*words: str, stdin: bytes | None = None) -> str:
        done = talk.sandbox.siding("chat", *words, stdin=stdin, status=2)
        return done.stderr.decode()

    (talk.sandbox.repo / "text.png").write_text("a text")
    assert "byte 1 is not UTF-8" in refused("claude", "-", "--new", "t", stdin=b"a\xff\xfe")
    assert "NUL" in refused("claude", "-", "--new", "t", stdin=b"a\0b")
    assert "is empty" in refused("claude", "  ", "--new", "t")
    assert "is too long" in refused("claude", "-", "--new", "t", stdin=b"x" * (5 << 20))
    assert "is no picture" in refused("claude", "x", "--new", "t", "--picture", "text.png")
    assert "cannot be read" in refused("claude", "x", "--new", "t", "--picture", "none.png")
    assert "no desktop" in refused("claude", "x", "--new", "t", "--paste")
    assert "both come from input" in refused("claude", "-", "--new", "t", "--picture", "-")
    assert not list((talk.sandbox.directory / "siding").glob("projects/*/tasks/*"))


def test_pictures_go_along_by_path_by_input_and_from_the_clipboard(talk: Conversation) -> None:
    named = talk.sandbox.repo / "shot"  # known by its bytes, not by its name
    named.write_bytes(PICTURE)
    talk.begin("one", "--picture", str(named))
    talk.until_text("You said: one +image\n")
    talk.says("send", "two", "--picture", "-", "--picture", str(named), stdin=PICTURE)
    talk.until_text("You said: two +image +image\n")
    program = talk.sandbox.directory / "bin" / "xclip"
    program.write_text(f"#!/bin/sh\ncat {named}\n")
    program.chmod(0o755)
    talk.sandbox.env["DISPLAY"] = ":7"
    talk.says("send", "three", "--paste")
    talk.until_text("You said: three +image\n")
    program.write_text("#!/bin/sh\necho 'target image/png not available' >&2; exit 1\n")
    assert "has no picture: target image/png" in talk.says("send", "four", "--paste", status=2)
