"""What can be looked at: classes, confusions, queries with their atoms, dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .figures import by_method
from .formats import counted, decimal, size
from .matrices import confusion_chart
from .records import Artifacts, Atom, Example, Result
from .statistics import Group, summarize
from .tables import Cell, Column, Table

MOST_RESIDUALS = 8
MOST_EXAMPLES = 12


@dataclass(frozen=True, slots=True)
class Confusion:
    """A method's confusion matrix, summed over splits."""

    title: str
    splits: str
    picture: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A number with a bar, its length in percent of the longest."""

    label: str
    text: str
    length: str
    chosen: bool = False
    negative: bool = False
    image: str | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """A query, its strongest atoms and its residuals."""

    label: str
    predicted: str
    image: str | None
    is_right: bool
    atoms: tuple[Bar, ...]
    residuals: tuple[Bar, ...]
    more: str


@dataclass(frozen=True, slots=True)
class Gallery:
    """Queries and atoms of one method."""

    title: str
    cards: tuple[Card, ...]
    atoms: tuple[str, ...]

    @property
    def summary(self) -> str:
        """What there is to look at."""
        parts = [(len(self.cards), "query", "queries"), (len(self.atoms), "atom", "atoms")]
        return " and ".join(counted(*part) for part in parts if part[0])


def titled(group: Group) -> str:
    """A method with its number of atoms."""
    return group.method if group.size is None else f"{group.method}, {size(group.size)} atoms"


def last_with(groups: Sequence[Group], part: str) -> list[Group]:
    """For each method the largest dictionary that has this artifact."""
    having = [g for g in groups if any(getattr(r.artifacts, part) for r in g.results)]
    return [rows[-1] for rows in by_method(having).values()]


def class_table(caption: str, groups: Sequence[Group], metric: str) -> Table | None:
    """Values of each class, one column a method, means over splits."""
    chosen = last_with(groups, "per_class")
    if not chosen:
        return None
    values = [class_means(result.artifacts for result in group.results) for group in chosen]
    names = list(dict.fromkeys(name for means in values for name in means))
    columns = (Column("Class", numeric=False), *(Column(titled(group)) for group in chosen))
    rows = []
    for name in names:
        numbers = [means.get(name) for means in values]
        best = max(number for number in numbers if number is not None)
        rows.append(
            (Cell(name, name), *(class_cell(n, n == best and len(chosen) > 1) for n in numbers))
        )
    return Table(f"{caption}: {metric} of each class, %", columns, tuple(rows))


def class_cell(value: float | None, is_best: bool) -> Cell:
    """A number; the best of its row is set in bold."""
    return Cell(decimal(value), value, style="best" if is_best else "")


def class_means(artifacts: Iterable[Artifacts]) -> dict[str, float]:
    """Mean over splits of each class."""
    found: dict[str, list[float]] = {}
    for part in artifacts:
        for name, value in part.per_class:
            found.setdefault(name, []).append(value)
    return {name: summarize(values).mean or 0.0 for name, values in found.items()}


def confusions(groups: Sequence[Group]) -> tuple[Confusion, ...]:
    """Counts summed over the splits that have the same classes."""
    found = []
    for group in last_with(groups, "confusion"):
        parts = [r.artifacts for r in group.results if r.artifacts.confusion]
        classes = parts[0].classes
        same = [part.confusion for part in parts if part.classes == classes]
        counts = [
            [sum(cells) for cells in zip(*rows, strict=True)] for rows in zip(*same, strict=True)
        ]
        label = f"Confusion matrix of {titled(group)}, rows are the truth"
        splits = counted(len(same), "split")
        found.append(Confusion(titled(group), splits, confusion_chart(classes, counts, label)))
    return tuple(found)


def galleries(groups: Sequence[Group]) -> tuple[Gallery, ...]:
    """Queries and atoms, of the first split that has them."""
    chosen = {id(g): g for part in ("examples", "atom_images") for g in last_with(groups, part)}
    return tuple(
        Gallery(
            titled(group),
            tuple(card(example) for example in first(group.results, "examples")[:MOST_EXAMPLES]),
            first(group.results, "atom_images"),
        )
        for group in groups
        if id(group) in chosen
    )


def first(results: Sequence[Result], part: str) -> tuple:
    """An artifact of the first split that has it."""
    return next((getattr(r.artifacts, part) for r in results if getattr(r.artifacts, part)), ())


def card(example: Example) -> Card:
    """Bars relative to the largest weight and residual; the smallest residual is the answer."""
    largest = max((abs(atom.weight) for atom in example.atoms), default=0.0) or 1.0
    residuals = sorted(example.residuals, key=lambda pair: pair[1])
    shown = residuals[:MOST_RESIDUALS]
    longest = max((abs(value) for _, value in shown), default=0.0) or 1.0
    hidden = len(residuals) - len(shown)
    return Card(
        label=example.label,
        predicted=example.predicted,
        image=example.image,
        is_right=example.label == example.predicted,
        atoms=tuple(atom_bar(atom, largest) for atom in example.atoms),
        residuals=tuple(
            Bar(name, even(value, longest), length(value, longest), chosen=position == 0)
            for position, (name, value) in enumerate(shown)
        ),
        more=f"and {counted(hidden, 'larger one')}" if hidden else "",
    )


def atom_bar(atom: Atom, largest: float) -> Bar:
    """An atom's weight."""
    return Bar(
        atom.label,
        even(atom.weight, largest),
        length(atom.weight, largest),
        negative=atom.weight < 0,
        image=atom.image,
    )


def length(value: float, longest: float) -> str:
    """Percent of the longest bar."""
    return f"{100 * abs(value) / longest:.1f}"


def even(value: float, longest: float) -> str:
    """The same decimals for all numbers of a list."""
    return decimal(value, 3 if longest < 10 else 1)
