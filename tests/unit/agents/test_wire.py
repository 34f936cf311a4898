"""How programs are pointed at another base URL, by variables and by flags."""

import json
from collections.abc import Mapping

import pytest

from siding.agents.wire import Pointed, hosts_set, pointed

ENV = {"HOME": "/home/a"}
CONFIG = """
model_provider = "mine"
[model_providers.mine]
base_url = "https://mine.example/v1"
[profiles.work]
model_provider = "work"
[model_providers.work]
base_url = "https://work.example/v1"
"""


def point(url: str) -> str:
    return f"proxy({url})"


def told(
    agent: str,
    argv: tuple[str, ...] = (),
    env: Mapping[str, str] = ENV,
    files: Mapping[str, str] | None = None,
) -> Pointed:
    def read(name: str) -> str:
        try:
            return (files or {})[name]
        except KeyError:
            raise FileNotFoundError(name) from None

    return pointed(agent, (agent or "sh", *argv), env, point, read)


class TestVariables:
    def test_all_are_set_where_none_is(self) -> None:
        found = told("").env
        assert found["ANTHROPIC_BASE_URL"] == "proxy(https://api.anthropic.com)"
        assert found["_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL"] == "1"
        assert found["OPENAI_BASE_URL"] == found["OPENAI_API_BASE"]

    def test_a_persons_own_is_where_the_proxy_goes(self) -> None:
        env = {"ANTHROPIC_BASE_URL": "https://gate.corp:8443/a", "OPENAI_API_BASE": "http://h/v1"}
        found = told("", env=env).env
        assert found["ANTHROPIC_BASE_URL"] == "proxy(https://gate.corp:8443/a)"
        assert found["OPENAI_API_BASE"] == "proxy(http://h/v1)"
        assert "OPENAI_BASE_URL" not in found
        assert "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL" not in found
        assert hosts_set(env) == ("gate.corp:8443", "h:80")

    def test_one_that_is_no_url_is_left_alone(self) -> None:
        found = told("", env={"ANTHROPIC_BASE_URL": "unix:/run/a"}).env
        assert "ANTHROPIC_BASE_URL" not in found

    def test_requests_that_are_signed_are_named(self) -> None:
        (note,) = told("claude", env={"CLAUDE_CODE_USE_BEDROCK": "1"}).notes
        assert "Amazon Bedrock" in note


class TestCodex:
    def test_a_url_on_the_command_line_is_replaced_there(self) -> None:
        inline = 'model_providers.x={name="x",base_url="https://x.example/v1"}'
        argv = ("exec", "-c", 'model_provider="x"', "-c", inline, "--", "-c", "model_provider=y")
        found = told("codex", argv).argv
        assert found[5] == inline.replace("https://x.example/v1", "proxy(https://x.example/v1)")
        assert found[6:] == argv[5:]

    @pytest.mark.parametrize(
        ("argv", "files", "flag"),
        [
            (
                (),
                {"config.toml": CONFIG},
                'model_providers.mine.base_url="proxy(https://mine.example/v1)"',
            ),
            (
                ("-c", "profile=work"),
                {"config.toml": CONFIG},
                'model_providers.work.base_url="proxy(https://work.example/v1)"',
            ),
            ((), {}, 'openai_base_url="proxy(https://api.openai.com/v1)"'),
            (
                (),
                {"auth.json": json.dumps({"OPENAI_API_KEY": None, "tokens": {"id": "x"}})},
                'openai_base_url="proxy(https://chatgpt.com/backend-api/codex)"',
            ),
        ],
    )
    def test_else_a_flag_is_added(
        self, argv: tuple[str, ...], files: Mapping[str, str], flag: str
    ) -> None:
        placed = {f"/home/a/.codex/{name}": content for name, content in files.items()}
        assert told("codex", argv, files=placed).argv == ("codex", "-c", flag, *argv)

    def test_a_provider_that_is_not_known_is_named(self) -> None:
        found = told("codex", ("-c", "model_provider=oss"))
        assert found.argv == ("codex", "-c", "model_provider=oss")
        assert "not metered" in found.notes[0]


class TestGemini:
    SETTINGS = "/home/a/.gemini/settings.json"

    def test_the_login_says_which_variable_counts(self) -> None:
        account = {self.SETTINGS: '{"security":{"auth":{"selectedType":"oauth-personal"}}} // x'}
        found = told("gemini", files=account).env
        assert found["CODE_ASSIST_ENDPOINT"] == "proxy(https://cloudcode-pa.googleapis.com)"
        key = {self.SETTINGS: '{"security":{"auth":{"selectedType":"gemini-api-key"}}}'}
        assert told("gemini", files=key).env["GOOGLE_GEMINI_BASE_URL"].startswith("proxy(")

    def test_without_one_it_is_left_alone(self) -> None:
        found = told("gemini")
        assert found.env["GOOGLE_GEMINI_BASE_URL"] == ""
        assert "not metered" in found.notes[0]


class TestOpencode:
    def test_providers_that_can_be_used_are_pointed(self) -> None:
        file = "/home/a/.config/opencode/opencode.json"
        settings = {"provider": {"mine": {"options": {"baseURL": "{env:MINE}/v1", "apiKey": "k"}}}}
        env = {**ENV, "MINE": "http://127.0.0.1:1", "OPENAI_API_KEY": "k"}
        env["OPENCODE_CONFIG_CONTENT"] = '{"theme": "x"}'
        auth = {"/home/a/.local/share/opencode/auth.json": '{"anthropic": {"type": "oauth"}}'}
        found = told("opencode", env=env, files={file: json.dumps(settings), **auth}).env
        content = json.loads(found["OPENCODE_CONFIG_CONTENT"])
        assert content["theme"] == "x"
        urls = {name: each["options"]["baseURL"] for name, each in content["provider"].items()}
        assert urls == {
            "anthropic": "proxy(https://api.anthropic.com/v1)",
            "openai": "proxy(https://api.openai.com/v1)",
            "mine": "proxy(http://127.0.0.1:1/v1)",
        }
        assert "apiKey" not in found["OPENCODE_CONFIG_CONTENT"]
