"""Where a command is that runs in a sandbox, as the broker of its run says."""

from siding.broker.inside import Inside
from siding.faces.cli.formats import print_json
from siding.faces.cli.screen.screen import Screen, inert


def print_status_inside(screen: Screen, inside: Inside, *, as_json: bool) -> None:
    """Print what the broker says of where this command is."""
    found = inside.ask("status")
    if as_json:
        print_json(screen, found)
        return
    task, phase = found["task"], found["phase"]
    lines = [
        ("task", f"{task['name']} ({task['id']}), {task['status']}"),
        ("run", f"{found['run']}, in a sandbox: what else is recorded can be seen outside"),
        ("workspace", found["workspace"]),
        ("base", found["base"]),
        ("phase", f"{phase['phase']}, step {phase['step']}" if phase else ""),
        ("last step", found["last_step"] or "none yet"),
        ("policy", "on" if found["policy"] else "off"),
        ("waits", ", ".join(found["questions"])),
    ]
    for label, text in lines:
        if text:
            screen.print(f"{screen.style(f'{label:<9}', 'dim')} {inert(text)}")
