"""The fingerprint of a Spark source's files, where there is no Spark: what a file system says, and what is made of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import discreet as dp
from discreet.engines.spark.files import FrameFiles, facts_of, files_of_path, files_of_table


def status(path: str, length: int = 492, written: int = 1795345512777, after: str = "") -> str:
    """As Hadoop 3 writes it, with the name of the class before and what a sub-class adds after it."""
    return (
        f"LocatedFileStatus{{path={path}; isDirectory=false; length={length}; replication=1; blocksize=33554432; "
        f"modification_time={written}; access_time=0; owner=; group=; permission=rw-rw-rw-; isSymlink=false; "
        f"hasAcl=false; isEncrypted=false; isErasureCoded=false}}{after}"
    )


REMOTE = "s3a://bucket/per sons/a.parquet"
TAGGED = status(REMOTE, after="[eTag='d41d8cd9', versionId='null']")


def test_facts_are_name_length_time_and_tag() -> None:
    first = facts_of(TAGGED, at_hand=False)
    assert first == ((REMOTE, 492, 1795345512777, ("d41d8cd9",), (0, 0)),)
    others = [
        status(REMOTE),
        TAGGED.replace("d41d8cd9", "d41d8cda"),
        TAGGED.replace("length=492", "length=493"),
        TAGGED.replace("512777", "512778"),
        TAGGED.replace("a.parquet", "b.parquet"),
        f"{TAGGED}\0{status('s3a://bucket/b')}",
        "",
    ]
    assert len({facts_of(other, at_hand=False) for other in others} - {first}) == len(others)
    assert facts_of(TAGGED.replace("access_time=0", "access_time=7"), at_hand=False) == first


def test_the_order_of_a_listing_has_no_part_in_it() -> None:
    one, two = status("hdfs://host/a"), status("hdfs://host/b", 3)
    assert facts_of(f"{one}\0{two}", at_hand=False) == facts_of(f"{two}\0{one}", at_hand=False)
    assert facts_of("", at_hand=True) == ()


@pytest.mark.parametrize(
    "said",
    [
        status(REMOTE, written=0),  # a file system that does not know
        f"{TAGGED}\0{status(REMOTE, written=0)}",
        "MyStatus@1f2e3d",
        status(REMOTE).replace("isDirectory=false; length=492", "isDirectory=true"),
        status(REMOTE).replace("modification_time=", "mtime="),
        status("file:/data/a.parquet"),  # of which every machine of a cluster may have its own
    ],
)
def test_whoever_does_not_say_it_all_has_no_facts(said: str) -> None:
    assert facts_of(said, at_hand=False) is None


def test_files_at_hand_are_known_by_their_place_and_finer_clock(tmp_path: Path) -> None:
    place = tmp_path / "per sons%20é.parquet"
    place.write_bytes(b"1")
    said = status(f"file:{place}")
    first = facts_of(said, at_hand=True)
    was = place.stat()
    os.utime(place, ns=(was.st_atime_ns, was.st_mtime_ns + 1000))
    assert facts_of(said, at_hand=True) != first
    os.utime(place, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert facts_of(said, at_hand=True) == first
    (tmp_path / "new").write_bytes(b"2")
    os.utime(tmp_path / "new", ns=(was.st_atime_ns, was.st_mtime_ns))
    (tmp_path / "new").rename(place)
    assert facts_of(said, at_hand=True) != first
    place.unlink()
    with pytest.raises(FileNotFoundError):
        facts_of(said, at_hand=True)


def test_a_snapshot_is_of_the_files_that_were_there_when_the_frame_was_made() -> None:
    known = facts_of(TAGGED, at_hand=False)
    assert known is not None
    listings = iter([known, facts_of(status(REMOTE), at_hand=False), None, (), known])
    files = FrameFiles(known, lambda: next(listings))
    first = files.snapshot()
    for _ in range(3):
        with pytest.raises(dp.SourceError, match="files came, went or changed since it was opened; open it again"):
            files.snapshot()
    assert files.snapshot() == first


def test_a_listing_that_fails_is_told_without_the_words_of_the_driver() -> None:
    def look() -> None:
        raise RuntimeError("secret")

    with pytest.raises(dp.SourceError, match="its files can no longer be listed") as refused:
        FrameFiles((), look).snapshot()
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_where_there_is_no_gateway_there_are_no_files() -> None:
    assert files_of_path(_Remote(), object(), "s3a://bucket/a") is None
    assert files_of_table(_Remote(), object()) is None


class _Remote:
    """A session of Spark Connect: it reads, and shows no plan."""

    @property
    def read(self) -> _Remote:
        return self

    def format(self, _: str) -> _Remote:
        return self

    def option(self, *_: str) -> _Remote:
        return self
