"""All rows of `run.py prove` that are tests. A proof is added by a line in `ROWS`."""

from prove.row import Row

# Words in the names of tests that plant a mistake and want a gate to fail: they show that a gate
# sees, not that the product is right: they are a row of their own.
PLANTED = ("planted_", "would_be", "the_gate_sees", "the_control")
GATES = tuple(
    f"tests/faults/test_{name}.py"
    for name in (
        "commands_kill",
        "commands_errors",
        "commands_removal",
        "undo_faults",
        "undo_recovery",
        "apply_faults",
        "decide_faults",
        "phase_faults",
        "policy_faults",
        "sandbox_faults",
        "retention_faults",
        "fork_faults",
    )
)
FAILING = ("err", "full", "short", "fails", "signal", "output", "reader", "screen")
TIMES = "SIDING_FAULTS_TIMES"
# Rows that a table has on request only: it is to take ten minutes.
ON_REQUEST = ("workflows", "conversations", "clients", "agents", "own-agent", "house", "rest")
LEFT = {"SIDING_PROVE": "left"}  # only what the suite has not tried
A_HALF = {"SIDING_PROVE_SHARE": "0.5"}  # of the cases of each long table, drawn by the seed
LONG_S = 3600.0  # for the rows that are long also on a quiet machine
# Words in the names of tests that the suite leaves out and a row of their own tries.
OF_TWENTY_TURNS = ("of_twenty_turns",)
ELSEWHERE = (
    *OF_TWENTY_TURNS,
    *("bit_equal", "stays_found", "every_command_has_its_answer", "killed_or_torn"),
    *("fails_or_is_short", "it_is_contained", "goes_on_after_a_kill", "may_be_the_last"),
    "nothing_planted_runs",
)

