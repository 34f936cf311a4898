"""Status lines that were made for another program's: they read the same fields, unchanged."""

import os
import shutil
from pathlib import Path

import pytest

from agents.conftest import program
from integration.undo.desk import Desk
from sandbox import Sandbox
from unit.statusline.test_gathering import tell

# As documentation of such lines has them: in bash with jq, in Python, in Node.
EXAMPLES = {
    "bash": """\
#!/bin/bash
input=$(cat)
MODEL=$(echo "$input" | jq -r '.model.display_name')
DIR=$(echo "$input" | jq -r '.workspace.current_dir')
PCT=$(echo "$input" | jq -r '.context_window.used_percentage // 0' | cut -d. -f1)
COST=$(printf '$%.2f' "$(echo "$input" | jq -r '.cost.total_cost_usd // 0')")
BRANCH=""
git -C "$DIR" rev-parse --git-dir >/dev/null 2>&1 &&
    BRANCH=" | $(git -C "$DIR" branch --show-current)"
echo "[$MODEL] ${DIR##*/}$BRANCH | ${PCT}% | $COST"
""",
    "python3": """\
#!/usr/bin/env python3
import json, os, subprocess, sys
data = json.load(sys.stdin)
model = data['model']['display_name']
where = data['workspace']['current_dir']
pct = int(data.get('context_window', {}).get('used_percentage', 0) or 0)
cost = data.get('cost', {}).get('total_cost_usd', 0) or 0
out = subprocess.check_output(['git', '-C', where, 'branch', '--show-current'], text=True)
print(f"[{model}] {os.path.basename(where)} | {out.strip()} | {pct}% | ${cost:.2f}")
""",
    "node": """\
#!/usr/bin/env node
const { execSync } = require('child_process');
const path = require('path');
let input = '';
process.stdin.on('data', chunk => input += chunk);
process.stdin.on('end', () => {
    const data = JSON.parse(input);
    const where = data.workspace.current_dir;
    const branch = execSync('git branch --show-current', { cwd: where, encoding: 'utf8' }).trim();
    const pct = Math.floor(data.context_window?.used_percentage || 0);
    const cost = (data.cost?.total_cost_usd || 0).toFixed(2);
    const model = data.model.display_name;
    console.log(`[${model}] ${path.basename(where)} | ${branch} | ${pct}% | $${cost}`);
});
""",
}


@pytest.mark.parametrize("language", EXAMPLES)
def test_documented_examples(sandbox: Sandbox, language: str, tmp_path: Path) -> None:
    missing = [each for each in (language, "jq") if shutil.which(each) is None]
    assert not missing, f"{missing} should be installed: run.py does it"
    desk = Desk(sandbox)
    tell(desk)
    script = tmp_path / "status line"
    script.write_text(EXAMPLES[language])
    script.chmod(0o755)
    said = sandbox.siding("statusline", "--try", f"'{script}'").stdout.decode().strip()
    assert said == f"[m-2] {desk.root.name} | {desk.task.branch} | 12% | $0.42"


# Where there is no npm there is none.
@pytest.mark.parametrize("found", [each for each in [program("ccstatusline")] if each])
def test_ccstatusline(sandbox: Sandbox, found: str) -> None:
    desk = Desk(sandbox)
    tell(desk)
    sandbox.env["PATH"] = os.pathsep.join([str(Path(found).parent), sandbox.env["PATH"]])
    said = sandbox.siding("statusline", "--try", "ccstatusline").stdout.decode()
    assert "Model: m-2" in said.replace("\xa0", " ")
    assert desk.task.branch in said
