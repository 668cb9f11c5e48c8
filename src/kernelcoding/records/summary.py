"""The mean and spread over splits, and how they compare with the paper's numbers."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import fmean, stdev

from .schema import ResultRecord

LARGEST = sys.float_info.max
# Beyond two to this power, sums and squares leave the range of floats.
MOST_EXPONENT = 500
# The paper prints one decimal: a smaller difference cannot be seen in its tables.
PRINTED = 0.05


@dataclass(frozen=True, slots=True)
class Summary:
    """Mean and sample standard deviation of the numbers there are; None where there are too few."""

    mean: float | None
    spread: float | None  # needs two numbers
    count: int

    @property
    def low(self) -> float | None:
        """Mean less one spread; the least of all floats where that is less."""
        return None if self.mean is None else max(self.mean - (self.spread or 0.0), -LARGEST)

    @property
    def high(self) -> float | None:
        """Mean plus one spread; the largest of all floats where that is more."""
        return None if self.mean is None else min(self.mean + (self.spread or 0.0), LARGEST)


def summarize(values: Iterable[float | None]) -> Summary:
    """Mean, spread and count; absent values do not count, and a spread beyond floats is absent."""
    present = [value for value in values if value is not None]
    if not present:
        return Summary(None, None, 0)
    power = math.frexp(max(map(abs, present)))[1]
    power = power if power > MOST_EXPONENT else 0
    scaled = [math.ldexp(value, -power) for value in present]
    mean = min(max(fmean(scaled), min(scaled)), max(scaled))  # rounding must not lead outside
    spread = stdev(scaled) if len(scaled) > 1 else None
    return Summary(math.ldexp(mean, power), _raised(spread, power), len(present))


def _raised(value: float | None, power: int) -> float | None:
    try:
        return None if value is None else math.ldexp(value, power)
    except OverflowError:
        return None


class Verdict(Enum):
    """How our mean compares with the paper's number; the value is what readers are shown."""

    BETTER = "better"
    WITHIN = "within spread"
    EQUAL = "equal"
    BELOW = "below"

    @property
    def sign(self) -> str:
        """A mark that says the same without colour."""
        return {"better": "▲", "within spread": "≈", "equal": "=", "below": "▼"}[self.value]


def verdict_on(
    ours: Summary, paper: float | None, standard_error: float | None = None
) -> Verdict | None:
    """Compare a mean with the paper's number; None where one of them is missing.

    One split has no spread: a difference within its standard error is neither better nor below.
    """
    if ours.mean is None or paper is None:
        return None
    difference = ours.mean - paper
    if abs(difference) <= PRINTED + 1e-9 and ours.spread is None:
        return Verdict.EQUAL
    spread = ours.spread if ours.spread is not None else standard_error or 0.0
    if abs(difference) <= max(spread, PRINTED + 1e-9):
        return Verdict.WITHIN
    return Verdict.BETTER if difference > 0 else Verdict.BELOW


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """The splits of one method at one number of atoms: one row of a table."""

    method: str
    size: float | None
    results: tuple[ResultRecord, ...]

    def over_splits(self, of: Callable[[ResultRecord], float | None]) -> Summary:
        """Mean and spread of one number of the records."""
        return summarize(of(result) for result in self.results)

    def largest(self, of: Callable[[ResultRecord], float | None]) -> float | None:
        """The largest of one number; None unless every split has it: a bound must hold for all."""
        found = [of(result) for result in self.results]
        present = [value for value in found if value is not None]
        return max(present) if len(present) == len(found) else None

    @property
    def control_of(self) -> str | None:
        """The method of which this one is the control."""
        return self.results[0].control_of

    @property
    def value(self) -> Summary:
        """The metric, in percent."""
        return self.over_splits(lambda result: result.value)

    @property
    def paper(self) -> float | None:
        """The paper's number, in percent."""
        given = [result.paper for result in self.results if result.paper is not None]
        return given[0] if given else None

    @property
    def verdict(self) -> Verdict | None:
        """How the value compares with the paper's."""
        return verdict_on(self.value, self.paper, self.standard_error)

    @property
    def standard_error(self) -> float | None:
        """Of the percentage of one split, by its number of test samples; None if not known."""
        if len(self.results) != 1 or self.results[0].value is None:
            return None
        count = dict(self.results[0].configuration).get("test_samples")
        share = self.results[0].value / 100
        if not isinstance(count, int) or count < 1 or not 0 <= share <= 1:
            return None
        return 100 * math.sqrt(share * (1 - share) / count)


def result_groups(results: Sequence[ResultRecord]) -> list[ResultGroup]:
    """Rows of a table: methods as they first appear, each by number of atoms; splits in order."""
    methods = list(dict.fromkeys(result.method for result in results))
    rows: dict[tuple[str, float | None], list[ResultRecord]] = {}
    for result in results:
        rows.setdefault((result.method, result.size), []).append(result)
    keys = sorted(rows, key=lambda key: (methods.index(key[0]), _or_least(key[1])))
    return [ResultGroup(*key, tuple(sorted(rows[key], key=_split_order))) for key in keys]


def tables_of(results: Sequence[ResultRecord]) -> dict[str, list[ResultGroup]]:
    """Rows by table, tables as they first appear."""
    names = dict.fromkeys(result.table for result in results)
    return {name: result_groups([r for r in results if r.table == name]) for name in names}


def _or_least(value: float | None) -> float:
    return -math.inf if value is None else value


def _split_order(result: ResultRecord) -> tuple[float, str]:
    name = str(result.split)
    try:
        place = float(name)
    except ValueError:
        place = math.inf
    return math.inf if math.isnan(place) else place, name
