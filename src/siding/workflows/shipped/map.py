"""Give one prompt to many items, each to an agent of its own, and put the results together.

Arguments: `items`, a list, or `list`, a command that prints one a line; `prompt`, in which `{item}`
stands for the item; `write` (false): the agents change files, each in a workspace of its own, whose
change comes back; `merge`: what to make of all results, by one more agent.
"""

meta = {
    "name": "map",
    "description": "One prompt over many items, an agent for each; the results are put together",
    "phases": [{"title": "Map"}, {"title": "Merge"}],
}


async def main(args):
    items = args.get("items")
    if items is None:
        listed = await run(args["list"], label="list")
        items = [line for line in listed["output"].splitlines() if line.strip()]
    prompt, isolation = args["prompt"], "worktree" if args.get("write") else "read"

    def one(item):
        text = prompt.replace("{item}", str(item))
        if text == prompt:
            text = f"{prompt}\n\nThe item: {item}"
        return agent(text, label=str(item)[:40], isolation=isolation, details=True)

    phase("Map")
    log(f"{len(items)} items")
    done = await pipeline(items, one)
    results = [
        {
            "item": item,
            "result": found["output"],
            "conflicts": found.get("brought_back", {}).get("conflict", []),
        }
        for item, found in zip(items, done, strict=True)
        if found
    ]
    failed = [item for item, found in zip(items, done, strict=True) if not found]
    if failed:
        log(f"{len(failed)} items have no result: {failed}")
    merged = None
    if args.get("merge") and results:
        phase("Merge")
        shown = "\n\n".join(f"## {one['item']}\n{one['result']}" for one in results)
        merged = await agent(f"{args['merge']}\n\n{shown}", label="merge", isolation="read")
    return {"merged": merged, "results": results, "failed": failed}
