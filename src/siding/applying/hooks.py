"""Run the person's commit hooks on the commit that an apply makes (``--hooks``)."""

from siding.applying.git.commits import NewCommit, person_who_commits, read_commits, write_commit
from siding.applying.git.hooks import hooks_directory, rehearse, run_hook, staged_tree
from siding.applying.plan import ApplyPlan
from siding.record.moving.bench import Bench
from siding.record.moving.move import changed_paths
from siding.record.place.project import Project


def with_hooks(
    project: Project, bench: Bench, plan: ApplyPlan
) -> tuple[ApplyPlan, tuple[str, ...]]:
    """Run pre-commit (or pre-merge-commit) and commit-msg on the last commit of the plan.

    Returns the plan with what the hooks changed, and the git settings with which moving the branch
    runs the reference-transaction hook. Only the last commit is checked: its tree is the whole
    result. Raises HookRefused.
    """
    hooks = hooks_directory(bench)
    settings = (f"core.hooksPath={hooks}",)
    if not plan.target.branch or plan.new is None:
        return plan, settings
    (tip,) = read_commits(bench, [plan.new])
    place = rehearse(bench, project.user_settings, branch=plan.target.branch, tree=tip.tree)
    first = "pre-merge-commit" if len(tip.parents) > 1 else "pre-commit"
    run_hook(hooks, first, [], place)
    file = place.git_dir / "COMMIT_EDITMSG"
    file.write_bytes(tip.message)
    run_hook(hooks, "commit-msg", [str(file)], place)
    tree = staged_tree(bench, place)
    message = file.read_bytes().decode("utf-8", "replace")
    if tree == tip.tree and message.encode() == tip.message:
        return plan, settings
    person = person_who_commits(project.git, project.repository)
    commit = NewCommit(tree=tree, parents=tip.parents, message=message, author=tip.author)
    new = write_commit(bench, commit, person, sign=plan.wanted.sign)
    subject = message.partition("\n")[0]
    last = plan.commits[-1]._replace(sha=new, subject=subject)
    changes = changed_paths(bench.repository, bench.place(), plan.target.sha, tree)
    return plan._replace(
        new=new,
        tree=tree,
        message=message,
        commits=(*plan.commits[:-1], last),
        changes=tuple(changes),
    ), settings
