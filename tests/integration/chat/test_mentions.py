"""What is offered behind the @ and the / of a prompt."""

from integration.chat.talks import Conversation


def test_files_of_the_workspace_and_commands_of_the_agent_are_offered(talk: Conversation) -> None:
    talk.begin("hello")
    workspace = talk.sandbox.workspace()
    for name in ("src/main.py", "src/made.py", "src/gone.py", "build/main.o", "ünder/my file.md"):
        path = workspace / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    (workspace / ".gitignore").write_text("build\n")
    talk.sandbox.git("add", "src", cwd=workspace)
    (workspace / "src" / "gone.py").unlink()

    def offered(word: str, *more: str) -> list[str]:
        found = talk.sandbox.json("chat", "complete", word, "--json", *more)
        return [each["value"] for each in found]

    assert offered("@src/ma") == ["@src/made.py", "@src/main.py"]
    assert offered("@gone") == []
    assert offered("@main") == ["@src/main.py"]  # what git ignores is not offered
    assert offered("@ünd") == ["@ünder/", "@ünder/my file.md"]
    assert offered("@", "--limit", "1") == ["@.gitignore"]
    talk.turns(1)
    assert offered("/rev") == ["/review"]
    assert "/compact\tMake the conversation shorter" in talk.says("complete", "/")
    assert "neither @ nor /" in talk.says("complete", "src", status=2)
