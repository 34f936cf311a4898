"""Run a check; while it fails, let an agent mend what is wrong, with the output in its prompt.

Arguments: `check`, the command; `rounds` (5); `task`, what else the agent should know. It ends with
the status 1 if the check never passed.
"""

meta = {
    "name": "fix-until-green",
    "description": "Let an agent mend what is wrong until a check passes",
    "phases": [{"title": "Check"}, {"title": "Fix"}],
}


async def main(args):
    given = args or {}
    check = given.get("check")
    if not check:
        raise ValueError("it needs the command to make green: check='pytest -q'")
    rounds = int(given.get("rounds", 5))
    phase("Check")
    done = await run(check, label="check")
    for number in range(1, rounds + 1):
        if done["passed"]:
            return {"green": True, "rounds": number - 1, "step": done["step"]}
        phase("Fix")
        said = await agent(
            f"The command `{check}` fails (exit {done['exit']}). Find the cause and mend it; do not"
            f" weaken the check. {given.get('task', '')}\n\nThe end of its output:\n\n"
            + done["output"][-8000:],
            label=f"fix:{number}",
        )
        if said is None:
            log("the agent gave no result; the check is tried all the same")
        done = await run(check, label=f"check:{number}")
    if done["passed"]:
        return {"green": True, "rounds": rounds, "step": done["step"], "output": ""}
    tried = "1 round" if rounds == 1 else f"{rounds} rounds"
    return {
        "green": False,
        "why": f"`{check}` still fails (exit {done['exit']}) after {tried}",
        "rounds": rounds,
        "step": done["step"],
        "output": done["output"][-2000:],
        "exit": 1,
    }
