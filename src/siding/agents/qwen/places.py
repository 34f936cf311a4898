"""What Qwen Code keeps in a home, and which hosts it needs."""

from siding.agents.places import AgentPlaces, below

PLACES = AgentPlaces(
    sessions=below(".qwen", "tmp", "projects"),
    writable=below(".qwen", "todos", "oauth_creds.json"),
    readable=below(".qwen", "settings.json", "QWEN.md", "commands", "extensions", "skills", ".env"),
    copied=below(".qwen", "installation_id", "trustedFolders.json"),
)
HOSTS = ("dashscope.aliyuncs.com", "chat.qwen.ai", "portal.qwen.ai")
