"""Files are as open to others as the umask says, and private until they are whole."""

import os
import stat
import sys

import polars as pl
import pytest

import discreet as dp
from discreet.exact.files import create_file, replace_file
from discreet.releases import files as table_files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no umask")


@pytest.fixture(params=[0o022, 0o027, 0o077, 0o002])
def umask(request):
    was = os.umask(request.param)
    yield request.param
    os.umask(was)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("write", [replace_file, create_file])
def test_a_file_has_the_mode_that_the_umask_leaves(write, umask, tmp_path):
    seen = []

    def content(path):
        path.write_bytes(b"x")
        seen.append(mode(path.parent))

    write(tmp_path / "a", content)
    assert mode(tmp_path / "a") == 0o666 & ~umask
    assert seen == [0o700]


def test_a_file_that_takes_the_place_of_another_has_its_own_mode(tmp_path, umask):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o600)
    replace_file(tmp_path / "a", lambda path: path.write_bytes(b"new"))
    assert mode(tmp_path / "a") == 0o666 & ~umask


def test_all_files_of_a_release_have_it(tmp_path, umask):
    schema = dp.Schema(g=dp.Category(["x", "y"]))
    with dp.Session(
        pl.DataFrame({"g": ["x"]}),
        schema,
        dataset="d",
        ledger=tmp_path / "budget.db",
        budget=dp.PureDP(1),
        neighbours=dp.AddRemove(),
    ) as session:
        release = session.release(session.table.group_by("g").agg(dp.count()), spend="0.1", name="r")
    release.save(tmp_path / "out")
    modes = {path.name: mode(path) for path in (tmp_path / "out").iterdir()}
    assert modes == dict.fromkeys(["release.json", "table.csv", "table.parquet"], 0o666 & ~umask)
    assert mode(tmp_path / "out") == 0o777 & ~umask
    assert mode(tmp_path / "budget.db") == 0o600


@pytest.mark.parametrize("left", [False, True])
def test_the_folder_of_a_large_table_has_it(left, tmp_path, umask):
    draft = table_files.draft_folder(tmp_path)
    assert mode(draft.path) == 0o700
    if left:
        (draft.path / ".mode").mkdir()  # by a process that was killed in between
    part = table_files.write_part(draft.path, 0, 0, pl.DataFrame({"a": [1]}))
    table_files.place_draft(draft.path, tmp_path)
    draft.let_go()
    table = tmp_path / table_files.TABLE
    assert mode(table) == 0o777 & ~umask
    assert {path.name: mode(path) for path in table.iterdir()} == {part.file.split("/")[1]: 0o666 & ~umask}
