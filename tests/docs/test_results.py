"""The page of results says what its records say."""

from pathlib import Path

from kernelcoding.records import read_runs
from kernelcoding.report.filled import filled

ROOT = Path(__file__).parents[2]


def test_tables_of_the_results_are_those_of_the_records():
    page = ROOT / "docs" / "results.md"
    text = page.read_text(encoding="utf-8")
    assert filled(text, read_runs(ROOT / "docs" / "records")) == text, (
        "Run: kernelcoding report docs/records --fill docs/results.md"
    )
