"""Hooks and signing: the person's own, on request, and never by themselves."""

from pathlib import Path

import pytest

from .conftest import Stage


def install(stage: Stage, name: str, script: str) -> None:
    hook = stage.repo / ".git/hooks" / name
    hook.write_text(f"#!/bin/sh\n{script}\n")
    hook.chmod(0o755)


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("pre-commit", "echo no commits today >&2; exit 1"),
        ("commit-msg", 'grep -q "^JIRA-" "$1" || { echo no ticket >&2; exit 1; }'),
        ("reference-transaction", '[ "$1" = prepared ] && grep -q heads/main && exit 1; exit 0'),
        ("pre-commit", '[ "$(git symbolic-ref HEAD)" != refs/heads/main ]'),
    ],
)
def test_a_hook_can_refuse_when_it_is_asked(stage: Stage, name: str, script: str) -> None:
    stage.agent("echo agent >>hello.txt")
    install(stage, name, script)
    before = stage.everything()
    assert "nothing was changed" in stage.apply("--hooks", status=1)
    assert stage.everything() == before
    assert len(stage.box.steps(stage.task)) == 1
    stage.apply()  # cline/cline#2298: and by itself it is not asked
    assert stage.show("hello.txt") == "hello\nagent\n"


def test_no_hook_runs_for_what_is_in_the_way(stage: Stage, tmp_path: Path) -> None:
    stage.agent("echo agent >>hello.txt")
    install(stage, "pre-commit", f"touch {tmp_path / 'ran'}")
    (stage.repo / "hello.txt").write_text("mine\n")
    assert "hello.txt" in stage.apply("--hooks", status=1)
    assert not (tmp_path / "ran").exists()
    stage.git("checkout", "hello.txt")
    stage.apply("--hooks")
    assert (tmp_path / "ran").exists()


def test_a_hook_sees_the_result_and_may_change_it(stage: Stage) -> None:
    """Whatever it does to files, it does not do it to the person's."""
    (stage.repo / "text.txt").write_text("my own\n")
    stage.agent("echo agent >>hello.txt; sed -i 's/line 5$/agent/' run.sh")
    install(
        stage,
        "pre-commit",
        "git diff --cached --quiet && exit 1; test ! -e untracked || exit 1; "
        "echo formatted >>hello.txt; git add hello.txt; echo junk >text.txt",
    )
    install(stage, "commit-msg", 'echo "Checked-by: hook" >>"$1"')
    (stage.repo / "untracked").write_text("mine\n")
    stage.apply("--hooks")
    assert stage.show("hello.txt") == "hello\nagent\nformatted\n"
    assert "Checked-by: hook" in stage.git("log", "-1", "--format=%B")
    assert (stage.repo / "text.txt").read_text() == "my own\n"
    assert stage.status() == [" M text.txt", "?? untracked"]


def test_no_hook_runs_unasked(stage: Stage, tmp_path: Path) -> None:
    stage.agent("echo agent >>hello.txt")
    for name in (
        "pre-commit",
        "commit-msg",
        "reference-transaction",
        "post-checkout",
        "post-index-change",
        "post-commit",
        "post-merge",
    ):
        install(stage, name, f"echo {name} >>{tmp_path}/fired")
    stage.apply()
    assert not (tmp_path / "fired").exists()


def signer(stage: Stage, status: int) -> Path:
    """What gpg is to git: reads the commit, writes a signature, says so on the status fd."""
    program = Path(stage.box.env["HOME"]) / "fake-gpg"
    program.write_text(
        "#!/bin/sh\ncat >/dev/null\n[ STATUS = 0 ] || exit 2\n".replace("STATUS", str(status))
        + "echo '[GNUPG:] SIG_CREATED ' >&2\n"
        "printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nabc\\n-----END PGP SIGNATURE-----\\n'\n"
    )
    program.chmod(0o755)
    stage.git("config", "--global", "gpg.program", str(program))
    return program


def test_signed_when_asked(stage: Stage) -> None:
    signer(stage, 0)
    stage.git("config", "commit.gpgSign", "true")
    stage.git("config", "gpg.program", "/nonexistent/from/the/repository")
    stage.agent("echo one >one; git add one; git commit -q --no-gpg-sign -m one; echo two >two")
    stage.apply("--sign", "--no-close")
    for revision in ("main", "main~1"):
        assert "BEGIN PGP SIGNATURE" in stage.git("cat-file", "commit", revision)
    stage.agent("echo three >three")
    stage.apply()
    assert "SIGNATURE" not in stage.git("cat-file", "commit", "main")


def test_a_signature_that_fails(stage: Stage) -> None:
    signer(stage, 2)
    stage.agent("echo one >one")
    before = stage.everything()
    assert "could not be signed" in stage.apply("--sign", status=1)
    assert stage.everything() == before