_PROOFS: dict[str, Row] = {
    "walk": Row(
        "random walks: every recorded state comes back, byte for byte",
        (
            "tests/integration/undo/test_walk.py",
            "tests/integration/undo/test_git_walk.py",
            "tests/integration/test_retention_walk.py",
        ),
        only=("TestWalk", "TestGitWalk", "bit_equal"),
        variables={"SIDING_WALKS": "6"},
    ),
    "beside": Row(
        "random walks while runs live: nothing recorded is lost, and the runs go on",
        ("tests/integration/undo/test_runs_walk.py",),
        only=("TestRunsWalk",),
        variables={"SIDING_WALKS": "6"},
    ),
    "forks": Row(
        "forks of random states, and two hundred at once: the recorded state, to the byte",
        ("tests/integration/forks/test_many_forks.py",),
    ),
    "kill": Row(
        "kill -9 at a system call, and again while recovering",
        GATES,
        leave_out=(*PLANTED, *FAILING, "power"),
        variables={TIMES: "1", **A_HALF},
    ),
    "runs": Row(
        "host, keeper, agent or terminal of a run is killed: nothing goes on unseen",
        (
            "tests/faults/test_run_kills.py",
            "tests/faults/test_paused_runs.py",
            "tests/agents/test_killed.py",
        ),
        variables={TIMES: "1", **A_HALF},
    ),
    "conversations": Row(
        "host, agent or viewer of a conversation is killed: no prompt is lost, none goes twice",
        ("tests/faults/test_conversation_kills.py", "tests/agents/test_chat_killed.py"),
        variables={TIMES: "1"},
        deadline_s=4 * LONG_S,  # 200 moments with each client
    ),
    "error": Row(
        "a system call fails, a short write, a signal, a full disk from one call on",
        GATES,
        only=FAILING,
        leave_out=(*PLANTED, "power"),
        variables={TIMES: "1", **A_HALF},
    ),
    "apply": Row(
        "an apply in ten checkouts: git or Siding dies, git fails, the disk fails or is full",
        ("tests/faults/test_apply_checkouts.py",),
        leave_out=PLANTED,
        variables={TIMES: "1"},
    ),
    "apart": Row(
        "the repository and the home on two file systems: killed, failing, full, at any call",
        (*GATES, "tests/faults/test_two_file_systems.py"),
        leave_out=(*PLANTED, "power", "reading_from_a_disk"),  # what only reads moves nothing
        variables={TIMES: "1", "SIDING_FAULTS_APART": "1", "SIDING_PROVE_SHARE": "0.25"},
    ),
    "terminal": Row(
        "ten thousand random keys over cards answer nothing; ten tasks worked by the screen alone",
        (
            "tests/unit/faces/tui/cards/test_random_keys.py",
            "tests/integration/tui/test_answers.py",
            "tests/integration/tui/test_home.py",
        ),
        only=("without_its_own_chord", "random_keys_over", "a_day_at_the_screen"),
        draws=False,
    ),
    "homes": Row(
        "a home that was restored, moved or copied, or that holds files of others: it goes on",
        ("tests/integration/test_restored_homes.py", "tests/integration/test_foreign_files.py"),
        draws=False,
    ),
    "ended": Row(
        "what waited for an answer does not run, in whatever way its run, broker or hook ends",
        ("tests/integration/broker/test_ended_canary.py",),
    ),
    "failing": Row(
        "a failing disk below the home: every command has its answer, nothing old is lost",
        ("tests/faults/test_failing_disk.py",),
        variables={TIMES: "3"},
    ),
    "power": Row(
        "a power cut: what was acknowledged is whole, the rest absent or whole",
        (
            *GATES,
            *(f"tests/faults/test_{name}_power.py" for name in ("commands", "records", "trash")),
        ),
        only=("power",),
        leave_out=PLANTED,
        variables={TIMES: "1", **A_HALF},
    ),
    "together": Row(
        "a second command, a person or git comes in between at a system call",
        ("tests/faults/test_undo_rivals.py", "tests/faults/test_commands_together.py"),
        leave_out=PLANTED,
        variables={TIMES: "1"},
    ),
    "writers": Row(
        "a file is saved beside an act, at any of its calls: not a byte is lost",
        ("tests/faults/test_aimed_writers.py",),
        only=("no_byte",),
        variables={TIMES: "2"},
    ),
    "workflows": Row(
        "a run of a workflow is killed at any moment: right result, nothing finished runs twice",
        (
            *(
                f"tests/faults/test_workflow_{name}.py"
                for name in ("disk", "faults", "journal", "state")
            ),
            "tests/faults/test_workflow_lines.py",
            "tests/unit/workflows/test_budget_laws.py",
            "tests/unit/workflows/test_escapes.py",
            "tests/unit/workflows/test_laws.py",
            "tests/unit/workflows/test_same_everywhere.py",
        ),
        leave_out=PLANTED,
        variables={"SIDING_WORKFLOW_KILLS": "60", "SIDING_WORKFLOW_LAWS": "20"},
        deadline_s=LONG_S,
    ),
    "tampering": Row(
        "the record is edited, cut, swapped or put back: `siding verify` names it",
        ("tests/integration/test_tampering.py", "tests/faults/test_anchor_faults.py"),
        leave_out=PLANTED,
        variables={TIMES: "1"},
    ),
    "store": Row(
        "journals and documents: kills, errors, power cuts, damage, many writers",
        ("tests/faults/test_storage_faults.py",),
        leave_out=PLANTED,
        variables={TIMES: "1"},
    ),
    "sessions": Row(
        "transcripts: kills, errors, power cuts, damage, many writers",
        ("tests/integration/sessions/test_faults.py",),
        leave_out=PLANTED,
        variables={TIMES: "1"},
    ),
    "damage": Row(
        "damaged, newer and older files, clocks that jump: named, never rewritten",
        ("tests/faults/test_commands_damage.py", "tests/faults/test_commands_time.py"),
        leave_out=PLANTED,
        variables=A_HALF,
    ),
    "vectors": Row(
        "a hostile repository: no command runs a program that git's files plant",
        ("tests/faults/test_commands_hostile.py", "tests/unit/record/git/test_hostile.py"),
        variables={"SIDING_FAULTS": "full", **A_HALF},
    ),
    "escapes": Row(
        "a run tries to get out of its sandbox: both engines, as root and as an ordinary user",
        ("tests/integration/escapes/", "tests/integration/test_sandboxed_git.py"),
        variables=A_HALF,
    ),
    "broker": Row(
        "a run says anything to its broker: one answer each, nothing that a person does",
        ("tests/integration/broker/test_fuzz.py",),
        variables={TIMES: "8"},
    ),
    "requests": Row(
        "the dashboard: hostile requests, pages and records",
        (
            "tests/integration/web/test_hostile_requests.py",
            "tests/integration/web/test_gates.py",
            "tests/browser/test_hostile.py",
        ),
        draws=False,
    ),
    "corpora": Row(
        "policy lines, secrets, conversations: the verdict on each",
        (
            "tests/unit/shellguard/test_lines.py",
            "tests/unit/shellguard/test_differential.py",
            "tests/unit/secretmask/test_cases.py",
            "tests/unit/agents/transcripts/test_cases.py",
        ),
        draws=False,
    ),
    "planted": Row(
        "a mistake is planted for each gate, and the gate sees it",
        (
            *GATES,
            *(
                f"tests/faults/test_{name}.py"
                for name in ("anchor_faults", "commands_power", "harness", "storage_faults")
            ),
            "tests/faults/test_records_power.py",
            "tests/faults/test_trash_power.py",
            "tests/faults/test_undo_planted.py",
            "tests/faults/test_workflow_journal.py",
            "tests/faults/test_workflow_state.py",
            "tests/integration/sessions/test_faults.py",
            "tests/unit/ground/storage/test_kills.py",
        ),
        only=(
            *PLANTED,
            "right_store",
            "not_written_down",
            "takes_no_lock",
            "may_be_the_last",
            "damage_gate",
        ),
        variables=A_HALF,
        draws=False,  # the mistake is met by the samples that these tests name
    ),
    "disk": Row(
        "no room, no names left, a read-only home: reading works, gc makes room",
        ("tests/integration/test_no_room.py", "tests/integration/test_no_room_matrix.py"),
        draws=False,
    ),
}

