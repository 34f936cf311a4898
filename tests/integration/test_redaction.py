"""No secret reaches the disk: everything a run leaves behind is searched for it."""

import json
import subprocess
import time
from pathlib import Path

import pytest

from integration.test_together import start, wait_for
from sandbox import SIDING, Sandbox
from terminal import Terminal

GITLAB = "glpat-" + "tiO4kJgZk56qHEkvvsK2"
GITHUB = "ghp_" + "aB3xY9" * 6
PASSWORD = "Trom-bone7!"
BODY = "MIIEowIBAAKCAQEAx7Vq2n" + "Zb8Lw5Kf3Jd1Hs6Ga4" * 3


def holders(sandbox: Sandbox, *secrets: str) -> list[str]:
    """Return the files of the home and of the repository's git directory that hold one."""
    found = []
    for root in (sandbox.directory / "siding", sandbox.repo / ".git"):
        for path in root.rglob("*"):
            inside = path.relative_to(root).parts
            if path.is_file() and "workspaces" not in inside:
                text = path.read_bytes()
                found += [f"{path}: {each}" for each in secrets if each.encode() in text]
    return found


def output(sandbox: Sandbox) -> bytes:
    (step, *_) = reversed(sandbox.steps())
    (path,) = sandbox.project.glob(f"tasks/*/artifacts/{step['step_id']}.output")
    return path.read_bytes()


def script(sandbox: Sandbox, text: str) -> str:
    """Write a script whose text the command line does not show."""
    path = sandbox.directory / "script.sh"
    path.write_text(text)
    return str(path)


def test_output_is_shown_as_it_is_and_kept_without_secrets(sandbox: Sandbox) -> None:
    text = f"echo token={GITLAB}; echo now {GITHUB} then >&2; echo commit {'0a1b' * 10}"
    done = sandbox.siding("run", "--", "sh", script(sandbox, text))
    assert GITLAB.encode() in done.stdout
    assert GITHUB.encode() in done.stderr
    kept = output(sandbox)
    assert b"token=[redacted:gitlab-token]\n" in kept
    assert b"now [redacted:github-token] then\n" in kept
    assert b"commit " + b"0a1b" * 10 in kept
    assert holders(sandbox, GITLAB, GITHUB) == []
    assert sandbox.siding("verify").returncode == 0
    (step,) = sandbox.steps()
    stdout = kept.partition(b"\n=== STDERR ===\n")[0].removeprefix(b"=== STDOUT ===\n")
    assert step["output"]["stdout_bytes"] == len(stdout)


def test_a_secret_in_two_writes_with_a_pause_between(sandbox: Sandbox) -> None:
    text = f"printf 'a {GITHUB[:17]}'; sleep 0.3; printf '{GITHUB[17:]}'; sleep 0.3; echo ' b'"
    sandbox.siding("run", "--", "sh", script(sandbox, text))
    assert b"a [redacted:github-token] b\n" in output(sandbox)
    assert holders(sandbox, GITHUB, GITHUB[17:]) == []


def test_a_program_in_a_terminal(sandbox: Sandbox) -> None:
    text = f"printf '\\033[32m{GITHUB}\\033[0m\\n'; echo 'password: {PASSWORD}'"
    argv = [*SIDING, "run", "--", "sh", script(sandbox, text)]
    terminal = Terminal(argv, cwd=sandbox.repo, env=sandbox.env)
    assert terminal.finish() == 0
    assert GITHUB.encode() in terminal.seen
    kept = output(sandbox)
    assert kept.startswith(b"=== PTY ===\n")
    assert b"\x1b[32m[redacted:github-token]\x1b[0m" in kept
    assert b"password: [redacted:password]" in kept
    assert holders(sandbox, GITHUB, PASSWORD) == []


