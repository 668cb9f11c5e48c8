"""The page of results says what its records say, and no record is missing."""

from pathlib import Path

import pytest

from kernelcoding.experiments import REGISTRY
from kernelcoding.records import read_runs
from kernelcoding.report.filled import filled

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "docs" / "records"


def test_tables_of_the_results_are_those_of_the_records():
    page = ROOT / "docs" / "results.md"
    text = page.read_text(encoding="utf-8")
    assert filled(text, read_runs(RECORDS)) == text, (
        "Run: kernelcoding report docs/records --fill docs/results.md"
    )


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDS.glob("*.jsonl")))
def test_every_value_of_an_experiment_has_its_record(name):
    """An experiment that is declared anew must be run anew: its page would be of another."""
    (recorded,) = read_runs(RECORDS / f"{name}.jsonl").experiments
    recorded = sorted(result.key for result in recorded.results)
    assert recorded == sorted(cell.key for cell in REGISTRY[name].full.cells())
