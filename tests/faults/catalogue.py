"""The forty-two faults that Muntin survives: what happens, what Muntin does, and the tests that show it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault.

    Attributes:
        number: its number, from 1.
        what: what happens.
        answer: what Muntin does. The published windows equal those of a clean run unless it says otherwise.
        tests: `path below tests::name`, one or more.
    """

    number: int
    what: str
    answer: str
    tests: tuple[str, ...]


CRASHES, STORAGE, INPUT, TIME, AIRFLOW, QUALITY = (
    "Crashes and races",
    "Storage",
    "Input",
    "Time",
    "Airflow and Spark",
    "Quality and operation",
)

FAULTS = {
    CRASHES: (
        Fault(
            1,
            "a run is killed before, during or after any step of its store",
            "the next run completes it; no reader sees half a batch",
            (
                "storage/test_crash_points.py::test_a_first_run_may_stop_anywhere",
                "storage/test_crash_points.py::test_a_replaced_batch_may_stop_anywhere",
                "storage/test_crash_points.py::test_a_task_may_die_at_any_file",
            ),
        ),
        Fault(
            2,
            "a commit succeeds, its answer is lost, the task is tried again",
            "the second attempt sees what is committed and commits nothing of it again",
            ("faults/test_02_answer_lost.py::test_the_second_attempt_does_nothing",),
        ),
        Fault(
            3,
            "two attempts of one task are alive at once",
            "the first to commit wins; the other sees the same states and is done",
            (
                "storage/test_at_once.py::test_one_batch_twice_at_once",
                "storage/test_files.py::test_three_may_write_one_file_at_once",
            ),
        ),
        Fault(
            4,
            "a scheduled run and a backfill of the same interval overlap",
            "one result, of the source as it was read last",
            ("storage/test_at_once.py::test_both_commit_from_one_snapshot",),
        ),
        Fault(
            5,
            "two runs finalize at once",
            "one commits; the other finalizes again and finds nothing to do",
            (
                "storage/test_at_once.py::test_both_commit_from_one_snapshot",
                "storage/test_at_once.py::test_neighbours_at_once",
            ),
        ),
        Fault(
            6,
            "a backfill comes between staging and publishing of another run",
            "what was staged is refused as stale, and derived and validated again",
            (
                "airflow/inside/test_runs.py::test_a_run_that_another_overtook_finalizes_again",
                "storage/test_publishing_gate.py::test_one_stale_window_keeps_all_from_being_published",
            ),
        ),
        Fault(
            7,
            "a crash after a publication, before its asset event",
            "the next run emits the event: each publication is told at least once",
            (
                "faults/test_07_event_after_a_crash.py::test_the_next_run_tells_what_a_crash_left_unreported",
                "faults/test_07_event_after_a_crash.py::test_a_crash_between_two_windows",
            ),
        ),
        Fault(
            8,
            "a crash in `maintain`, or a run beside it",
            "one commit, no row twice; the run beside commits all the same, and what it needs is not removed",
            (
                "storage/test_compaction.py::test_a_run_that_puts_files_together_may_stop_anywhere",
                "storage/test_compaction.py::test_who_began_before_files_were_put_together_commits_all_the_same",
                "storage/test_outlived_notes.py::test_a_note_that_staged_windows_need_stays_however_old",
                "storage/test_maintain.py::test_half_of_a_commit_goes",
            ),
        ),
    ),
    STORAGE: (
        Fault(
            9,
            "a Parquet file is cut off, empty or of four bytes, after a power cut too",
            "refused before the commit, with its name; a run that writes the file again writes it whole",
            (
                "storage/test_delta.py::test_a_truncated_file_is_refused_before_the_commit",
                "storage/test_files.py::test_half_a_file_is_written_anew",
                "storage/test_durable.py::test_files_are_on_the_disk_before_the_commit_that_names_them",
            ),
        ),
        Fault(
            10,
            "a committed file is lost or damaged later",
            "it is never taken for data; `doctor` names it, `doctor --mend` derives it again",
            (
                "storage/test_damage.py::test_a_flipped_bit_in_a_state_is_never_silent",
                "storage/test_repair.py::test_damage_is_found_named_and_mended",
                "damage/test_every_kind.py::test_a_damage_is_never_other_windows",
            ),
        ),
        Fault(
            11,
            "the disk is full, read-only or over its quota",
            "a sentence, and nothing is published; it works when there is space",
            (
                "storage/test_no_space.py::test_a_first_run_on_a_full_disk",
                "storage/test_no_space.py::test_published_windows_stay",
                "storage/test_no_space.py::test_nothing_is_left_lying_about",
            ),
        ),
        Fault(
            12,
            "an object store answers with errors, late or not at all",
            "few retries, then a sentence; a run that stops at any request is completed by the next one",
            (
                "storage/test_object_store.py::test_what_cannot_be_used_is_told_in_one_sentence",
                "storage/test_crash_points.py::test_a_replaced_batch_may_stop_anywhere",
            ),
        ),
        Fault(
            13,
            "a file system on which both of two writers win",
            "`doctor` tries it and says so",
            ("storage/test_repair.py::test_a_disk_on_which_both_of_two_writers_win",),
        ),
        Fault(
            14,
            "a log is torn, empty or has a gap",
            "nothing is written on; the message names log and mend",
            (
                "storage/test_repair.py::test_a_run_says_which_log_is_damaged_and_changes_nothing",
                "storage/test_repair.py::test_damage_is_found_named_and_mended",
            ),
        ),
        Fault(
            15,
            "ten thousand batches: files and logs grow",
            "small files become large ones; the cost of a batch stays the same",
            (
                "storage/test_compaction.py::test_a_table_keeps_few_files",
                "storage/test_reports.py::test_many_runs_leave_few_files_and_every_report",
            ),
        ),
    ),
    INPUT: (
        Fault(
            16,
            "a column is missing, renamed or of another type; a new one comes",
            "the first three stop the run with file, column and types; a new column is ignored",
            (
                "end_to_end/test_columns_of_files.py::test_a_file_without_a_column_that_is_used_is_named",
                "end_to_end/test_batches_read_together.py::test_an_hour_with_a_column_of_another_type_is_read_alone",
                "end_to_end/test_columns_of_files.py::test_columns_that_are_not_used_come_and_go",
            ),
        ),
        Fault(
            17,
            "a null key; a time that is null or cannot be read",
            "null is a key as any other; the row without a time goes to the quarantine, and `max_quarantined` limits their share",
            (
                "oracle/test_oracle.py::test_a_null_key_is_a_key",
                "end_to_end/test_every_row_ends_up_somewhere.py::test_a_bad_row_of_a_file_of_text",
                "end_to_end/test_every_row_ends_up_somewhere.py::test_a_batch_with_too_many_of_them_fails_before_anything_is_committed",
            ),
        ),
        Fault(
            18,
            "NaN, infinities, -0.0, overflows, empty and huge texts, bytes that are no UTF-8",
            "a row that cannot be computed goes to the quarantine; keys are bytes and never folded; no sum overflows silently",
            (
                "properties/laws/test_hurting_values.py::test_values_that_hurt",
                "unit/test_exact.py::test_what_does_not_fit_is_an_error",
                "storage/test_awkward_keys.py::test_one_key_has_one_row_a_window",
                "end_to_end/test_every_row_ends_up_somewhere.py::test_a_row_that_cannot_be_computed",
                "faults/test_18_rows_that_no_state_takes.py::test_a_value_that_its_state_does_not_hold",
            ),
        ),
        Fault(
            19,
            "an event comes twice, in a batch or in two",
            "with `dedupe` it counts once in a batch, with `within` across batches, in whatever order these are read; "
            "the report counts duplicates; without, each row counts",
            (
                "storage/test_deduplication_in_batches.py::test_any_history_ends_as_a_clean_run",
                "storage/test_ids_of_events.py::test_a_neighbour_may_be_replaced_at_any_moment_of_a_run",
                "faults/test_19_same_event_twice.py::test_the_first_to_arrive_counts",
                "faults/test_19_same_event_twice.py::test_as_a_naive_reader_would",
            ),
        ),
        Fault(
            20,
            "the source of a batch changed since it was read",
            "the run says so, replaces the batch and derives what depends on it; each run finds such batches",
            (
                "end_to_end/test_files_that_change.py::test_the_manifest_says_what_was_read",
                "end_to_end/test_files_that_change.py::test_the_content_tells_what_size_and_time_do_not",
                "cli/test_to_do.py::test_changed_sources",
            ),
        ),
        Fault(
            21,
            "a file is still being written",
            "it is read again until it rests, or `ready=` waits for its writer; never half",
            (
                "end_to_end/test_bad_files.py::test_a_batch_is_read_when_its_files_are_whole",
                "end_to_end/test_files_that_change.py::test_a_file_that_never_rests_is_named_and_nothing_is_published",
            ),
        ),
        Fault(
            22,
            "an empty batch, an empty first batch, no key any more",
            "windows close by their policy; a suite on no rows says so",
            (
                "end_to_end/test_bad_files.py::test_a_batch_of_bad_files_is_an_empty_batch",
                "storage/test_at_once.py::test_a_table_grows_under_two_runs",
                "quality/test_validation.py::test_no_rows_are_told_when_the_suite_is_silent_about_them",
            ),
        ),
        Fault(
            23,
            "one key holds nine of ten rows, thousands of keys have one row",
            "no file for a key; frames combine a hot key before windows do",
            ("faults/test_23_hot_key.py::test_one_hot_key_among_many_cold_ones",),
        ),
        Fault(
            24,
            "a session that never ends",
            "`max_length` cuts it, and says which; a batch reads its last states alone",
            (
                "end_to_end/judge/test_long_session.py::test_bulk_stepwise_and_replaced",
                "properties/test_settled.py::test_a_session_open_for_long_reads_its_last_states_only",
            ),
        ),
        Fault(
            25,
            "a hostile template, name or value: `..`, `*`, `/`, `=`",
            "refused, or taken as it is written; nothing is written outside of the root",
            (
                "security/test_security_page.py::test_no_interval_leads_out_of_the_folder",
                "security/test_security_page.py::test_no_value_is_taken_for_anything_else",
                "security/test_security_page.py::test_no_name_leads_out_of_the_root",
                "storage/test_files.py::test_no_path_has_a_colon_or_an_equals_sign",
            ),
        ),
    ),
    TIME: (
        Fault(
            26,
            "a time a year ahead, the instant 0, a wrong unit, an instant beyond its type",
            "to the quarantine by `max_ahead` and `max_behind`; the watermark does not move",
            ("faults/test_26_times_far_off.py::test_it_goes_to_the_quarantine",),
        ),
        Fault(
            27,
            "days of 23 and 25 hours, zones of half an hour, rules that change",
            "local days are as long as clocks say; windows are neither empty nor merged",
            (
                "unit/test_zones.py::test_a_local_day_is_as_long_as_it_was",
                "unit/test_zones.py::test_windows_tile_time_and_no_frame_lies_in_two",
                "oracle/test_calendar.py::test_a_border_that_clocks_skip_is_the_moment_of_the_change",
            ),
        ),
        Fault(
            28,
            "an event exactly on a start, an end, a watermark; a gap of exactly the gap",
            "intervals are half open everywhere, as the oracle has them",
            (
                "unit/test_timeline.py::test_at_the_end_or_behind_it",
                "oracle/test_oracle.py::test_touching_decides_whether_the_exact_end_closes",
                "properties/test_against_oracle.py::test_engine_and_oracle_agree",
            ),
        ),
        Fault(
            29,
            "a clock that is wrong or goes back, a host that is not in UTC",
            "no result depends on them; the newest report of a batch counts",
            (
                "faults/test_29_clocks.py::test_neither_clock_nor_zone_of_the_host_changes_a_window",
                "faults/test_29_clocks.py::test_the_last_report_counts_though_the_clock_went_back",
            ),
        ),
        Fault(
            30,
            "batches come newest first, at once, or with a hole",
            "what lies behind a hole waits; the result is as in order",
            (
                "properties/test_any_history.py::test_every_history_equals_a_clean_run",
                "end_to_end/judge/test_history.py::test_a_batch_behind_a_hole_waits",
                "storage/test_at_once.py::test_neighbours_at_once",
            ),
        ),
        Fault(
            31,
            "an event whose windows are all closed",
            "counted, kept and listed by `late`; a longer `grace` lets it in, from the states",
            (
                "faults/test_31_late_rows_readmitted.py::test_another_batch_that_runs_again_leaves_it_out",
                "faults/test_31_late_rows_readmitted.py::test_a_longer_grace_lets_it_in",
                "cli/test_inspect.py::test_late_rows_by_batch_and_by_state",
            ),
        ),
    ),
    AIRFLOW: (
        Fault(
            32,
            "a run by hand without a date, of no length, or of several intervals",
            "refused, with what to give",
            (
                "airflow/inside/test_local.py::test_an_interval_that_cannot_be_is_refused",
                "airflow/inside/test_runs.py::test_a_run_by_hand_says_its_interval",
            ),
        ),
        Fault(
            33,
            "a run is cleared, marked as done by hand or paused; a backfill is cancelled half way",
            "`status` tells what the store holds, whatever Airflow says; a run that fills the hole publishes for all",
            ("faults/test_33_truth_is_in_the_store.py::test_what_nobody_read_is_missing_whatever_airflow_says",),
        ),
        Fault(
            34,
            "asset events are merged, lost or come twice",
            "the next run reads all that it has not read",
            (
                "faults/test_34_events_lost_or_merged.py::test_a_run_reads_all_that_is_new",
                "airflow/test_follows.py::test_windows_wake_the_pipeline_over_them",
            ),
        ),
        Fault(
            35,
            "a worker is lost, a task runs twice, the Connect server starts again",
            "files are named by their content and counted only when a commit names them",
            (
                "storage/test_files.py::test_three_may_write_one_file_at_once",
                "storage/test_crash_points.py::test_a_task_may_die_at_any_file",
                "storage/test_crash_points.py::test_so_it_is_on_spark",
            ),
        ),
        Fault(
            36,
            "packages of Spark that do not fit, workers with another Python or without a package",
            "a sentence says which Python, and to set `PYSPARK_PYTHON`",
            (
                "faults/test_36_another_python.py::test_it_is_said_which_python_workers_run",
                "faults/test_36_worker_without_packages.py::test_it_is_named",
                "end_to_end/test_tasks.py::test_packages_that_overwrite_each_other_are_named",
            ),
        ),
        Fault(
            37,
            "the definition changes while a run is going",
            "the run is of the definition of its task `accumulate`; a later task refuses another one",
            (
                "faults/test_37_definition_changes_in_a_run.py::test_a_later_task_refuses_another_definition",
                "faults/test_37_definition_changes_in_a_run.py::test_the_run_goes_on_when_the_definition_is_put_back",
            ),
        ),
    ),
    QUALITY: (
        Fault(
            38,
            "a suite fails, warns, breaks, is gone or names a wrong column",
            "a critical failure publishes nothing; a check that could not run has failed",
            (
                "quality/test_validation.py::test_checks_that_cannot_run_fail_and_leave_the_others_alone",
                "quality/test_validation.py::test_an_unreadable_file_is_never_a_pass",
                "quality/test_suite.py::test_a_missing_file_and_a_folder_are_refused",
                "cli/test_run.py::test_failed_expectations_are_status_1_and_publish_nothing",
            ),
        ),
        Fault(
            39,
            "an alert channel is down; 500 runs of a backfill fail",
            "no run fails for it, and the message comes later; one message for the backfill",
            (
                "alerts/test_reported_run.py::test_a_channel_that_is_down_stops_nothing_and_gets_it_later",
                "alerts/test_backfills.py::test_500_failing_runs_at_once_are_one_message",
            ),
        ),
        Fault(
            40,
            "personal data, markup or a megabyte in failing rows",
            "`mask=` hides columns from messages; text is escaped; a report has less than 65,535 bytes",
            (
                "faults/test_40_long_values.py::test_a_report_has_a_limit",
                "alerts/test_findings.py::test_masked_columns_are_replaced_in_rows_and_in_what_was_observed",
                "alerts/test_channels.py::test_a_letter_keeps_lines_and_markup_of_data_is_text",
                "page/test_pages.py::test_no_text_becomes_a_tag",
            ),
        ),
        Fault(
            41,
            "floats after a partial run, with other threads, in another order of files",
            "equal to a clean run to the last bit",
            (
                "properties/test_any_history.py::test_every_history_equals_a_clean_run",
                "unit/test_exact.py::test_a_slice_gives_the_same_bits",
                "storage/test_compaction.py::test_any_history_equals_a_clean_run",
            ),
        ),
        Fault(
            42,
            "a Muntin with another format of states wrote the state",
            "it is refused, with both formats in the message; nothing is guessed",
            ("storage/test_folder.py::test_another_ones_folder_is_left_alone",),
        ),
    ),
}