def test_the_command_and_its_variables(sandbox: Sandbox) -> None:
    words = ("echo", "--token", "Fk29xLq8Wm3Zt7", f"https://ada:{PASSWORD}@host/x", GITHUB)
    env = ("-e", f"DB_PASSWORD={PASSWORD}x", "-e", "MODE=fast", "-e", f"NOTE=see {GITLAB}")
    sandbox.siding("run", *env, "--", *words)
    (step,) = sandbox.steps()
    assert step["cmd"] == [
        "echo",
        "--token",
        "[redacted:token]",
        "https://ada:[redacted:url-password]@host/x",
        "[redacted:github-token]",
    ]
    assert step["env"] == {
        "DB_PASSWORD": "[redacted:password]",
        "MODE": "fast",
        "NOTE": "see [redacted:gitlab-token]",
    }
    assert holders(sandbox, "Fk29xLq8Wm3Zt7", PASSWORD, GITHUB, GITLAB) == []


def test_values_of_the_environment_are_known(sandbox: Sandbox) -> None:
    value = "plain-but-Secret.77"
    env = {"OUR_SECRET": value, "SSH_AUTH_SOCK": "/tmp/agent.sock", "HOME_TOKEN": "true"}
    text = 'echo is $OUR_SECRET; printf %s "$OUR_SECRET" | base64; echo $SSH_AUTH_SOCK true'
    sandbox.siding(
        "run",
        "-e",
        "MORE_SECRET=Other.value-8",
        "--",
        "sh",
        "-c",
        f"{text}; echo Other.value-8",
        env=env,
    )
    kept = output(sandbox).decode()
    assert "is [redacted:env:OUR_SECRET]\n[redacted:env:OUR_SECRET]" in kept
    assert "/tmp/agent.sock true\n[redacted:env:MORE_SECRET]\n" in kept
    assert holders(sandbox, value, "Other.value-8") == []