# Files of which a row that everybody runs tries each test: `rest` does not try them again.
_TRIED_WHOLE = tuple(
    path
    for name, row in _PROOFS.items()
    if name not in ON_REQUEST and not row.only and set(row.leave_out) <= set(PLANTED)
    for path in row.select
)

ROWS: dict[str, Row] = {
    **_PROOFS,
    "clients": Row(
        "all that real agents report, are told, ask and go back in, with each of them",
        ("tests/agents/",),
        leave_out=(*PLANTED, *ELSEWHERE),
        variables=LEFT,
        draws=False,
        deadline_s=LONG_S,
    ),
    "agents": Row(
        "real agents: what the suite leaves out because of what it costs",
        ("tests/agents/",),
        leave_out=(*PLANTED, *ELSEWHERE),
        variables={"SIDING_PROVE": "cost"},
        draws=False,
    ),
    "own-agent": Row(
        "Siding's own agent, killed at each event and append of twenty turns, goes on",
        ("tests/integration/built_in_agent/",),
        only=OF_TWENTY_TURNS,
        variables=LEFT,
        draws=False,
        deadline_s=LONG_S,
    ),
    "house": Row(
        "the house without a feature at its top: the rest imports, records, goes back, applies",
        ("tests/integration/test_taken_out.py",),
        draws=False,
    ),
    "rest": Row(
        "whatever else the suite leaves out: long tests, and every case of what has many of a kind",
        ("tests/browser/", "tests/integration/", "tests/scripts/", "tests/unit/"),
        leave_out=(*PLANTED, *ELSEWHERE),
        ignore=_TRIED_WHOLE,
        variables=LEFT,
        draws=False,
        deadline_s=LONG_S,
        has_parts=True,
    ),
}
