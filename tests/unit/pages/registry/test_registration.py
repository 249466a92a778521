"""The entry for the registry of deployments and the evaluation page: valid, from the document alone, and never a guess."""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import Any

import polars as pl
import pytest
from tests.builders import run, session_over

import discreet as dp
from discreet.exact.canonical import seal
from discreet.pages.registry.entry import entry_of, questions_in
from discreet.pages.registry.evaluation import evaluation_of
from discreet.pages.registry.facts import MARK, slug
from discreet.pages.registry.page import render_evaluation, write_registration, write_registry_entry
from discreet.pages.registry.yaml_text import yaml_text
from discreet.releases.document import Release

SCHEMA = dp.Schema(sex=dp.Category(["f", "m"]), age=dp.Number(0, 110))
FRAME = pl.DataFrame({"sex": ["f", "m"] * 50, "age": [20, 60] * 50})

# The schema of the registry (opendp/deployments-registry-data, schemas/deployments-schema.yaml, commit 3e9c812), written
# down by hand: for each object its fields, what it may hold; a set of words is an enumeration.
STATUS = {
    "Converted",
    "Draft",
    "Pending",
    "Changes Required",
    "Approved",
    "Approved (Update Requested)",
    "Approved (Pending)",
}
KINDS = {"Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API", "SQL queries"}
VARIANTS = {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"}
SECTORS = {"Technology", "Healthcare", "Education", "Government", "Energy", "Finance"}
DATE, TEXT, TEXTS, NUMBER, NUMBER_OR_TEXT = "date", "text", "texts", "number", "number or text"
BASIC = {"name": TEXT, "data_curators": TEXTS, "description": TEXT, "intended_use": TEXT, "data_product_type": KINDS,
         "data_product_region": TEXT, "publication_date": DATE}  # fmt: skip
FIELDS: dict[str, Any] = {
    "url_slug": TEXT,
    "status": STATUS,
    "tier": {1, 2, 3},
    "deployment": {
        "basic": {**BASIC, "data_product_sector": SECTORS},
        "dp_variant": {"variant_name": VARIANTS, "data_domain": TEXT, "unprotected_quantities": TEXT},
        "privacy_loss": {
            "privacy_unit": TEXT,
            "privacy_unit_details": TEXT,
            "privacy_parameters": {"epsilon": NUMBER, "delta": NUMBER_OR_TEXT, "rho": NUMBER},
            "privacy_parameters_details": TEXT,
        },
        "deployment_model": {
            "model_name": {"Local", "Central", "Shuffle", "Federated", "Varies"},
            "model_name_details": TEXT,
            "actors": TEXT,
            "release_type": {"One release", "Many releases"},
            "release_type_details": TEXT,
            "data_source_type": {"Static", "Dynamic"},
            "data_source_type_details": TEXT,
            "access_type": {"Interactive", "Non-interactive"},
            "access_type_details": TEXT,
        },
        "accounting": {"post_processing": TEXT, "composition": TEXT},
        "implementation": {"preprocessing_and_hyperparameter_tuning": TEXT, "mechanisms": TEXT, "justification": TEXT},
        "administrative": {"sources": TEXT, "notes": TEXT, "registry_authors": TEXTS},
    },
}
DEMANDED: dict[str, set[str]] = {
    "": {"url_slug", "status", "tier", "deployment"},
    "deployment": {"basic"},
    "deployment.basic": set(BASIC),
    "deployment.administrative": {"registry_authors"},
}


def faults(value: Any, rule: Any = FIELDS, place: str = "") -> list[str]:
    """What the schema of the registry finds wrong with a value."""
    if isinstance(rule, dict):
        if not isinstance(value, dict):
            return [f"{place}: not an object"]
        missing = [f"{place}: lacks {key}" for key in DEMANDED.get(place, set()) - set(value)]
        surplus = [f"{place}: has {key}" for key in set(value) - set(rule)]
        known = [key for key in value if key in rule]
        return [
            *missing,
            *surplus,
            *(one for key in known for one in faults(value[key], rule[key], f"{place}.{key}".strip("."))),
        ]
    return [] if fits(value, rule) else [f"{place}: {value!r} is not {rule}"]


def fits(value: Any, rule: Any) -> bool:
    if isinstance(rule, set):
        return value in rule
    if rule == TEXTS:
        return isinstance(value, list) and value != [] and all(isinstance(one, str) for one in value)
    if rule == DATE:
        return isinstance(value, str) and dt.date.fromisoformat(value).isoformat() == value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number if rule == NUMBER else isinstance(value, str) or (number and rule == NUMBER_OR_TEXT)


def released(*statistics, budget=None, **options):
    session = session_over(FRAME, SCHEMA, **{"budget": budget or dp.PureDP(1), **options})
    table = session.table.impute({"age": dp.Uniform(0, 110)})
    return session.release(table.group_by("sex").agg(*(statistics or (dp.count(), dp.mean("age")))), name="a b: c")


BUDGETS = [dp.PureDP("0.1"), dp.ApproxDP(1, "1e-6"), dp.ZCDP("0.5"), dp.GDP(1), dp.PureDP(20)]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_every_entry_is_valid_and_of_the_third_tier(budget):
    for options in ({}, {"neighbours": dp.ReplaceOne(rows=100)}):
        entry = entry_of(released(budget=budget, **options))
        assert faults(json.loads(json.dumps(entry))) == []
        assert entry["tier"] == 3
        assert faults(read_yaml(yaml_text(entry))) == []


def test_wrong_entries_are_noticed():
    entry = json.loads(json.dumps(entry_of(released())))
    entry["deployment"]["basic"]["publication_date"] = "2026-1-1x"
    with pytest.raises(ValueError, match="Invalid isoformat"):
        faults(entry)
    entry["deployment"]["basic"].pop("publication_date")
    entry["deployment"]["dp_variant"]["variant_name"] = "DP"
    entry["surprise"] = 1
    assert [one.split(":")[0] for one in faults(entry)] == ["", "deployment.basic", "deployment.dp_variant.variant_name"]


def test_parameters_are_the_effective_ones():
    def loss(budget, **options):
        return entry_of(released(budget=budget, **options))["deployment"]["privacy_loss"]["privacy_parameters"]

    assert loss(dp.PureDP("0.1")) == {"epsilon": 0.1}
    assert loss(dp.ZCDP("0.5")) == {"rho": 0.5}
    assert loss(dp.ApproxDP(1, "1e-6")) == {"epsilon": 1.0, "delta": 1e-6}
    assert set(loss(dp.GDP(1))) == {"epsilon", "delta"}
    with_totals = session_over(
        FRAME, SCHEMA, budget=dp.ZCDP(1), neighbours=dp.ReplaceOne(rows=100), invariants=dp.Totals("sex")
    )
    release = with_totals.release(with_totals.table.group_by("sex").agg(dp.histogram("age", [0, 50, 100])), name="t")
    loss_words = entry_of(release)["deployment"]["privacy_loss"]["privacy_parameters_details"]
    assert "Without counting them" in loss_words
    assert "the same exact totals" in entry_of(release)["deployment"]["privacy_loss"]["privacy_unit_details"]


def test_what_the_document_does_not_know_is_a_marked_question():
    entry = entry_of(released())
    asked = dict(questions_in(entry))
    assert {
        "deployment.basic.intended_use",
        "deployment.basic.data_curators",
        "deployment.implementation.justification",
    } <= set(asked)
    assert "data_source_type" not in entry["deployment"]["deployment_model"]  # an enumeration cannot hold a question
    assert "data_product_sector" not in entry["deployment"]["basic"]
    text = write_registry_entry(released())
    assert text.count(MARK) == len(list(questions_in(entry)))


def test_what_the_custodian_has_written_is_taken():
    session = session_over(FRAME, SCHEMA)
    about = dp.About(title="Ages", publisher="Office of Ages", description="Ages by sex.", universe="Residents of Ageland")
    release = session.release(session.table.group_by("sex").agg(dp.count()), name="r", about=about)
    basic = entry_of(release)["deployment"]["basic"]
    assert (basic["name"], basic["data_curators"]) == ("Ages", ["Office of Ages"])
    assert basic["description"].startswith("- Ages by sex.\n")
    assert basic["data_product_region"].startswith("- Residents of Ageland\n")


def test_the_budget_adds_up_beside_other_releases():
    session = session_over(FRAME, SCHEMA, budget=dp.PureDP(5))
    plan = session.table.group_by("sex").agg(dp.count())
    first = session.release(plan, spend="0.5", name="first")
    second = session.release(plan, spend=1, name="second")
    details = [entry_of(one)["deployment"]["deployment_model"]["release_type_details"] for one in (first, second)]
    assert "other releases" not in details[0]
    assert "Charged for other releases until then: ε = 0.5 (pure DP)" in details[1]


def test_the_day_is_that_of_the_release_or_is_asked_for():
    release = released()
    assert entry_of(release)["deployment"]["basic"]["publication_date"] == release.document["time"][:10]
    assert entry_of(release, "2027-01-02")["deployment"]["basic"]["publication_date"] == "2027-01-02"
    with pytest.raises(dp.ArgumentError, match=r"published='2\.1\.2027': must be a day"):
        entry_of(release, "2.1.2027")
    document = release.document
    del document["time"], document["digest"]
    old = Release(seal(document).encode("ascii"))
    with pytest.raises(dp.ArgumentError, match="give the day of publication"):
        write_registry_entry(old)
    assert faults(json.loads(json.dumps(entry_of(old, "2027-01-02")))) == []


def read_yaml(text: str) -> Any:
    """The subset of YAML that entries are written in: mappings by indentation, lists of scalars, literal blocks."""
    root: dict[str, Any] = {}
    stack: list[tuple[int, Any]] = [(-1, root)]
    block: tuple[int, dict[str, Any], str] | None = None
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip(" "))
        if block and (depth > block[0] or not line):
            block[1][block[2]].append(line[block[0] + 2 :])
            continue
        block = None
        while depth <= stack[-1][0]:
            stack.pop()
        if line.lstrip().startswith("- "):
            stack[-1][1].append(json.loads(line.lstrip()[2:]))
            continue
        key, _, written = line.strip().partition(":")
        holder = stack[-1][1]
        if written == " |-":
            holder[key] = []
            block = depth, holder, key
        elif written:
            holder[key] = json.loads(written)
        else:
            holder[key] = [] if key in {"data_curators", "registry_authors"} else {}
            stack.append((depth, holder[key]))
    return _joined(root)


