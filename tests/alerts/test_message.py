"""How messages read: one run, a backfill of many; bounded, and safe whatever the data holds."""

from muntin.extensions.alerts import to
from muntin.extensions.alerts.findings import Finding, findings
from muntin.extensions.alerts.message import MAX_ROWS, message, summary
from tests.alerts.made import batch, check, hours, report, row, run

LINK = "muntin run dags/shop.py --root state --start 2024-01-01 --end 2024-01-02"


def test_a_run_that_published_nothing() -> None:
    quality = (report(check(), check("warning", unexpected_count=None, observed_value=7, failing_rows=[])),)
    failed = run(6, published=None, quality=quality, stays_us=hours(6).start_us, link=LINK, batches=(batch(6, 100, 3),))
    told = message(failed, findings(to("alerts", quarantined=0.01), failed))
    assert (told.tone, told.title) == ("failure", "shop: 1 critical, 2 warning, [2024-01-01T06:00, 2024-01-01T07:00)")
    assert told.text.splitlines() == [
        "pipeline shop, interval [2024-01-01T06:00, 2024-01-01T07:00) UTC",
        "",
        "critical: window day: expect_column_values_to_be_between(column='total', min_value=0)",
        "  1 row not as expected (12.5 %)",
        "  who  window_start          window_end            total",
        "  ann  2024-01-01T00:00:00Z  2024-01-01T12:00:00Z  -1",
        "",
        "warning: window day: expect_column_values_to_be_between(column='total', min_value=0)",
        "  observed 7",
        "",
        "warning: quarantined rows above 1 %",
        "  3 of 100 rows (3 %)",
        "",
        "nothing was published; what was published before stays as it is, up to 2024-01-01T06:00 UTC",
        "",
        "correct the source (or the suite), then run it again:",
        f"  {LINK}",
    ]


def test_the_batches_of_the_rows_are_named() -> None:
    starts = [hours(at).start_us for at in range(7)]
    quality = (
        report(check()) | {"culprits": starts[:1]},
        report(check(), window="hour") | {"culprits": starts},
        report(check(), window="x"),
    )
    told = [message(run(6, published=None, quality=some), ()).text.splitlines() for some in (quality, quality[:1], quality[2:])]
    whose = [[line for line in lines if line.startswith("the failing windows are made of")] for lines in told]
    assert whose[0] == [
        "the failing windows are made of 7 batches: 2024-01-01, 2024-01-01T01:00, 2024-01-01T02:00, 2024-01-01T03:00, 2024-01-01T04:00, ..."
    ]
    assert whose[1:] == [["the failing windows are made of 1 batch: 2024-01-01"], []]


def test_a_warning_says_that_the_data_was_published() -> None:
    warned = run(quality=(report(check("warning")),), published={"day": (0, 1), "hour": ()}, link=LINK)
    told = message(warned, findings(to("alerts"), warned))
    assert told.tone == "warning"
    assert told.text.splitlines()[-4:] == ["published: day of 2 batches", "", "to look at it:", f"  {LINK}"]


def test_what_is_well_again() -> None:
    over = Finding("empty", "warning", "an empty batch", str(hours(4)), hours(3))
    told = message(run(4, published={}), (), (over,))
    assert (told.tone, told.title) == ("success", "shop: well again, [2024-01-01T04:00, 2024-01-01T05:00)")
    assert told.text.splitlines()[2:] == [
        "well again:",
        "  an empty batch: last in [2024-01-01T03:00, 2024-01-01T04:00), not in [2024-01-01T04:00, 2024-01-01T05:00)",
        "",
        "published: nothing new; every window is as it was",
    ]


def test_well_again_is_said_of_the_interval_that_was_ill() -> None:
    over = [Finding("check", "critical", "window day: x", str(hours(4)), hours(at)) for at in (1, 2)]
    one, two = (message(run(4), (), over[:count]) for count in (1, 2))
    assert one.title == "shop: well again, [2024-01-01T01:00, 2024-01-01T02:00)"
    assert one.text.splitlines()[3] == "  window day: x: [2024-01-01T01:00, 2024-01-01T02:00)"
    assert two.title == "shop: well again, 2 intervals"


def test_before_the_first_publication_nothing_stays() -> None:
    failed = run(published=None, failure="x")
    assert "nothing was published; nothing was published before" in message(failed, findings(to("alerts"), failed)).text


def test_one_problem_of_many_batches_is_one_part() -> None:
    many = run(0, 300, batches=tuple(batch(at, 100, 2) for at in range(300)))
    told = message(many, findings(to("alerts", quarantined=0.01), many))
    assert told.text.count("quarantined rows above") == 1
    assert "in 300 intervals:" in told.text
    assert "and 295 more" in told.text
    assert len(told.text.splitlines()) < 20


def test_at_most_ten_rows_over_all_checks() -> None:
    checks = [check(kwargs={"column": "total", "min_value": at}, failing_rows=[row(f"key{at}{n}", n) for n in range(4)]) for at in range(5)]
    many = run(quality=(report(*checks),))
    assert message(many, findings(to("alerts"), many)).text.count("  key") == MAX_ROWS == 10


def test_many_problems_are_cut() -> None:
    checks = [check(kwargs={"column": "total", "min_value": at}) for at in range(200)]
    many = run(quality=(report(*checks),))
    told = message(many, findings(to("alerts"), many))
    assert "and 180 problems more: the log has all" in told.text
    assert len(told.text) < 10_000


def test_500_runs_of_a_backfill_are_one_message() -> None:
    found = []
    for at in range(500):
        failed = run(at, quality=(report(check(failing_rows=[row(f"key{at}", -1)])),), published=None)
        found += findings(to("alerts"), failed)
    told = summary("shop", runs=600, failed=500, findings=found, link="http://airflow/dags/shop")
    assert told.title == "shop: backfill of 600 runs, 500 failed, 500 critical"
    assert told.text.splitlines()[0] == "pipeline shop, a backfill of 600 runs: 100 well, 500 failed"
    assert told.text.count("expect_column_values") == 1
    assert told.text.count("  key") == MAX_ROWS
    assert len(told.text) < 3_000


HURTING = [
    "<script>alert(1)</script>",
    "```\n# big",
    "a\nb\r\nc",
    "\x1b[31mred",
    "{{ secret }}",
    "x" * 10_000,
    None,
    "*bold* [link](http://x)",
]


def test_whatever_is_in_the_data_stays_a_cell_of_a_line() -> None:
    hurting = run(quality=(report(check(failing_rows=[row(value, -1) for value in HURTING])),))  # type: ignore[arg-type]
    told = message(hurting, findings(to("alerts"), hurting))
    rows = told.text.splitlines()[5:13]
    assert all(line.endswith("2024-01-01T12:00:00Z  -1") for line in rows)
    assert len(told.text) < 3_000
    assert "\x1b" not in told.text + told.title
    fences = [line for line in told.markdown.splitlines() if line.startswith("`")]
    assert set(fences) == {"```"}
    assert len(fences) % 2 == 0
