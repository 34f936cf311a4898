"""What agents ask before they report, by their files: each case was tried with the real client."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from siding.agents.start_questions import homes_in, start_questions

FIRST, TRUST, LOGIN, KEY, NO_ASKING = "first-start", "trust", "login", "key", "no-asking"


class Place:
    """A checkout with a worktree elsewhere, and a home."""

    def __init__(self, root: Path) -> None:
        self.home, self.checkout = root / "home", root / "checkout"
        self.worktree = self.home / "worktrees" / "one"
        for each in (self.home, self.checkout):
            each.mkdir()
        self.env = {"HOME": str(self.home)}
        who = ("-c", "user.name=n", "-c", "user.email=e@x")
        for words in (
            ["init", "-q"],
            [*who, "commit", "-q", "--allow-empty", "-m", "first"],
            ["worktree", "add", "-q", str(self.worktree)],
        ):
            subprocess.run(["git", *words], cwd=self.checkout, check=True)
        (self.worktree / "sub").mkdir()

    def write(self, name: str, what: Mapping[str, Any] | str) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(what if isinstance(what, str) else json.dumps(what))

    def asks(
        self, *argv: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> tuple[str, ...] | None:
        agent = os.path.basename(argv[0])
        found = start_questions(agent, argv, cwd or self.worktree, {**self.env, **(env or {})})
        return None if found is None else tuple(each.value for each in found)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def known_to_claude(*trusted: Path, **more: Any) -> dict[str, Any]:
    projects = {str(each): {"hasTrustDialogAccepted": True} for each in trusted}
    return {"hasCompletedOnboarding": True, "projects": projects, **more}


KEYED = {"ANTHROPIC_AUTH_TOKEN": "x"}


def test_claude_trusts_worktrees_with_their_checkout(place: Place) -> None:
    inside, worktree, checkout = place.worktree / "sub", place.worktree, place.checkout
    for trusted, cwd, asked in (
        ((), worktree, (TRUST,)),
        ((worktree,), worktree, ()),
        ((worktree,), inside, ()),
        ((checkout,), worktree, ()),
        ((checkout,), inside, ()),
        ((worktree.parent,), worktree, (TRUST,)),
        ((Path("/"),), worktree, (TRUST,)),
        ((checkout.parent,), checkout, (TRUST,)),
        ((place.home,), place.home / "no-repository", ()),
    ):
        cwd.mkdir(exist_ok=True)
        place.write(".claude.json", known_to_claude(*trusted))
        assert place.asks("claude", cwd=cwd, env=KEYED) == asked, (trusted, cwd)
    place.write(".claude.json", known_to_claude())
    assert place.asks("claude", env={"CLAUDE_CODE_SANDBOXED": "1", **KEYED}) == ()


def test_claude_asks_for_a_login_and_about_a_key(place: Place) -> None:
    known = known_to_claude(place.checkout)
    key = {"ANTHROPIC_API_KEY": "sk-ant-of-a-person-with-a-long-key"}
    assert place.asks("claude") == (FIRST, TRUST)
    place.write(".claude.json", known)
    assert place.asks("claude") == (LOGIN,)
    assert place.asks("claude", env=key) == (KEY,)
    for login in ("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK"):
        assert place.asks("claude", env={login: "1"}) == ()
    for answered in ("approved", "rejected"):
        responses = {answered: [key["ANTHROPIC_API_KEY"][-20:]]}
        place.write(".claude.json", {**known, "customApiKeyResponses": responses})
        assert place.asks("claude", env=key) == ()
    for settings in ({"apiKeyHelper": "echo k"}, {"env": {"ANTHROPIC_API_KEY": "k"}}):
        place.write(".claude/settings.json", settings)
        assert place.asks("claude") == ()
    (place.home / ".claude/settings.json").unlink()
    for more in ({"primaryApiKey": "k"}, {"oauthAccount": {"accountUuid": "u"}}):
        place.write(".claude.json", {**known, **more})
        assert place.asks("claude") == ()
    place.write(".claude.json", known)
    place.write(".claude/.credentials.json", {})
    assert place.asks("claude") == ()
    bypass = ("claude", "--dangerously-skip-permissions")
    assert place.asks(*bypass) == (NO_ASKING,)
    assert place.asks("claude", "--", bypass[1]) == ()
    place.write(".claude/settings.json", {"skipDangerousModePermissionPrompt": True})
    assert place.asks(*bypass) == ()


def test_codex_trusts_worktrees_with_their_checkout(place: Place) -> None:
    place.write(".codex/auth.json", {"OPENAI_API_KEY": "k"})
    inside, worktree, checkout = place.worktree / "sub", place.worktree, place.checkout
    for said, cwd, asked in (
        ({}, worktree, (TRUST,)),
        ({worktree: "trusted"}, worktree, ()),
        ({worktree: "trusted"}, inside, ()),
        ({checkout: "trusted"}, worktree, ()),
        ({checkout: "trusted"}, inside, ()),
        ({worktree.parent: "trusted"}, worktree, (TRUST,)),
        ({worktree: "untrusted"}, worktree, (TRUST,)),
        ({worktree: "untrusted", checkout: "trusted"}, worktree, (TRUST,)),
    ):
        lines = (f'[projects."{at}"]\ntrust_level = "{level}"\n' for at, level in said.items())
        place.write(".codex/config.toml", "".join(lines))
        assert place.asks("codex", cwd=cwd) == asked, (said, cwd)
    place.write(".codex/config.toml", "")
    for option in (
        f'projects={{"{worktree}"={{trust_level="trusted"}}}}',
        f'projects."{worktree}".trust_level="trusted"',
    ):
        assert place.asks("codex", "-c", option) == place.asks("codex", f"--config={option}") == ()
    assert place.asks("codex", "exec", "hi") == place.asks("codex", "login") == ()


def test_codex_asks_for_a_login(place: Place) -> None:
    trusted = f'[projects."{place.checkout}"]\ntrust_level = "trusted"\n'
    own = '[model_providers.own]\nname = "own"\nbase_url = "http://localhost"\n'
    place.write(".codex/config.toml", trusted)
    assert place.asks("codex", env={"OPENAI_API_KEY": "k"}) == (LOGIN,)
    assert place.asks("codex", "-c", "model_provider=ollama") == ()
    place.write(".codex/config.toml", 'model_provider = "own"\n' + own + trusted)
    assert place.asks("codex") == ()
    needs = own + "requires_openai_auth = true\n"
    place.write(".codex/config.toml", 'model_provider = "own"\n' + needs + trusted)
    assert place.asks("codex") == (LOGIN,)
    place.write(".codex/config.toml", 'cli_auth_credentials_store = "keyring"\n' + trusted)
    assert place.asks("codex") is None
    place.write(".codex/auth.json", {"tokens": {"access_token": "t"}})
    assert place.asks("codex") == ()
    place.write("else/auth.json", {})
    assert place.asks("codex", env={"CODEX_HOME": str(place.home / "else")}) == (LOGIN, TRUST)


def test_gemini_trusts_what_is_below_and_not_worktrees_elsewhere(place: Place) -> None:
    chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    place.write(".gemini/settings.json", chosen)
    inside, worktree, checkout = place.worktree / "sub", place.worktree, place.checkout
    for said, cwd, asked in (
        ({}, worktree, (TRUST,)),
        ({checkout: "TRUST_FOLDER"}, worktree, (TRUST,)),
        ({worktree: "TRUST_FOLDER"}, inside, ()),
        ({worktree / "gone": "TRUST_PARENT"}, worktree, ()),
        ({worktree: "DO_NOT_TRUST"}, worktree, ()),
        ({worktree.parent: "TRUST_FOLDER"}, worktree, ()),
        ({inside: "TRUST_FOLDER"}, worktree, (TRUST,)),
    ):
        rules = json.dumps({str(at): level for at, level in said.items()})
        place.write(".gemini/trustedFolders.json", "// mine\n" + rules)
        assert place.asks("gemini", cwd=cwd) == asked, (said, cwd)
    place.write(".gemini/trustedFolders.json", {})
    assert place.asks("gemini", "--skip-trust") == ()
    assert place.asks("gemini", env={"GEMINI_CLI_TRUST_WORKSPACE": "true"}) == ()
    assert place.asks("gemini", "-p", "hi") == ()
    off = {"security": {**chosen["security"], "folderTrust": {"enabled": False}}}
    place.write(".gemini/settings.json", off)
    assert place.asks("gemini") == ()


def test_gemini_asks_for_a_login_until_one_was_chosen(place: Place) -> None:
    trusted = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
    assert place.asks("gemini", env={"GEMINI_API_KEY": "k", **trusted}) == (LOGIN,)
    place.write(".gemini/settings.json", {"security": {"auth": {"selectedType": "oauth-personal"}}})
    assert place.asks("gemini", env=trusted) == (LOGIN,)
    place.write(".gemini/oauth_creds.json", {})
    assert place.asks("gemini", env=trusted) == ()
    elsewhere = {"GEMINI_CLI_HOME": str(place.home / "else")}
    assert place.asks("gemini", env={**trusted, **elsewhere}) == (LOGIN,)


def test_what_cannot_be_told_is_not_said(place: Place) -> None:
    for damaged in ("{", "[]", '"x"', "\xff", "[" * 100_000):
        place.write(".claude.json", damaged)
        assert place.asks("claude") is None
        place.write(".codex/config.toml", damaged + "=")
        assert place.asks("codex") is None
        place.write(".gemini/trustedFolders.json", damaged)
        assert place.asks("gemini") is None
    assert place.asks("opencode") is None
    assert place.asks("claude", "-p", "hi") == ()  # it ends with an error, and asks nothing
    odd = {"hasCompletedOnboarding": 1, "projects": [], "customApiKeyResponses": {"approved": 7}}
    place.write(".claude.json", odd)
    assert place.asks("claude") == (FIRST, TRUST)


def test_only_where_the_files_are_is_kept(place: Place) -> None:
    env = {**place.env, "CODEX_HOME": "/c", "ANTHROPIC_API_KEY": "secret"}
    assert homes_in(env) == {**place.env, "CODEX_HOME": "/c"}
