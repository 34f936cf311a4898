"""An agent of a person's own: it prints the answer of a table, by a word of the prompt.

python3 plain_agent.py TABLE.json PROMPT_FILE
"""

import json
import subprocess
import sys
import time
from pathlib import Path

table, prompt = (Path(word).read_text() for word in sys.argv[1:3])
answer = next((it for word, it in json.loads(table).items() if word in prompt), {"text": "?"})
if "command" in answer:
    subprocess.run(["sh", "-c", answer["command"]], check=False)
time.sleep(answer.get("wait", 0))
if "failure" in answer:
    sys.exit(f"it fails: {answer['failure']}")
print(answer.get("text", ""), end="")
