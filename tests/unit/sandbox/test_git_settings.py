"""Credentials in git's settings, and what only root may read, are found."""

import subprocess
from pathlib import Path

from siding.sandbox.hidden import clean_settings, root_only, without_credentials

SECRET = """\
[remote "origin"]
\turl = https://bob:pw-of-bob@h.example/x.git
\tpushurl = "https://tok-of-push@h.example/x.git"
\tfetch = +refs/heads/*:refs/remotes/origin/*
[remote "ssh"]
\turl = ssh://git@h.example/x.git
[remote "kept"]
\turl = git@h.example:x.git
[url "https://x-access-token:tok-of-url@github.com/"]
\tinsteadOf = https://github.com/
[http]
\textraHeader = Authorization: Basic dG9rLW9mLWhlYWRlcg==
\tproxy = me:pw-of-proxy@proxy:3128
[http "https://h.example"] extraheader = "X: tok-of-line"
[credential]
\thelper = "!f() { echo password=pw-of-helper; }; f"
\thelper = cache
[sendemail]
\tsmtpPass = pw-of-mail
[github]
\ttoken = tok-of-github-1
[long]
\turl = https://bob:pw-\\
of-two-lines@h.example/y
[user]
\tname = Ada
"""


def test_credentials_go_and_git_reads_the_rest(tmp_path: Path) -> None:
    clean = without_credentials(SECRET.encode()).decode()
    assert "pw-" not in clean
    assert "tok-" not in clean
    assert "dG9r" not in clean
    file = tmp_path / "config"
    file.write_text(clean)
    git = ["git", "config", "--file", str(file), "--list"]
    listed = subprocess.run(git, capture_output=True, text=True, check=True).stdout.splitlines()
    for line in (
        "remote.origin.url=https://h.example/x.git",
        "remote.origin.pushurl=https://h.example/x.git",
        "remote.origin.fetch=+refs/heads/*:refs/remotes/origin/*",
        "remote.ssh.url=ssh://git@h.example/x.git",
        "remote.kept.url=git@h.example:x.git",
        "http.proxy=proxy:3128",
        "credential.helper=cache",
        "user.name=Ada",
    ):
        assert line in listed, line
    assert without_credentials(clean.encode()) == clean.encode()


def test_files_that_are_included_are_looked_at_and_others_are_left_alone(tmp_path: Path) -> None:
    common, home, made = tmp_path / ".git", tmp_path / "home", tmp_path / "made"
    (common / "modules/a/b").mkdir(parents=True)
    home.mkdir()
    (common / "config").write_text("[core]\n\tbare = false\n[include]\n\tpath = more\n")
    (common / "more").write_text('[remote "o"]\n\turl = https://u:p@h/\n[include]\n\tpath = more\n')
    (common / "modules/a/b/config").write_text('[remote "o"]\n\turl = https://u:p@h/\n')
    (home / ".gitconfig").write_text(f"[credential]\n\thelper = store --file {tmp_path}/store\n")
    (tmp_path / "store").write_text("https://u:p@h\n")
    found = clean_settings([f"{home}/.gitconfig"], str(common), str(home), lambda: made)
    assert {path for path, _copy in found.replaced} == {
        str(common / "more"),
        str(common / "modules/a/b/config"),
    }
    assert all("u:p" not in Path(copy).read_text() for _path, copy in found.replaced)
    assert found.stores == (str(tmp_path / "store"),)


def test_what_only_root_may_read(tmp_path: Path) -> None:
    (tmp_path / "open/keys").mkdir(parents=True)
    (tmp_path / "closed").mkdir(mode=0o700)
    for name, mode in (("shadow", 0o640), ("passwd", 0o644), ("open/keys/k", 0o600)):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(mode)
    tops = [str(tmp_path)]
    found = root_only([], tops=tops, is_root=lambda: True)
    assert sorted(found[0]) == [f"{tmp_path}/open/keys/k", f"{tmp_path}/shadow"]
    assert found[1] == [f"{tmp_path}/closed"]
    assert root_only([], tops=tops, is_root=lambda: False) == ([], [])
    spared = root_only(
        [f"{tmp_path}/open", f"{tmp_path}/closed/a"], tops=tops, is_root=lambda: True
    )
    assert spared == ([f"{tmp_path}/shadow"], [])
