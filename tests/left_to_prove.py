"""What of the long proofs the suite does not try: `run.py prove` does, in the row that has it.

A proof goes over many commands, faults or files. Most of its cases go the same way through the
product, and each costs a second of a processor. The suite keeps those named here, which differ in
kind; the row of `prove/rows.py` tries all. `tests/unit/test_prove.py` asserts that it has them.
So are the mistakes that are planted to see whether a gate catches them: a kind of each stays.

`left_by_cost.tsv` names more of them, chosen by what they cost. Where a test took more than 0.4 s
of processor time in `tests/integration`, or a table of cases more than 0.6 s, others of its file
stay, or one of its cases.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

_WANTED = os.environ.get("SIDING_PROVE")  # `run.py prove` sets it
ALL = _WANTED in ("1", "left", "cost")
ALONE = _WANTED in ("left", "cost")  # what the suite has tried is not tried again

_FAULTS = "tests/faults/test_"
_INTEGRATION = "tests/integration/test_"
_UNIT = "tests/unit/"
_AGENTS = "tests/agents/test_taken_back.py::TestGoneOnWith::test_"
_CHANGED = "tests/agents/test_changed_here.py::test_"
_TURNS = "tests/agents/test_conformance.py::TestTurns::test_"
_VERDICTS = "tests/agents/test_conformance.py::TestVerdicts::test_"
_BY_SCREEN = "tests/agents/test_by_the_screen.py::test_"
_INTEGRATED = "tests/agents/test_integrated.py::test_"
_CANARY = "tests/integration/broker/test_ended_canary.py::test_"
_TYPED = "tests/agents/test_typed_meanwhile.py::test_what_"
_TALKING = "tests/agents/talking/test_conformance.py::test_"
_TALKING_HELD = "tests/agents/talking/test_conformance.py::TestHeld::test_"
_TALKING_BACK = "tests/agents/talking/test_going_back.py::test_"
_BACK = "tests/agents/test_going_back.py::test_"
_CALLS = "tests/agents/calls/test_conformance.py::test_"
_BROWSER = "tests/browser/test_"
_DEVICES = "tests/integration/devices/test_"
# Of what goes through a browser or a paired device the suite has one way through each page and
# door.
_WITH_BROWSERS = (
    "a_phone_and_a_second_machine_over_tls",
    "a_session_that_has_ended_begins_again_by_itself",
    "a_removed_browser_falls_back_to_the_code_on_the_loopback",
    "a_browser_that_is_paired_here_is_paired_after_a_new_start",
    "who_does_not_touch_the_authenticator_types_the_code",
    "a_browser_without_a_store_works_as_before",
    "wrong_codes_are_told_and_the_right_one_still_pairs",
)
_DECIDED = (
    "the_keyboard_alone_is_enough_and_choices_survive_a_reload",
    "the_second_answer_is_told_that_it_is_the_second",
    "a_question_of_no_task_comes_to_the_board_and_is_cancelled_with_a_code",
)
_ACTS = (
    "a_step_that_begins_is_seen_and_followed_without_a_reload",
    "what_was_shown_is_done_or_nothing_is",
    "the_board_starts_switches_and_closes_tasks",
    "a_tab_without_the_key_asks_the_others_and_then_the_person",
)
_SERVED = (
    "hostile_requests_are_refused_there_too",
    "who_speaks_no_tls_and_who_is_slow_keep_nobody_out",
    "one_address_that_asks_too_often_is_told_to_wait",
    "an_ordinary_question_wants_the_signature_as_well",
    "the_certificate_stays_until_it_lacks_a_name",
    "what_is_no_address_of_this_machine_is_refused",
    "a_device_of_the_loopback_is_no_device_of_the_served_page",
)
_SIGNED = (
    "a_signature_of_anything_else_opens_nothing",
    "a_challenge_is_good_once_whatever_became_of_the_request",
    "a_flood_of_refusals_does_not_fill_the_disk",
    "a_device_that_is_not_paired_and_one_that_was_removed",
)
_PAIRED = (
    "two_devices_never_have_one_name",
    "wrong_codes_end_the_offer",
    "a_code_that_is_too_old_pairs_nothing",
    "a_device_is_removed_by_name",
    "doctor_says_who_is_paired_and_whether_it_is_served",
)
# What each agent can is the same suite for all; the suite has it of two, which differ most.
_HELD = (
    "it_opens_and_says_what_it_can",
    "a_turn_with_streamed_text",
    "it_says_that_it_has_the_prompt",
    "thoughts_are_apart",
    "two_turns_are_one_conversation",
    "a_tool_with_its_edit",
    "an_edit_of_a_file_that_is_there",
    "a_permission_is_asked_and_allowed",
    "a_permission_is_denied_with_a_reason",
    "it_is_stopped_in_a_text",
    "it_is_stopped_in_a_tool",
    "what_it_asked_is_gone_after_a_stop",
    "a_steer_goes_into_the_turn",
    "a_steer_that_was_not_taken_is_left",
    "a_picture_is_in_the_request",
    "a_question_is_answered",
    "the_model_is_changed",
    "it_is_compacted",
)
_ESCAPES = "tests/integration/escapes/test_escapes.py::Test"
_IN_BWRAP = (
    "a_loopback_of_its_own_reaches_nobody",
    "with_the_network_only_servers_are_reached",
    "nothing_is_left",
)
_IN_LANDLOCK = ("a_loopback_of_its_own_is_none", "what_is_left_is_listed")


def _chosen_by_cost() -> Mapping[str, Collection[str]]:
    """Read a file in a line, and below it its tests, each with the cases that the suite keeps."""
    found: dict[str, tuple[str, ...]] = {}
    file = ""
    for line in Path(__file__).with_name("left_by_cost.tsv").read_text("utf-8").splitlines():
        first, *others = line.split("\t")
        if first:
            file = first
        else:
            found[f"{file}::{others[0]}"] = tuple(others[1:])
    return found


# test -> its cases in the suite; none where another test of the suite covers the way through
_BY_KIND: Mapping[str, Collection[str]] = {
    f"{_FAULTS}aimed_writers.py::test_no_byte_of_a_writer_is_lost": ("undo of an apply",),
    f"{_FAULTS}anchor_faults.py::test_killed_at_every_call_from_the_line_to_the_end": ("first",),
    f"{_FAULTS}anchor_faults.py::test_killed_again_while_recovering": (),
    f"{_FAULTS}anchor_faults.py::test_killed_while_a_task_gets_another_base": (),
    f"{_FAULTS}anchor_faults.py::test_what_was_promised_is_anchored_after_a_power_cut": (
        "appended-ordered",
    ),
    # The suite strikes the calls of one checkout that moves, another one with another seed.
    f"{_FAULTS}apply_checkouts.py::test_each_fault_at_calls_of_the_move": (),
    f"{_FAULTS}commands_damage.py::"
    "test_a_directory_in_the_place_of_a_file_of_runs_stops_no_command": (
        *("runs/r7.json", "runs/paused"),
    ),
    f"{_FAULTS}commands_damage.py::test_a_file_of_a_newer_version_is_refused_and_never_rewritten": (
        *("project/worktrees.json", "project/state.json", "alpha/task.json"),
    ),
    f"{_FAULTS}commands_errors.py::test_a_signal_at_any_call": ("run",),
    f"{_FAULTS}commands_errors.py::test_one_call_fails": ("run",),
    # `test_failing_disk.py` fails all reads of each command in the suite.
    f"{_FAULTS}commands_errors.py::test_reading_from_a_disk_that_answers_eio": (),
    f"{_FAULTS}commands_errors.py::test_the_disk_is_full_from_one_call_on": (
        *("run", "worktree remove"),
    ),
    # The vectors that cannot be planted beside the others; of two the one that goes further.
    f"{_FAULTS}commands_hostile.py::test_no_command_runs_what_is_planted": ("evil-.git-file",),
    f"{_FAULTS}commands_kill.py::test_killed_again_while_recovering": ("run-again0",),
    f"{_FAULTS}commands_kill.py::test_killed_at_any_call": (
        *("first run", "run", "checkpoint", "task close"),
    ),
    f"{_FAULTS}commands_power.py::test_the_power_fails_and_nothing_arrives_in_order": ("run",),
    f"{_FAULTS}commands_power.py::test_the_power_fails_while_git_is_at_work": (
        *("run", "task close"),
    ),
    f"{_FAULTS}commands_together.py::test_a_second_command_comes_at_any_call": (
        *("two starts", "close, run beside it"),
    ),
    f"{_FAULTS}conversation_kills.py::test_planted_an_agent_that_forgets_is_seen": (),
    f"{_FAULTS}paused_runs.py::test_the_next_command_lets_them_go_on_and_recovers": (
        *("all are stopped", "files were moved"),
    ),
    f"{_FAULTS}records_power.py::test_the_power_fails": ("decide clean",),
    f"{_FAULTS}retention_faults.py::test_a_disk_that_fails": (),
    f"{_FAULTS}retention_faults.py::test_killed_at_any_call_of_a_second_freeing": (),
    f"{_FAULTS}retention_faults.py::test_killed_where_it_deletes": (),
    f"{_FAULTS}retention_faults.py::test_the_power_fails": ("ordered",),
    f"{_FAULTS}run_kills.py::test_nothing_goes_on_unseen": (
        *("keeper-sandboxed-idle", "both-foreground-writing"),
    ),
    # A journal and a document; the others are made of the same two writes.
    f"{_FAULTS}storage_faults.py::test_killed_or_torn_at_any_call": ("append", "document", "move"),
    f"{_FAULTS}storage_faults.py::test_one_call_fails": ("append", "document", "move"),
    f"{_FAULTS}storage_faults.py::test_the_disk_is_full_from_one_call_on": ("append", "document"),
    f"{_FAULTS}storage_faults.py::test_the_power_fails_at_any_moment": (
        *("strict-append", "strict-document", "strict-move", "ordered-append", "ordered-migrate"),
    ),
    f"{_FAULTS}trash_power.py::test_the_power_fails": (
        *("gc of several packs", "rollback --force", "redo"),
    ),
    f"{_FAULTS}undo_faults.py::test_close": ("kill", "full"),
    f"{_FAULTS}undo_faults.py::test_gc": ("kill", "full"),
    f"{_FAULTS}undo_faults.py::test_rollback": ("kill", "torn", "full"),
    f"{_FAULTS}undo_faults.py::test_sync": ("kill", "err:EIO"),
    f"{_FAULTS}undo_recovery.py::test_killed_again_while_recovering": (
        *("apply", "close", "rollback", "undo of an apply"),
    ),
    f"{_FAULTS}undo_recovery.py::test_the_power_fails": ("gc", "rollback"),
    # The suite kills runs and has failing disks with the journal alone, which all else stands on.
    f"{_FAULTS}workflow_disk.py::test_any_call_fails_or_the_disk_is_full_or_it_is_killed": (),
    f"{_FAULTS}workflow_faults.py::test_killed_at_any_size_of_its_journal": ("0",),
    f"{_FAULTS}workflow_journal.py::test_the_power_fails": (),
    f"{_FAULTS}workflow_state.py::"
    "test_a_disk_that_fails_under_it_costs_the_view_and_not_the_run": (),
    f"{_FAULTS}workflow_state.py::test_killed_or_torn_or_the_disk_is_full_from_there_on": (),
    f"{_FAULTS}workflow_lines.py::test_each_line_is_there_once_but_of_calls_that_were_cut_off": (),
    f"{_INTEGRATION}no_room_matrix.py::test_every_command_has_its_answer": (),
    # It starts npm twice; what a sandbox does with a cache is in the suite without it.
    f"{_INTEGRATION}package_caches.py::test_npm_installs_what_is_there_and_what_is_not": (),
    f"{_INTEGRATION}retention_walk.py::test_what_stays_is_bit_equal_and_what_went_says_so": (),
    f"{_INTEGRATION}tampering.py::test_it_is_found_and_stays_found": (
        *("last_exit_code", "last_with_a_byte_changed", "last_step_removed_with_its_snapshot"),
        *("last_step_replaced_by_another_number", "ledger_removed", "thirty_bytes_cut_off"),
        *("forged_at_the_end", "first_command", "middle_removed", "middle_inserted"),
        *("middle_swapped", "chained_again_after_an_edit", "old_ledger_put_back"),
        *("ledger_of_another_task", "patch_changed", "output_cut", "artifact_added"),
        *("ref_moved_back", "objects_removed", "task_base", "task_branch", "workspace_base"),
        *("anchor_removed", "anchor_is_a_link", "anchor_with_another_head", "old_anchor"),
    ),
    # That the commands of every day do without them all is in the suite.
    f"{_INTEGRATION}taken_out.py::test_the_rest_stands_without_it": (),
    "tests/integration/sessions/test_faults.py::test_killed_or_torn_at_any_call": (
        *("say", "compact"),
    ),
    "tests/integration/sessions/test_faults.py::"
    "test_one_call_fails_or_is_short_or_the_disk_is_full": ("say", "branch"),
    # Each agent is held once for most cases; these start it once or twice more.
    **{f"{_TALKING_HELD}{name}": ("claude", "codex") for name in _HELD},
    f"{_TALKING}it_goes_on_in_a_new_process": ("claude", "codex"),
    f"{_TALKING}always_holds_for_the_conversation": ("claude",),
    f"{_TALKING}nothing_else_is_written": ("claude", "codex"),
    f"{_TALKING}what_its_record_proves_is_so": ("400-claude", "100-codex"),
    f"{_TALKING}a_turn_that_has_ended_is_proven": (),
    f"{_TALKING_BACK}the_next_request_has_only_what_was_before": ("codex",),
    f"{_TALKING_BACK}where_its_record_has_no_such_prompt_it_does_not_go_on": ("codex",),
    f"{_TALKING_BACK}there_is_no_way_to_before_a_compaction": ("codex",),
    f"{_BACK}its_model_hears_nothing_of_turns_that_were_taken_back": ("codex",),
    f"{_BACK}what_a_person_has_cleared_does_not_come_back": (),
    "tests/agents/editors/test_mcp_servers.py::test_an_agent_gets_the_servers_of_an_editor": (
        "codex",
    ),
    "tests/agents/test_chat.py::test_ten_turns_with_asks_an_undo_a_steer_a_stop_and_a_new_host": (
        "codex",
    ),
    "tests/agents/test_handover.py::test_it_goes_to_the_own_screen_and_back": ("codex",),
    "tests/agents/test_handover.py::test_its_own_screen_becomes_a_conversation": ("claude",),
    # Real agents: each goes one of the two ways in the suite.
    f"{_AGENTS}the_copy_can_be_gone_back_in_as_well_and_to_the_beginning": (),
    f"{_AGENTS}a_redo_leaves_it_whole_and_what_was_taken_back_is_not_heard": (),
    # Two of the agents take 5 and 10 s for what takes the others 3; the suite has some of theirs.
    f"{_TURNS}a_prompt_is_a_step_named_by_it": ("claude", "codex"),
    f"{_TURNS}what_each_tool_changed_can_be_a_step_within_the_turn": ("codex",),
    f"{_TURNS}a_commit_is_told_by_what_was_asked": ("codex",),
    f"{_TURNS}the_model_is_told_what_it_may_ask": ("claude",),
    f"{_TURNS}in_a_sandbox": ("codex",),
    f"{_TURNS}without_reports_it_is_as_it_was": ("codex",),
    f"{_TURNS}the_home_is_as_without_siding": ("claude", "codex"),
    "tests/agents/test_settings_stay.py::test_the_persons_settings_stay_however_it_ends": (
        "claude-terminated",
    ),
    f"{_VERDICTS}a_blocked_command_does_not_run_and_the_model_is_told": ("claude", "codex"),
    f"{_VERDICTS}a_person_is_asked": ("claude-run-True", "codex-refuse-False"),
    f"{_VERDICTS}under_require_nothing_runs_without_a_verdict": ("claude-dead", "codex-lying"),
    f"{_CHANGED}a_branch_goes_on_beside_the_old_one": (),
    f"{_CHANGED}a_summary_is_what_the_model_hears": (),
    f"{_CHANGED}it_goes_on_without_what_was_left_behind": (),
    "tests/agents/test_conformance.py::TestTools::test_it_asks_a_person_and_is_answered": (
        "claude",
    ),
    "tests/agents/test_taken_back.py::TestTold::"
    "test_a_conversation_that_goes_on_whole_is_told_what_was_taken_back": (),
    "tests/agents/test_hard_sessions.py::test_a_server_that_fails_costs_no_turn": ("codex",),
    "tests/agents/test_conformance.py::TestTools::test_opencode_asks_in_a_sandbox": (),
    "tests/agents/test_interrupted.py::"
    "test_a_turn_that_is_interrupted_is_a_step_with_its_own_patch": (),
    "tests/agents/test_long_turns.py::test_a_turn_of_two_minutes_is_one_step": (),
    "tests/agents/test_ten_turns.py::"
    "test_ten_turns_are_ten_steps_and_the_third_can_be_taken_back": (),
    "tests/agents/test_metered.py::test_calls_in_a_websocket_are_counted": (),
    f"{_BY_SCREEN}a_task_from_its_start_to_its_apply_and_back": ("claude",),
    f"{_INTEGRATED}in_a_workspace_each_turn_is_a_step": ("codex",),
    # Who begins a turn with what waited, and who takes it into the one that runs, is told by their
    # hooks as by those of the two that the suite drives.
    f"{_TYPED}is_typed_while_it_works_is_of_the_turn_and_taken_back_with_it": ("claude", "codex"),
    f"{_TYPED}is_typed_while_gemini_works_begins_its_next_turn": (),
    f"{_INTEGRATED}in_a_checkout_turns_are_beside_the_branch": ("claude",),
    f"{_INTEGRATED}in_a_run_its_own_hooks_report_alone": ("claude",),
    f"{_INTEGRATED}gemini_keeps_old_conversations": (),
    f"{_INTEGRATED}elsewhere_nothing_is_recorded": ("codex",),
    f"{_INTEGRATED}taken_out_again_the_settings_are_as_before": ("codex",),
    # Long ones: others of the same file go the same way.
    "tests/agents/test_metered.py::test_the_counts_are_those_of_the_server": ("claude", "codex"),
    "tests/agents/test_metered.py::test_errors_and_retries_are_in_the_step": ("codex",),
    "tests/agents/test_metered.py::test_a_stream_that_is_cut_is_in_the_step": ("codex",),
    "tests/agents/test_metered.py::test_in_a_sandbox_with_a_list_of_hosts": ("codex",),
    "tests/agents/test_killed.py::test_a_session_goes_on_after_a_kill": (),
    "tests/agents/test_hard_sessions.py::test_a_day_of_claude_code": (),
    f"{_BROWSER}accessible.py::test_no_page_has_a_violation": (),
    f"{_BROWSER}accessible.py::test_each_check_can_fail": (),
    f"{_BROWSER}windows.py::test_a_large_patch_and_a_large_output_open_at_once": (),
    f"{_BROWSER}workflows.py::test_a_bar_leads_to_its_agent_and_the_pages_have_no_violation": (),
    **dict.fromkeys((f"{_BROWSER}devices.py::test_{name}" for name in _WITH_BROWSERS), ()),
    **dict.fromkeys((f"{_BROWSER}decisions.py::test_{name}" for name in _DECIDED), ()),
    **dict.fromkeys((f"{_BROWSER}acts.py::test_{name}" for name in _ACTS), ()),
    f"{_DEVICES}runs.py::test_a_device_opens_the_gate_that_holds_a_run_back": ("none",),
    f"{_DEVICES}runs.py::test_a_device_answers_what_a_run_asks": ("bwrap",),
    f"{_DEVICES}runs.py::test_in_a_sandbox_a_run_reaches_neither_the_key_nor_the_devices": (
        "landlock",
    ),
    f"{_DEVICES}signed_answers.py::test_what_changes_files_stays_behind_the_code": ("apply",),
    **dict.fromkeys((f"{_DEVICES}served.py::test_{name}" for name in _SERVED), ()),
    **dict.fromkeys((f"{_DEVICES}signed_answers.py::test_{name}" for name in _SIGNED), ()),
    **dict.fromkeys((f"{_DEVICES}pairing.py::test_{name}" for name in _PAIRED), ()),
    "tests/integration/undo/test_git_walk.py::TestGitWalk::runTest": (),
    "tests/integration/undo/test_empty_directories.py::"
    "test_every_recorded_state_comes_back_with_its_empty_directories": (),
    "tests/integration/undo/test_permissions.py::test_closing_freeing_and_reopening_keep_modes": (),
    "tests/integration/broker/test_tools.py::TestTheFront::"
    "test_so_it_does_in_each_version_of_the_older_era": ("2024-11-05",),
    "tests/integration/sessions/test_faults.py::"
    "test_a_damaged_transcript_costs_what_the_damage_covers": (),
    "tests/integration/web/test_life.py::test_a_large_output_is_never_read_whole": (),
    # Of sandboxes: each engine without a network, where least is open, and the same in the open.
    **dict.fromkeys((f"{_ESCAPES}Bwrap::test_{name}" for name in _IN_BWRAP), ()),
    **dict.fromkeys((f"{_ESCAPES}Landlock::test_{name}" for name in _IN_LANDLOCK), ()),
    f"{_ESCAPES}Bwrap::test_what_cannot_be_reached_is_there": ("user",),
    f"{_ESCAPES}Landlock::test_only_what_is_said_gets_out": ("user",),
    f"{_INTEGRATION}background_gc.py::"
    "test_it_is_not_started_where_it_is_off_or_was_lately_or_somebody_holds_a_lock": (),
    f"{_INTEGRATION}background_gc.py::"
    "test_a_run_that_does_nothing_at_all_is_looked_at_again_after_a_lock": (),
    f"{_INTEGRATION}turns.py::test_a_turn_that_cannot_be_recorded_is_said_and_tried_again": (),
    f"{_INTEGRATION}beside_runs.py::test_one_that_never_closes_its_file_is_named": (),
    f"{_INTEGRATION}together.py::test_told_to_stop_it_ends_everything_and_records_it": ("15",),
    f"{_INTEGRATION}lost_snapshots.py::test_the_doctor_lets_the_recording_go_on": (
        *("lose", "damage_packs"),
    ),
    f"{_FAULTS}commands_damage.py::test_a_damaged_file_is_named_and_the_rest_is_read": (),
    f"{_INTEGRATION}hosting.py::test_fifty_runs_at_once_cancelled_at_random": (),
    f"{_INTEGRATION}turns.py::test_many_turns_do_not_push_the_steps_before_them_out": (),
    f"{_INTEGRATION}turns.py::test_the_timer_records_also_what_is_never_quiet": (),
    f"{_INTEGRATION}turns.py::test_a_command_that_works_or_prints_has_no_quiet_moment": ("works",),
    f"{_INTEGRATION}survive.py::test_it_goes_on_and_its_end_is_recorded": (
        *("options0-True", "options2-False"),
    ),
    f"{_INTEGRATION}survive.py::test_stop_ends_it": ("options0",),
    f"{_INTEGRATION}left_running.py::test_closing_and_removing_refuse": ("verb0",),
    "tests/integration/broker/test_broker.py::test_a_run_asks_and_is_told": ("bwrap",),
    "tests/integration/sync/test_as_git.py::test_it_comes_to_what_git_comes_to": (),
    "tests/integration/web/test_hostile_requests.py::"
    "test_a_head_and_a_body_have_to_come_in_time": (),
    f"{_UNIT}shellguard/test_differential.py::test_what_harms_the_canary_was_not_allowed": ("few",),
    f"{_UNIT}comments/test_anchor.py::test_comments_over_two_hundred_edits_are_right_or_stale": (
        *("0", "3"),
    ),
    f"{_UNIT}ground/process/test_keeper.py::test_a_killed_host_takes_everything_with_it": (
        *("pty-early", "piped-late"),
    ),
    f"{_UNIT}ground/process/test_tree.py::test_a_timeout_ends_daemons_whatever_they_forgot": (
        *("False-pty", "True-piped"),
    ),
    # Claude's own is imported in `test_it_goes_to_claude_and_comes_back`, too.
    "tests/agents/test_across.py::test_it_goes_on_with_what_others_have_held": ("codex",),
    f"{_FAULTS}paused_runs.py::test_without_a_next_command_their_host_lets_them_go_on": (),
    f"{_FAULTS}retention_faults.py::test_killed_at_any_call": (),
    f"{_FAULTS}fork_faults.py::test_making": ("make-pooled", "view-new"),
    f"{_FAULTS}anchor_faults.py::test_calls_that_fail_from_the_line_to_the_end": (),
    f"{_FAULTS}policy_faults.py::test_a_call_fails_in_a_blocked_attempt": (),
    f"{_FAULTS}sandbox_faults.py::test_killed_at_any_call": (),
    f"{_FAULTS}commands_hostile.py::test_no_command_runs_any_of_it": (),
    # Agents behind the port of workflows: each way through it with the cheapest that goes it.
    f"{_CALLS}a_text_and_where_the_work_is": ("scripted", "command", "acp", "codex"),
    f"{_CALLS}an_object_by_a_schema": ("scripted", "command", "claude"),
    f"{_CALLS}an_object_that_is_missing": ("command",),
    f"{_CALLS}a_failure": ("scripted-400-False", "claude-529-True"),
    f"{_CALLS}its_time_is_up": ("scripted",),
    f"{_CALLS}it_says_nothing_for_too_long": ("command",),
    f"{_CALLS}it_is_killed_in_the_middle": ("scripted", "codex"),
    f"{_CALLS}cancelling_ends_all_of_it_and_is_recorded": ("acp", "claude"),
    f"{_CALLS}a_conversation_is_gone_on_with": ("scripted", "claude"),
    f"{_CALLS}a_conversation_that_is_gone_is_begun_anew": ("command", "codex"),
    f"{_CALLS}what_it_reports_comes_in_order_and_in_the_loop": ("scripted", "claude"),
    f"{_CALLS}two_at_once": ("command", "codex"),
    # Mistakes that are planted: the suite keeps the cheapest that still asks each kind of gate.
    f"{_FAULTS}anchor_faults.py::test_an_anchor_that_is_not_flushed_would_be_seen": (),
    f"{_FAULTS}apply_faults.py::test_the_gate_sees_a_checkout_that_is_left_behind": (),
    f"{_FAULTS}commands_power.py::test_each_planted_fault_is_caught": (),
    f"{_FAULTS}commands_removal.py::test_a_removal_that_deletes_would_be_seen": (),
    f"{_FAULTS}decide_faults.py::test_each_planted_fault_is_caught": (),
    f"{_FAULTS}harness.py::test_each_planted_bug_is_caught": (
        *("no fsync", "in-place rewrite", "promise first", "swallowed errors", "no lock"),
        *("short write ignored", "torn line left open"),
    ),
    f"{_FAULTS}harness.py::test_the_right_store_passes": ("kill and torn", "power cut, strict"),
    f"{_FAULTS}phase_faults.py::test_the_planted_fault_is_caught": (),
    f"{_FAULTS}policy_faults.py::test_the_gate_sees_a_verdict_that_is_written_too_late": (),
    f"{_FAULTS}records_power.py::test_one_that_flushes_nothing_would_be_seen": (),
    f"{_FAULTS}retention_faults.py::test_a_freeing_that_flushes_nothing_would_be_seen": (),
    f"{_FAULTS}sandbox_faults.py::test_the_gate_sees_a_quarantine_that_is_forgotten": (),
    f"{_FAULTS}storage_faults.py::test_each_planted_fault_is_caught": ("truncate-rewrite",),
    f"{_FAULTS}trash_power.py::test_a_rollback_that_flushes_nothing_would_be_seen": (),
    f"{_FAULTS}undo_planted.py::test_a_rollback_that_takes_no_lock_of_the_task": (),
    f"{_FAULTS}workflow_journal.py::test_a_journal_that_is_not_flushed_would_be_seen": (),
    f"{_FAULTS}workflow_journal.py::"
    "test_answers_that_are_given_before_they_are_written_would_be_seen": (),
    f"{_FAULTS}workflow_state.py::test_one_that_is_written_in_place_would_be_seen": (),
    f"{_FAULTS}undo_planted.py::test_an_act_that_is_not_written_down_first": ("rollback --hard",),
    "tests/integration/sessions/test_faults.py::test_each_planted_fault_is_caught": (),
    # The suite ends the program that waits in `test_hook_program.py`, and runs in
    # `test_judged_agents.py`.
    f"{_CANARY}what_waited_does_not_run": ("TERM group",),
    # Cases of one kind: they go the same way, over other words.
    f"{_INTEGRATION}acts_apart.py::test_the_others_do_not_need_it": ("undo of an apply",),
    f"{_INTEGRATION}gc_older.py::test_only_what_was_removed_longer_ago_is_freed": (
        *("1y-expected1", "101d-expected3"),
    ),
    f"{_INTEGRATION}left_running.py::test_end_leaves_nothing": (
        *("--tty-a daemon without its environment", "--detach --no-tty-a job"),
    ),
    f"{_INTEGRATION}left_running.py::test_it_is_listed_and_ended": (
        *("--tty-a job", "--no-tty-a daemon without its environment"),
        "--detach --tty-a session of its own",
    ),
    f"{_INTEGRATION}log.py::test_a_search_looks_at_all_steps": (
        *("asked0-found0", "asked3-found3", "asked6-found6"),
    ),
    f"{_INTEGRATION}lost_registry.py::test_everything_says_the_same_as_before": (
        *("lose", "drop_entries"),
    ),
    f"{_INTEGRATION}old_home.py::test_numbers_that_began_again_are_found_and_not_used_again": (
        *("False-0002_0", "True-9998"),
    ),
    "tests/integration/undo/test_git_parts.py::test_every_part_is_there_again": (
        *("git merge aside", "git checkout -q --detach aside", "echo n >n; git add -N n"),
        *("git branch -m renamed", "rm $(git rev-parse --git-dir)/index"),
    ),
    f"{_UNIT}ground/process/test_kill.py::test_a_recovery_killed_at_any_call_is_repeated": (
        *("1", "3", "7", "13", "19", "26", "34", "42", "49"),
    ),
    f"{_UNIT}secretmask/test_bounds.py::test_what_is_made_to_be_slow": (
        *("b'-----BEGIN PRIVATE KEY-----'", "b'://a:b@'"),
    ),
    f"{_UNIT}ground/storage/test_kills.py::test_every_change_may_be_the_last": (
        *("append-to-torn", "move_file"),
    ),
    # One of each way to be contained: the audit hook, the kernel, the built-ins, the bounds.
    f"{_UNIT}workflows/test_escapes.py::test_it_is_contained": (
        *("globals of a facade", "write a file", "caught", "subprocess", "memory at once"),
        *("update_wrapper", "format by name", "the clock by min", "an address in a prompt"),
        *("reads without end", "a deep result", "an error that cannot be told", "exit at once"),
    ),
    f"{_UNIT}ground/storage/test_kills.py::test_the_gate_catches_a_planted_fault": (),
    # All of them are planted together in `test_no_command_runs_any_of_it`.
    "tests/unit/record/git/test_hostile.py::test_nothing_planted_runs": (
        *("fsmonitor", "hook-post-checkout", "clean-filter", "smudge-filter", "filter-process"),
        *("textconv", "diff-command", "merge-driver", "pager", "editor", "gpg", "evil-submodule"),
    ),
}

KEPT: Mapping[str, Collection[str]] = {**_BY_KIND, **_chosen_by_cost()}


def is_left(nodeid: str) -> bool:
    """Return whether the suite leaves a test to `run.py prove`."""
    return _is_left(nodeid, KEPT)


def is_alone(nodeid: str) -> bool:
    """Return whether a row that tries only what the suite has left out tries a test.

    With SIDING_PROVE=cost it is only what was left out because of what it costs.
    """
    return is_left(nodeid) and not (_WANTED == "cost" and _is_left(nodeid, _BY_KIND))


def _is_left(nodeid: str, kept: Mapping[str, Collection[str]]) -> bool:
    name, _, case = nodeid.partition("[")
    cases = kept.get(name)
    return cases is not None and case.removesuffix("]") not in cases
