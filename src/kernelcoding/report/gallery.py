"""Pictures to look at: queries with their atoms and residuals, and dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..records import Example, ExampleAtom, ResultGroup, ResultRecord
from .formats import counted, decimal
from .groups import last_with, titled

MOST_CLASSES = 8
MOST_EXAMPLES = 12


@dataclass(frozen=True, slots=True)
class ValueBar:
    """A number with a bar, its length in percent of the longest."""

    label: str
    text: str
    length: str
    chosen: bool = False
    negative: bool = False
    image: str | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """A query, its strongest atoms, and a number for each class: the first bar is the answer."""

    name: str
    label: str
    predicted: str
    image: str | None
    is_right: bool
    atoms: tuple[ValueBar, ...]
    numbers: str  # what the numbers are
    classes: tuple[ValueBar, ...]
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


def galleries(groups: Sequence[ResultGroup]) -> tuple[Gallery, ...]:
    """Queries and atoms, of the first split that has them."""
    chosen = {id(g): g for part in ("examples", "atom_images") for g in last_with(groups, part)}
    return tuple(
        Gallery(
            titled(group),
            tuple(
                card_of(example)
                for example in first_artifact(group.results, "examples")[:MOST_EXAMPLES]
            ),
            first_artifact(group.results, "atom_images"),
        )
        for group in groups
        if id(group) in chosen
    )


def first_artifact(results: Sequence[ResultRecord], part: str) -> tuple:
    """An artifact of the first split that has it."""
    return next((getattr(r.artifacts, part) for r in results if getattr(r.artifacts, part)), ())


def card_of(example: Example) -> Card:
    """Bars relative to the largest; the smallest residual, or largest probability, comes first."""
    largest = max((abs(atom.weight) for atom in example.atoms), default=0.0) or 1.0
    ordered = sorted(example.residuals, key=lambda pair: pair[1])
    if not ordered:
        ordered = sorted(example.probabilities, key=lambda pair: -pair[1])
    shown = ordered[:MOST_CLASSES]
    longest = max((abs(value) for _, value in shown), default=0.0) or 1.0
    hidden = len(ordered) - len(shown)
    is_residual = bool(example.residuals)
    return Card(
        name=example.name or "Query",
        label=example.label,
        predicted=example.predicted,
        image=example.image,
        is_right=example.label == example.predicted,
        atoms=tuple(atom_bar(atom, largest) for atom in example.atoms),
        numbers="Residual" if is_residual else "Probability",
        classes=tuple(
            ValueBar(
                name,
                written_evenly(value, longest),
                bar_length(value, longest),
                chosen=position == 0,
            )
            for position, (name, value) in enumerate(shown)
        ),
        more=f"and {counted(hidden, 'larger one' if is_residual else 'smaller one')}"
        if hidden
        else "",
    )


def atom_bar(atom: ExampleAtom, largest: float) -> ValueBar:
    """An atom's weight."""
    return ValueBar(
        atom.label,
        written_evenly(atom.weight, largest),
        bar_length(atom.weight, largest),
        negative=atom.weight < 0,
        image=atom.image,
    )


def bar_length(value: float, longest: float) -> str:
    """Percent of the longest bar."""
    return f"{100 * (abs(value) / longest):.1f}"


def written_evenly(value: float, longest: float) -> str:
    """The same decimals for all numbers of a list."""
    return decimal(value, 3 if longest < 10 else 1)