def _joined(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: "\n".join(one)
            if isinstance(one, list) and key not in {"data_curators", "registry_authors"}
            else _joined(one)
            for key, one in value.items()
        }
    return value


def test_the_text_reads_back_as_the_entry():
    entry = json.loads(json.dumps(entry_of(released(budget=dp.ApproxDP(1, "1e-6")))).replace("\\u00a0", " "))
    text = write_registry_entry(released(budget=dp.ApproxDP(1, "1e-6")))
    lines = [line for line in text.splitlines() if "SHA-256" not in line]
    assert [line for line in yaml_text(entry).splitlines() if "SHA-256" not in line] == lines
    assert read_yaml(yaml_text(entry)) == entry
    assert "delta: 1.0e-06" in text  # without the point YAML would read a text


def test_a_reader_of_yaml_agrees():
    yaml = pytest.importorskip("yaml")
    awkward = {
        "a": ["- x: 'y'", "no", "1e3"],
        "b": "a\nb: c\n\n# d",
        "c": " led\u202e",
        "d": "x" * 100 + ": |",
        "e": 1e-9,
        "f": "ends \n",
    }
    assert yaml.safe_load(yaml_text(awkward)) == awkward
    for token in yaml.scan(yaml_text(awkward)):
        assert getattr(token, "style", None) in {None, "|", '"'}  # the registry refuses folded texts


