"""`where=` narrows every aggregate of a lift, whichever of DuckDB's it is made of, and leaves the rest of the text as it is."""

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muntin.aggregates.aggregate import Aggregate, Field
from muntin.aggregates.algebra import SUM
from muntin.errors import DefinitionError
from muntin.sources.new_session import connect
from muntin.sources.reading.lift_sql import lifts_sql
from muntin.sources.sessions.aggregate_calls import narrowed
from tests.case_counts import cases
from tests.properties.laws.saved import NARROWED

SPELLED_OTHERWISE = {
    '"sum"(x)': '"sum"(x)¹',
    "max(x) FILTER (x > 0)": "max(x)²x > 0))",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)": "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)¹",
    "mode() WITHIN GROUP (ORDER BY x) FILTER (WHERE x > 0)": "mode() WITHIN GROUP (ORDER BY x)² x > 0))",
    "ARRAY(SELECT 2) || list(x)": "ARRAY(SELECT 2) || list(x)¹",
    "sum(x /* ) */) -- )": "sum(x /* ) */)¹ -- )",
    "list(x ORDER BY x)": "list(x ORDER BY x)¹",
    "sum(x) OVER ()": "sum(x)¹ OVER ()",
}


@pytest.mark.parametrize(("lift", "wanted"), (NARROWED | SPELLED_OTHERWISE).items())
def test_each_aggregate_gets_a_filter(lift: str, wanted: str) -> None:
    assert narrowed(lift, "y > 0") == wanted.replace("¹", " FILTER (WHERE (y > 0))").replace("²", " FILTER (WHERE (y > 0) AND (")


def test_every_aggregate_of_duckdb_is_known() -> None:
    names = duckdb.sql("SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'").fetchall()
    assert len(names) > 50
    for (name,) in names:
        assert narrowed(f"1 + {name}(x, 2)", "é") == f"1 + {name}(x, 2) FILTER (WHERE (é))"


def test_text_that_is_no_sql_is_refused() -> None:
    for lift in ("sum(x", "sum(x) +", "sum(x))"):
        with pytest.raises(DefinitionError, match="is not a SQL expression"):
            narrowed(lift, "y > 0")


def test_a_lift_of_all_rows_is_not_looked_into() -> None:
    field = Field("any", "x", (("", "sum(x"),), SUM)
    assert lifts_sql(field) == {"any_x": "sum(x"}
    with pytest.raises(DefinitionError):
        lifts_sql(Aggregate("any", "x", (field,), len).only("y > 0").fields[0])


COLUMNS = st.sampled_from(
    ["x", "y", '"a)b"', "length(')')", r"length(E'\'sum(')", "length($$)$$)", "(SELECT max(e) FROM unnest([x]) AS t(e))"]
)
CONDITIONS = st.sampled_from(["x > 0", "y IS NOT NULL AND (x = 2 OR x = 0)", '"a)b" <> 1', "length('ä)') > x"])
NUMBERS = st.recursive(COLUMNS, lambda inner: st.builds("({} + {})".format, inner, inner), max_leaves=3)
CALLS = st.one_of(
    st.builds("{}({})".format, st.sampled_from(["sum", "max", "Count", "main.min", '"sum"', "sum (DISTINCT"]), NUMBERS),
    st.builds("count(*) FILTER (WHERE {})".format, CONDITIONS),
    st.builds("max({}) filter( {})".format, NUMBERS, CONDITIONS),
    st.builds("len(list({} ORDER BY y) FILTER  (WHERE {})[1:2])".format, NUMBERS, CONDITIONS),
    st.builds("list_sum([each + 1 for each in list({})])".format, NUMBERS),
    st.builds("quantile_disc({}, 0.5)".format, NUMBERS),
    st.builds("len(string_agg(({})::VARCHAR, ')' ORDER BY x))".format, NUMBERS),
).map(lambda call: call + ")" * (call.count("(DISTINCT")))
LIFTS = st.recursive(
    CALLS,
    lambda inner: st.one_of(
        st.builds("{} + {}".format, inner, inner),
        st.builds("coalesce({}, {})".format, inner, inner),
        st.builds("CASE WHEN {} > 0 THEN {} END".format, inner, inner),
        st.builds("[{}, {}][1]::BIGINT".format, inner, inner),
    ),
    max_leaves=4,
)
ROWS = connect()
ROWS.execute("""CREATE TABLE rows AS FROM (VALUES (1, 2, 1), (2, NULL, 3), (0, 5, NULL), (NULL, 1, 1), (-3, 2, 2)) AS t(x, y, "a)b")""")


@settings(max_examples=cases(150), database=None)
@given(LIFTS, CONDITIONS)
def test_narrowed_is_the_lift_over_fewer_rows(lift: str, condition: str) -> None:
    [ours] = ROWS.execute(f"SELECT {narrowed(lift, condition)} FROM rows").fetchall()
    [wanted] = ROWS.execute(f"SELECT {lift} FROM (FROM rows WHERE {condition})").fetchall()
    assert ours == wanted