def test_a_hooks_output_and_reason(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    loud = script(sandbox, f"echo token={GITLAB}; exit 3")
    (sandbox.project / "config.yaml").write_text(f"hooks:\n  pre_run: ['sh {loud}']\n")
    sandbox.siding("run", "--", "true", status=1)
    (step,) = sandbox.steps()
    assert step["hooks"][0]["output"] == "token=[redacted:gitlab-token]\n"
    assert holders(sandbox, GITLAB) == []


def test_what_people_write(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", f"use {GITHUB}", "-m", f"log in with password={PASSWORD}")
    (sandbox.workspace() / "new.txt").write_text("x\n")
    sandbox.siding("checkpoint", "-m", f"before {GITLAB}")
    sandbox.siding("task", "update", "-m", f"the key is {GITHUB}")
    assert holders(sandbox, GITHUB, GITLAB, PASSWORD) == []


def test_the_workspace_and_its_patch_keep_their_bytes(sandbox: Sandbox) -> None:
    text = f"echo token={GITLAB} >.env.example"
    sandbox.siding("run", "--", "sh", script(sandbox, text))
    assert (sandbox.workspace() / ".env.example").read_text() == f"token={GITLAB}\n"
    (patch,) = sandbox.project.glob("tasks/*/artifacts/*.patch")
    assert GITLAB.encode() in patch.read_bytes()
    assert sandbox.siding("verify").returncode == 0


def test_names_of_files_in_the_ledger(sandbox: Sandbox) -> None:
    text = f"mkdir d {GITLAB}.d; echo 1 >d/{GITHUB}.txt; echo 2 >{GITLAB}; chmod 700 {GITLAB}"
    text += f"; echo 3 >{GITLAB}.d/Makefile"
    sandbox.siding("run", "--", "sh", script(sandbox, text))
    (step,) = sandbox.steps()
    assert step["diff_stat"]["file_list"] == [
        "d/[redacted:github-token].txt",
        "[redacted:gitlab-token]",
        "[redacted:gitlab-token]/Makefile",
    ]
    assert step["traps"][0]["path"] == "[redacted:gitlab-token]/Makefile"
    (ledger,) = sandbox.project.glob("tasks/*/ledger.jsonl")
    assert GITHUB.encode() not in ledger.read_bytes()
    assert GITLAB.encode() not in ledger.read_bytes()
    assert sandbox.siding("verify").returncode == 0


def test_the_settings_of_the_home_and_the_projects_over_them(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    home = sandbox.directory / "siding" / "config.yaml"
    ours = sandbox.project / "config.yaml"
    text = f"echo ACME-1234-abcd; echo OTHER-1234; echo {GITLAB}; echo {GITHUB}"
    home.write_text(
        "redaction:\n  extra: {acme-key: 'ACME-[0-9]{4}', other-key: 'OTHER-[0-9]{4}'}\n"
        f"  allow: [{GITLAB}]\n"
    )
    ours.write_text("redaction:\n  extra: {acme-key: 'ACME-[0-9]{4}-[a-z]{4}'}\n")
    sandbox.siding("run", "--", "sh", script(sandbox, text))
    kept = output(sandbox).decode()
    assert f"[redacted:acme-key]\n[redacted:other-key]\n{GITLAB}\n[redacted:github" in kept
    home.write_text("redaction: {enabled: false}\n")
    ours.unlink()
    sandbox.siding("run", "--", "sh", script(sandbox, text))
    assert GITHUB.encode() in output(sandbox)
    said = sandbox.siding("doctor").stderr
    assert b"redaction is off (" in said
    assert str(home).encode() in said
    ours.write_text("redaction: {enabled: true}\n")
    sandbox.siding("run", "--", "sh", script(sandbox, text))
    assert GITHUB.encode() not in output(sandbox)
    assert b"redaction is off" not in sandbox.siding("doctor").stderr


@pytest.mark.parametrize("pty", [False, True])
def test_a_recorder_that_is_killed(sandbox: Sandbox, *, pty: bool) -> None:
    """What was held back is lost with it; a prompt is not, and no part of a secret is there."""
    ready = sandbox.directory / "ready"
    text = f"echo {GITLAB}; printf 'Continue? '; printf {GITHUB[:20]}; touch {ready}; sleep 60"
    words = ["run", "--", "sh", script(sandbox, text)]
    if pty:
        terminal = Terminal([*SIDING, *words], cwd=sandbox.repo, env=sandbox.env)
        process = terminal.process
        terminal.wait_for(GITHUB[:20].encode())
    else:
        process = start(sandbox, *words)
    wait_for(ready)
    time.sleep(0.3)
    process.kill()
    process.wait()
    assert holders(sandbox, GITLAB, GITHUB[:20]) == []
    sandbox.siding("checkpoint", "-m", "go on", status=None)
    step = sandbox.steps()[0]
    assert step["status"] == "interrupted"
    (path,) = sandbox.project.glob("tasks/*/artifacts/0001.output")
    assert b"[redacted:gitlab-token]" in path.read_bytes()
    assert b"Continue? " in path.read_bytes()
    assert not list(sandbox.project.glob("tasks/*/artifacts/0001.stderr*"))
    assert holders(sandbox, GITLAB, GITHUB[:20]) == []


def test_a_key_that_is_cut_off(sandbox: Sandbox) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + f"{BODY}\n" * 4
    path = sandbox.directory / "key.pem"
    path.write_text(key)
    sandbox.siding(
        "run", "--", "sh", "-c", f"echo first; cat {path}; echo and on; head -c 90 {path}"
    )
    kept = output(sandbox)
    assert b"first\n[redacted:private-key]\nand on\n[redacted:private-key]" in kept
    assert holders(sandbox, BODY, BODY[:16]) == []


def test_settings_add_allow_and_switch_off(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    config = sandbox.project / "config.yaml"
    text = f"echo ACME-1234-abcd; echo {GITLAB}; echo {GITHUB}"
    config.write_text(
        "redaction:\n  extra: {acme-key: 'ACME-[0-9]{4}-[a-z]{4}'}\n"
        f"  allow: [{GITLAB}, 'kind:github-token']\n"
    )
    sandbox.siding("run", "--", "sh", script(sandbox, text))
    assert f"[redacted:acme-key]\n{GITLAB}\n{GITHUB}\n".encode() in output(sandbox)
    config.write_text("redaction:\n  enabled: false\n")
    sandbox.siding("run", "--", "sh", script(sandbox, f"echo {GITLAB}"))
    assert GITLAB.encode() in output(sandbox)


@pytest.mark.parametrize(
    ("extra", "why"),
    [
        ("{Kind: x}", b"lower-case"),
        ("{k: '['}", b"not a regular expression"),
        ("{k: 'a b'}", b"white space"),
        ("{k: '(a+)+'}", b"repeats"),
        ("{k: 'x*'}", b"matches the empty text"),
        ("[k]", b"names, each with a text"),
    ],
)
def test_a_pattern_that_cannot_be_used(sandbox: Sandbox, extra: str, why: bytes) -> None:
    sandbox.siding("init")
    (sandbox.project / "config.yaml").write_text(f"redaction:\n  extra: {extra}\n")
    done = sandbox.siding("run", "--", "touch", "ran", status=2)
    assert why in done.stderr
    assert not list(sandbox.project.glob("workspaces/*/ran"))


def test_much_output_is_redacted_to_its_end(sandbox: Sandbox) -> None:
    """Beyond the first megabytes the digest works beside us, on what was redacted."""
    text = (
        "import sys\nfor n in range(12):\n"
        f"    sys.stdout.write('0123456 the quick brown fox\\n' * 36000 + 'key {GITHUB} end\\n')\n"
    )
    path = sandbox.directory / "much.py"
    path.write_text(text)
    with subprocess.Popen(
        [*SIDING, "run", "--", "python3", str(path)],
        cwd=sandbox.repo,
        env=sandbox.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.wait(60) == 0
    assert output(sandbox).count(b"key [redacted:github-token] end\n") == 12
    assert holders(sandbox, GITHUB) == []
    assert sandbox.siding("verify").returncode == 0


def test_an_export_is_redacted_unless_asked_otherwise(sandbox: Sandbox) -> None:
    said = f'use {GITHUB}\nand "password": "{PASSWORD}"'
    message = {"role": "user", "content": said}
    line = {
        "type": "user",
        "uuid": "a" * 8,
        "parentUuid": None,
        "sessionId": "01a1b2c3",
        "timestamp": "2026-11-21T10:00:00Z",
        "message": message,
    }
    source = sandbox.directory / "01a1b2c3.jsonl"
    source.write_text(json.dumps(line) + "\n")
    sandbox.siding("init")
    sandbox.siding("session", "import", str(source))
    out = sandbox.directory / "out"
    done = sandbox.siding("session", "export", "-o", str(out))
    path = Path(done.stdout.decode().strip())
    shown = json.loads(path.read_text())["message"]["content"]
    assert shown == 'use [redacted:github-token]\nand "password": "[redacted:password]"'
    sandbox.siding("session", "export", "--no-redact", "-o", str(out))
    assert path.read_text() == source.read_text()
    assert not list(sandbox.project.glob(".export-*"))


def test_a_step_says_how_much_was_masked_unread(sandbox: Sandbox) -> None:
    """Where too much had to be judged; what is ordinary behind it is there."""
    sandbox.siding("task", "start", "demo")
    program = (
        "for number in range(120000): print(f'password={number}-hunter')\n"
        "for number in range(20000): print(f'line {number} of what is quiet')\n"
    )
    sandbox.siding("run", "--", "python3", script(sandbox, program))
    kept = output(sandbox)
    assert b"-hunter" not in kept
    assert b"line 19999 of what is quiet" in kept
    assert kept.count(b"[redacted:too-much] ") == 1
    told = sandbox.siding("show", "1").stdout
    assert b"bytes of the output are masked as [redacted:too-much]" in told
    (step,) = sandbox.steps()
    assert step["output"]["complete"] is True
