"""Plan first, let a person say yes, then build it and check it.

Arguments: `goal`; `check`, a command that the result has to pass; `rounds` (3) of planning.
"""

meta = {
    "name": "plan-then-build",
    "description": "A plan that a person approves, then the work, then its check",
    "phases": [{"title": "Plan"}, {"title": "Build"}, {"title": "Check"}],
}
YES, AGAIN, STOP = "build it", "plan again", "stop"


async def main(args):
    goal, check = args["goal"], args.get("check")
    phase("Plan")
    wish, plan = "", None
    for number in range(1, args.get("rounds", 3) + 1):
        plan = await agent(
            f"Plan how to reach this goal; change nothing yet: {goal}\n\nName the files, the steps"
            f" in their order, what could go wrong, and how it is tested.{wish}",
            label=f"plan:{number}",
            isolation="read",
        )
        if plan is None:
            return {"built": False, "why": "there is no plan: the agent gave no result"}
        answer = await ask("Is this the way?", options=[YES, AGAIN, STOP], context=plan)
        if answer == YES:
            break
        if answer == STOP:
            return {"built": False, "why": "a person stopped it", "plan": plan}
        wanted = await ask("What should be different?")
        wish = f"\n\nThe last plan was:\n{plan}\n\nA person wants it changed: {wanted}"
    else:
        return {"built": False, "why": "no plan was approved", "plan": plan}

    phase("Build")
    said = await agent(
        f"Reach this goal: {goal}\n\nFollow this plan; say where you had to leave it:\n\n{plan}",
        label="build",
    )
    if not check:
        return {"built": said is not None, "plan": plan, "says": said}
    phase("Check")
    green = await workflow("fix-until-green", {"check": check, "task": f"The goal: {goal}"})
    return {"built": green["green"], "plan": plan, "says": said, "check": green}