def test_the_page_answers_and_asks_and_escapes():
    session = session_over(FRAME, SCHEMA, dataset="<script>alert(1)</script>", budget=dp.PureDP(12))
    release = session.release(session.table.group_by("sex").agg(dp.count()), spend=12, name="r")
    page = render_evaluation(release)
    assert "<script" not in page
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "")
    assert [section.anchor for section in evaluation_of(release).sections] == [
        "guarantee",
        "algorithms",
        "deployment",
        "hazards",
    ]
    titles = {item.title: item for section in evaluation_of(release).sections for item in section.items}
    assert titles["A large ε"].status == "warning"
    assert titles["Rounding and randomness"].status == "answered"
    assert titles["Collection of the data"].status == "open"
    for asked in evaluation_of(release).questions:
        assert asked.replace("'", "&#39;") in page


def test_a_delta_above_one_over_the_rows_is_a_warning():
    def item(delta):
        release = released(budget=dp.ApproxDP(1, delta), neighbours=dp.ReplaceOne(rows=100))
        items = {item.title: item for section in evaluation_of(release).sections for item in section.items}
        return items["A large δ"]

    assert (item("0.02").status, item("0.01").status) == ("warning", "answered")


def test_a_secret_sample_states_what_its_population_is_promised():
    drawn = dp.AddRemove(sampled=dp.Poisson("1/10"))
    with session_over(FRAME, SCHEMA, budget=dp.PureDP(1), neighbours=drawn) as session:
        release = session.release(session.table.agg(dp.count()), spend="0.5", name="r")
    words = release.document["population"]["words"]
    assert "0.158" in words or "0.159" in words
    assert words in entry_of(release, "2026-11-23")["deployment"]["privacy_loss"]["privacy_parameters_details"]
    evaluation = evaluation_of(release)
    (item,) = [item for item in evaluation.sections[0].items if item.title == "Guarantee for the population"]
    assert item.answers == (words,)
    assert any("who was drawn" in one for one in evaluation.questions)
    alone = evaluation_of(released(dp.count()))
    assert all(item.title != "Guarantee for the population" for item in alone.sections[0].items)


def test_the_command_writes_both_files_next_to_the_release(tmp_path):
    released().save(tmp_path / "results")
    done = run("register", str(tmp_path / "results"))
    assert done.exit_code == 0, done.output
    assert "questions are left to the custodian" in done.stdout
    written = {path.name for path in (tmp_path / "results").iterdir()}
    assert {"d_a_b_c.yaml", "evaluation.html"} <= written
    assert re.fullmatch(r"[a-z0-9_]+", slug(released().document))
    answer = json.loads(run("register", str(tmp_path / "results"), "--json").stdout)
    assert len(answer["questions"]) == len(list(questions_in(entry_of(released()))))
    assert run("register", str(tmp_path / "results"), "--published", "soon").exit_code == 2


def test_everything_follows_from_the_document_alone(tmp_path):
    release = released()
    again = Release.load(release.save(tmp_path / "results"))
    assert write_registry_entry(again) == write_registry_entry(release)
    assert render_evaluation(again) == render_evaluation(release)


def test_a_made_up_document_is_refused_in_one_sentence(tmp_path):
    document = released().document
    del document["digest"], document["noise"]
    with pytest.raises(dp.ArgumentError, match="lacks a part that every release has"):
        write_registration(Release(seal(document).encode("ascii")), tmp_path)
    assert not list(tmp_path.iterdir())
