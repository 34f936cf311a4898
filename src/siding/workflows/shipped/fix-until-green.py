"""Run a check; while it fails, let an agent mend what is wrong, with the output in its prompt.

Arguments: `check`, the command; `rounds` (5); `task`, what else the agent should know.
"""

meta = {
    "name": "fix-until-green",
    "description": "Let an agent mend what is wrong until a check passes",
    "phases": [{"title": "Check"}, {"title": "Fix"}],
}


async def main(args):
    check, rounds = args["check"], args.get("rounds", 5)
    phase("Check")
    done = await run(check, label="check")
    for number in range(1, rounds + 1):
        if done["passed"]:
            return {"green": True, "rounds": number - 1, "step": done["step"]}
        phase("Fix")
        said = await agent(
            f"The command `{check}` fails (exit {done['exit']}). Find the cause and mend it; do not"
            f" weaken the check. {args.get('task', '')}\n\nThe end of its output:\n\n"
            + done["output"][-8000:],
            label=f"fix:{number}",
        )
        if said is None:
            log("the agent gave no result; the check is tried all the same")
        done = await run(check, label=f"check:{number}")
    return {
        "green": done["passed"],
        "rounds": rounds,
        "step": done["step"],
        "output": "" if done["passed"] else done["output"][-2000:],
    }
