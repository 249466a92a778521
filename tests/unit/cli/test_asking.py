"""The questions of `discreet init`: going back, code lists, values with commas, chosen columns, and usual budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from discreet.cli import asking
from discreet.cli.asking import Terminal
from discreet.cli.code_lists import code_list, split_values
from discreet.cli.starting import start_plan
from discreet.errors import ArgumentError
from discreet.planfile import load_plan

from .commands import done, refused

ANSWERS = ["d", "add-remove", "1", "l.db"]
LAST = ["zcdp", "0.5", "-", "count"]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The plan that comes out when these lines are typed; all of them are asked for."""
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"vote": ["NO"], "sex": [1], "age": [30]}).write_parquet("p.parquet")

    def answering(*lines: str, columns: str | None = None) -> str:
        left: Iterator[str] = iter(lines)
        monkeypatch.setattr(asking.typer, "prompt", lambda question, **_: questions.append(question) or next(left))
        questions: list[str] = []
        Path("plan.toml").unlink(missing_ok=True)
        start_plan("p.parquet", Path("plan.toml"), Terminal(), columns)
        assert next(left, None) is None, "a line was not asked for"
        load_plan("plan.toml")
        return Path("plan.toml").read_text(encoding="utf-8")

    return answering


def test_going_back_asks_the_question_before_and_keeps_the_other_answers(typed: Callable[..., str]) -> None:
    plan = typed(*ANSWERS, "category", "a, b", "<", "<", "skip", "category", "1, 2", "number", "0", "100", "1", *LAST)
    assert "[columns.vote]" not in plan
    assert "categories = [1, 2]" in plan
    lines = ["<", *ANSWERS, "skip", "number", "0", "1", "1", "skip", "zcdp", "5", "<", "0.25", "-", "count"]
    from_the_end = typed("wrong", *lines)
    assert "rho = 0.25" in from_the_end
    assert 'dataset = "d"' in from_the_end


def test_going_back_can_change_which_questions_follow(typed: Callable[..., str]) -> None:
    first = ["d", "replace-one", "3", "<", "<", "add-remove", "1", "l.db"]
    plan = typed(*first, "skip", "skip", "number", "0", "100", "1", *LAST)
    assert 'neighbours = "add-remove"' in plan
    assert "rows = 3" not in plan


def test_there_is_nothing_before_the_first_question_and_no_empty_answer(
    typed: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    typed("<", "", *ANSWERS, "skip", "skip", "number", "0", "100", "1", *LAST)
    assert capsys.readouterr().out.count("an answer is needed; < goes back to the question before") == 2


def test_a_category_with_a_comma_is_in_quotes(typed: Callable[..., str]) -> None:
    plan = typed(*ANSWERS, "category", '"NO", "YES, TO EU COUNTRY"', "skip", "skip", *LAST)
    assert 'categories = ["NO", "YES, TO EU COUNTRY"]' in plan
    with pytest.raises(ArgumentError, match="in double quotes"):
        split_values('"NO')


def test_a_code_list_gives_codes_and_says_their_labels(typed: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "sex.csv").write_text("code;label\r\n1;male\r\n2;fe\x1bmale\r\n", encoding="utf-8-sig", newline="")
    plan = typed(*ANSWERS, "skip", "category", "@sex.csv", "skip", *LAST)
    assert "categories = [1, 2]    # 1 male, 2 fe" in plan
    assert "\x1b" not in plan


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        ("1;male\n2;female\n", {"1": "male", "2": "female"}),
        ('"a";"x; y"\nb;z\n\n', {"a": "x; y", "b": "z"}),
        ("male\nfemale\n", {}),
        ("1;male\nfemale\n", {}),
        ("1;\n", {}),
        ("", {}),
        ("code;label\n", {}),
    ],
)
def test_a_file_is_a_code_list_if_every_line_is(tmp_path: Path, content: str, codes: dict[str, str]) -> None:
    (tmp_path / "list.txt").write_text(content, encoding="utf-8")
    assert code_list(tmp_path / "list.txt") == codes


def test_a_code_that_is_listed_twice_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("1;a\n1;b\n", encoding="utf-8")
    with pytest.raises(ArgumentError, match="lists a code twice"):
        code_list(tmp_path / "list.txt")
    assert code_list(tmp_path / "none.txt") == {}
    (tmp_path / "bits").write_bytes(b"\xff\xfe\x00;")
    assert code_list(tmp_path / "bits") == {}


def test_only_the_columns_that_are_asked_for_are_declared(typed: Callable[..., str]) -> None:
    plan = typed(*ANSWERS, "number", "0", "100", "1", "skip", *LAST, columns="age, vote")
    assert "[columns.age]" in plan
    assert "[columns.sex]" not in plan
    done("init", "p.parquet", "--out", "t.toml", "--columns", "sex")
    assert "[columns.age]" not in Path("t.toml").read_text(encoding="utf-8")
    assert "--columns: 'sxe' is not in the source; did you mean 'sex'?" in refused(
        2, "init", "p.parquet", "--out", "u.toml", "--columns", "sxe"
    )
    assert not Path("u.toml").exists()


def test_a_template_says_which_budgets_are_usual(typed: Callable[..., str]) -> None:
    done("init", "p.parquet", "--out", "t.toml")
    assert "often 0.005 to 0.5" in Path("t.toml").read_text(encoding="utf-8")
