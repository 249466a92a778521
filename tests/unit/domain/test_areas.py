from __future__ import annotations

import pickle

import polars as pl
import pytest

import discreet as dp
from discreet.errors import SchemaError

TABLE = {"state": ["01", "01", "02"], "county": ["01001", "01002", "02001"], "name": ["Adams", "Allen", "Bexar"]}
LINES = "state,state_name,county,name\n01,Ohio,01001,Adams\n01,Ohio,01002,Allen\n02,Texas,02001,Bexar\n"


def schema_of(table, **options):
    return dp.Schema(area=dp.Hierarchy(table, levels=["state", "county"], **options), sex=dp.Category(["f", "m"]))


def test_a_hierarchy_is_a_column_of_codes_and_one_for_each_level():
    schema = schema_of(TABLE, labels={"county": "name"})
    assert list(schema.columns) == ["area", "area.state", "area.county", "sex"]
    assert schema["area"].values == schema["area.county"].values == ("01001", "01002", "02001")
    assert schema["area.state"].values == ("01", "02")
    assert schema["area.state"].origin.codes == (0, 0, 1)
    assert list(schema.of_source().columns) == ["area", "sex"]
    assert dp.Hierarchy(TABLE, levels=["county"], labels={"county": "name"}).labels["county"]["01002"] == "Allen"


def test_files_of_csv_and_of_parquet_are_the_mapping(tmp_path):
    (tmp_path / "areas.csv").write_text("\ufeff" + LINES.replace("\n", "\r\n"), encoding="utf-8")
    pl.DataFrame(TABLE).write_parquet(tmp_path / "areas.parquet")
    assert schema_of(tmp_path / "areas.csv") == schema_of(str(tmp_path / "areas.parquet")) == schema_of(TABLE)
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("state,county\n1,11\n1,12\n2,210\n", encoding="utf-8")
    whole = schema_of(numbers, codes="integer")
    assert whole["area"].values == (11, 12, 210)


FAULTS = {
    "01,Ohio,01001,Adams\n02,Texas,01001,Bexar\n": "line 3: 'county' '01001' is in '02', and on line 2 in '01'; codes",
    "01,Ohio,01001,Adams\n01,Ohio,01001,Adams\n": "line 3: 'county' '01001' is listed twice; line 2 has it too",
    "01,Ohio,01001,Adams\n,Ohio,01002,Allen\n": "line 3: 'state' is empty; every area needs a code at every level",
    "01,Ohio,01001,Adams\n01,Ohio,,Allen\n": "line 3: 'county' is empty",
    "01,Ohio,01001,Adams\n01,Ohio,1002,Allen\n": "line 3: code '1002' of 'county' has 4 digits, others have 5",
    "01,Ohio,01001,Adams\n1,Ohio,01002,Allen\n": "line 3: code '1' of 'state' has 1 digits, others have 2",
    "01,Ohio,01001\n": "line 2: has 3 cells, and the first line has 4",
    "": "at least one row",
    '01,"Ohio,01001,Adams\n': "is not CSV",
    "01,Ohio,01001,Adams\n01,Utah,01002,Allen\n": "line 3: 'state' '01' has two labels in 'state_name'",
}


@pytest.mark.parametrize("lines", FAULTS)
def test_a_table_that_is_no_tree_is_refused_with_the_line(tmp_path, lines):
    path = tmp_path / "areas.csv"
    path.write_text("state,state_name,county,name\n" + lines, encoding="utf-8")
    with pytest.raises(SchemaError) as wrong:
        schema_of(path, labels={"state": "state_name"})
    assert FAULTS[lines] in str(wrong.value)


def test_levels_keep_the_order_of_the_table():
    columns = dp.Schema(area=dp.Hierarchy({"state": ["b", "a", "b"], "county": ["9", "1", "5"]}, levels=["state", "county"]))
    assert columns["area"].values == ("9", "1", "5")
    assert columns["area.state"].values == ("b", "a")
    assert columns["area.state"].origin.codes == (0, 1, 0)


