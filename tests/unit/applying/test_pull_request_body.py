"""The text of a pull request: what it shows of a task, and what it hides."""

from siding.applying.git.commits import RawCommit
from siding.applying.pull_request_body import body_of
from siding.ground.ids import Sha

from .ledgers import Told


def hidden(text: str) -> str:
    return text.replace("secret", "***")


def commits(*subjects: str) -> list[RawCommit]:
    return [
        RawCommit(Sha("1" * 40), Sha(""), (), b"", b"", f"{each}\n\nmore".encode())
        for each in subjects
    ]


NAMED = (("Siding-Task", "t1"),)


def test_a_task_that_says_nothing(told: Told) -> None:
    task = told.desk.task._replace(metadata={"description": " \n"})
    assert body_of(task, [], [], hide=hidden) == ""
    assert body_of(task, [], [], hide=hidden, trailers=NAMED) == "Siding-Task: t1\n"


def test_description_commits_and_steps(told: Told) -> None:
    task = told.desk.task._replace(metadata={"description": "\nWhy, secret.\n"})
    told.run(cmd=["sh", "-c", "x | `y` secret\n@z"], exit_code=0)
    told.run(diff_stat={"files": 1, "additions": 2, "deletions": 3}, exit_code=3)
    told.run(diff_stat={"files": 2, "additions": 1}, status="failed")
    told.apply()
    told.run()
    steps = list(told.ledger.steps())
    made, gone = commits("a @b | secret", "two"), {steps[-1].number}
    text = body_of(task, steps, made, hide=hidden, gone_back=gone, trailers=NAMED)
    quoted = steps[0].title.replace("secret", "***").replace("\n", " ").replace("`", "'")
    assert text.split("\n\n") == [
        "Why, ***.",
        "- a @\u200bb \\| ***\n- two",
        "| step | what | result | changed |\n"
        "| --- | --- | --- | --- |\n"
        f"| 0001 | `{quoted.replace('|', chr(92) + '|')}` | completed |  |\n"
        "| 0002 | `x` | exit 3 | 1 file +2 -3 |\n"
        "| 0003 | `x` | failed | 2 files +1 -0 |\n"
        "| 0005 | gone back from | | |",
        "Siding-Task: t1\n",
    ]


def test_long_lines_and_long_lists_are_cut(told: Told) -> None:
    steps = [told.run(cmd=["x" * length]) for length in (100, 101)]
    rows = body_of(told.desk.task, steps, [], hide=hidden).splitlines()
    assert rows[2].split("`")[1] == "x" * 100
    assert rows[3].split("`")[1] == "x" * 99 + "…"

    def last_row(count: int) -> str:
        text = body_of(told.desk.task, [steps[0]] * count, [], hide=hidden)
        assert text.count("| 0001 |") == min(count, 40)
        return text.splitlines()[-1]

    assert last_row(40).startswith("| 0001 |")
    assert last_row(41) == "| | and 1 more step | | |"
    assert last_row(43) == "| | and 3 more steps | | |"