def test_arguments_of_a_hierarchy_are_checked(tmp_path):
    with pytest.raises(SchemaError, match="has no column 'tract'"):
        dp.Hierarchy(TABLE, levels=["state", "tract"])
    with pytest.raises(SchemaError, match="'state' is named twice"):
        dp.Hierarchy(TABLE, levels=["state", "state"])
    for levels in ("state", [], 3, [3]):
        with pytest.raises(SchemaError, match="levels"):
            dp.Hierarchy(TABLE, levels=levels)
    with pytest.raises(SchemaError, match="is not a level"):
        schema_of(TABLE, labels={"tract": "name"})
    with pytest.raises(SchemaError, match="there is no such file"):
        schema_of(tmp_path / "nothing.csv")
    with pytest.raises(SchemaError, match="must be the path"):
        schema_of(7)
    with pytest.raises(SchemaError, match="zero in front"):
        schema_of(TABLE, codes="integer")
    with pytest.raises(SchemaError, match="a code is a text or a whole number"):
        schema_of({"state": ["1", "1"], "county": [1.5, 2.5]})
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 is not enough")
    with pytest.raises(SchemaError, match="must be a readable Parquet file"):
        schema_of(tmp_path / "bad.parquet")
    with pytest.raises(SchemaError, match=r"'area\.state': is declared twice"):
        dp.Schema({"area": dp.Hierarchy(TABLE, levels=["state", "county"]), "area.state": dp.Number(0, 1)})


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"missing": [1]}, "missing=1: must be a text, as the categories"),
        ({"missing": "ab"}, "missing='ab': must be a list"),
        ({"missing": ["x"]}, "missing='x': is listed as a category"),
        ({"required": "yes"}, "required='yes': must be True or False"),
    ],
)
def test_what_a_category_refuses_is_refused_of_the_codes(stated, message):
    with pytest.raises(SchemaError, match=message):
        dp.Hierarchy({"state": ["a", "b"], "county": ["x", "y"]}, levels=["state", "county"], **stated)


def test_a_derived_column_is_a_public_map_of_categories(tmp_path):
    (tmp_path / "map.csv").write_text("state,region\nOhio,Midwest\nTexas,South\nUtah,\n", encoding="utf-8")
    states = dp.Category(["Ohio", "Texas", "Utah", "Guam"])
    by_file = dp.DerivedColumn("region", of="state", by=tmp_path / "map.csv")
    by_name = dp.DerivedColumn("region", of="state", by={"Ohio": "Midwest", "Texas": "South", "Utah": None})
    schema = dp.Schema(state=states, region=by_file)
    assert schema == dp.Schema(state=states, region=by_name)
    assert schema["region"].origin.codes == (0, 1, -1, -1)
    assert "map" in schema["region"].to_json()
    other = dp.Schema(state=states, region=dp.DerivedColumn("region", of="state", by={"Ohio": "Midwest", "Utah": "South"}))
    assert other["region"].values == schema["region"].values
    assert other["region"].to_json() != schema["region"].to_json()
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("code,band\n1,low\n2,high\n", encoding="utf-8")
    coded = dp.Schema(n=dp.Category([1, 2]), band=dp.DerivedColumn("band", of="n", by=numbers, key="code"))
    assert coded["band"].origin.codes == (0, 1)


def test_faults_of_derived_columns(tmp_path):
    states = dp.Category(["Ohio", "Texas"])

    def made(by, of="state", **columns):
        return dp.Schema(state=states, region=dp.DerivedColumn("region", of=of, by=by), **columns)

    with pytest.raises(SchemaError, match="'Texsa' is not a category of the column; did you mean 'Texas'"):
        made({"Texsa": "South"})
    with pytest.raises(SchemaError, match="leads to no category"):
        made({"Ohio": None})
    with pytest.raises(SchemaError, match="which must be a category of the schema"):
        made({"Ohio": "x"}, of="town")
    with pytest.raises(SchemaError, match="grouped by bins"):
        made({"Ohio": "x"}, of="age", age=dp.Number(0, 9))
    with pytest.raises(SchemaError, match="derived from itself"):
        made({"Ohio": "x"}, of="region")
    with pytest.raises(SchemaError, match="must all be texts"):
        made({"Ohio": "x", "Texas": 1})
    twice = tmp_path / "twice.csv"
    twice.write_text("state,region\nOhio,x\nOhio,x\n", encoding="utf-8")
    with pytest.raises(SchemaError, match="line 3: 'Ohio' of 'state' is listed twice"):
        made(twice)
    column = made({"Ohio": "x"})["region"]
    for root in ({}, {"state": dp.Category(["Ohio", "Utah"])}, {"state": dp.Number(0, 1)}):
        with pytest.raises(SchemaError, match="which the schema does not declare as it was"):
            dp.Schema({**root, "region": column})


def test_schemas_with_derived_columns_are_pickled_and_stated():
    schema = schema_of(TABLE)
    assert pickle.loads(pickle.dumps(schema)) == schema
    stated = {one["name"]: one for one in schema.to_json()}
    assert stated["area.state"]["of"] == "area"
    assert len(stated["area.state"]["map"]) == 64
    assert "of" not in stated["area"]
    queried = schema.select("SELECT code AS area, sex FROM source")
    assert {one["name"]: one.get("query") for one in queried.to_json()}["area.state"] is not None
