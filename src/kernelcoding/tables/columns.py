"""Which columns of a file are features and which holds labels: by name where names are known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

SHOWN = 8  # names in a message; the others are counted


@dataclass(frozen=True, slots=True)
class ModelFeatures:
    """What a fitted model says of its features: their names and their number, where it knows.

    Attributes
    ----------
    names : tuple of str or None
    count : int or None
    words : frozenset of int
        Places of columns whose cells are words, also where they look like numbers.
    target : str or None
        The column of labels that the model was fitted with, which other files may have, too.
    optional : frozenset of str
        Columns that the model does not look at: they need not be there.
    """

    names: tuple[str, ...] | None
    count: int | None
    words: frozenset[int] = frozenset()
    target: str | None = None
    optional: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Request:
    """What is wanted of a file.

    Attributes
    ----------
    target : str or None
        The column with labels, by name or number.
    header : bool or None
        Whether the first line of a text file holds names; None is to be found out.
    model : ModelFeatures or None
        The features to look for; None takes every column.
    safe_labels : bool
        Whether labels of a text file are spelled for spreadsheets.
    separator, encoding : str or None
        Of a text file; None is to be found out.
    engine : str
        Which of pandas' parsers reads text files, "c" or "pyarrow".
    words : frozenset of str
        Columns, by name or number, whose cells are words, also where they look like numbers.
    aside : tuple of str
        Columns that are no features: groups, names of rows.
    """

    target: str | None = None
    header: bool | None = None
    model: ModelFeatures | None = None
    safe_labels: bool = False
    separator: str | None = None
    encoding: str | None = None
    engine: str = "c"
    words: frozenset[str] = frozenset()
    aside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Columns:
    """Positions of features and labels, the names to hand over, and what users should know."""

    features: list[int]
    target: int | None
    names: tuple[str, ...] | None
    notes: tuple[str, ...] = ()
    aside: dict[str, int] = field(default_factory=dict)
    words: frozenset[int] = frozenset()  # positions of columns of words

    def called(self, names: list[str] | None) -> list[str]:
        """Names of the features: the model's, those of the file, or their positions."""
        if self.names is not None:
            return list(self.names)
        return [str(i) if names is None else names[i] for i in self.features]


def choose_columns(path: object, names: list[str] | None, count: int, request: Request) -> Columns:
    """Match the columns of a file with what is wanted, by name or else by position.

    Parameters
    ----------
    path : object
        What the file is called in messages.
    names : list of str or None
        Of the columns, where the file has them.
    count : int
        Of the columns.
    request : Request
    """
    target = None if request.target is None else position(path, names, count, request.target)
    aside = {name: position(path, names, count, name) for name in request.aside}
    model = request.model
    taken = {target} if model is not None else {target, *aside.values()}
    others = [i for i in range(count) if i not in taken]
    if not others:
        raise ValueError(f"{path} has no column of features beside the labels.")
    if model is None:
        asked = request.words
        words = frozenset(position(path, names, count, name) for name in asked)
        return Columns(others, target, _all_names(path, names, others), (), aside, words)
    if names is None or model.names is None:
        others, notes = _counted(path, names, others, model)
        words = frozenset(others[place] for place in model.words)
        return Columns(others, target, model.names, notes, aside, words)
    features, notes = _by_name(path, {i: names[i] for i in others}, model)
    spelled = {model.names[place] for place in model.words}
    words = frozenset(i for i in features if names[i] in spelled)
    return Columns(features, target, tuple(names[i] for i in features), notes, aside, words)


def check_count(path: object, count: int, model: ModelFeatures) -> None:
    """Refuse another number of features than the model takes."""
    if model.count is not None and count != model.count:
        known = "" if model.names is None else f" ({listed(model.names)})"
        raise ValueError(
            f"{path} has {count} features, the model takes {model.count}{known}. Give it the "
            "columns it was fitted with; a column of labels is named with --target."
        )


def listed(names: Iterable[str]) -> str:
    """Names for a message: the first few, and how many more."""
    names = list(names)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(repr(shortened(name)) for name in names[:SHOWN]) + more


def shortened(cell: str, width: int = 40) -> str:
    """A cell for a message, cut where it is long."""
    return cell if len(cell) <= width else f"{cell[:width]}..."


def is_position(target: str, count: int) -> bool:
    """Whether a target is the number of a column, counted from the front or the end."""
    return bool(re.fullmatch("-?[0-9]{1,9}", target)) and -count <= int(target) < count


def position(path: object, names: list[str] | None, count: int, column: str) -> int:
    """Where a column is that was given by name or number."""
    if names is not None and column in names:
        _refuse_doubles(path, names, [column])
        return names.index(column)
    if is_position(column, count):
        return int(column) % count
    known = f"{count} columns" if names is None else f"columns {', '.join(names)}"
    raise ValueError(f"{path} has no column {column!r}; it has {known}.")


def _all_names(path: object, names: list[str] | None, others: list[int]) -> tuple[str, ...] | None:
    if names is None:
        return None
    chosen = tuple(names[i] for i in others)
    _refuse_doubles(path, chosen, chosen)
    return chosen


def _counted(
    path: object, names: list[str] | None, others: list[int], model: ModelFeatures
) -> tuple[list[int], tuple[str, ...]]:
    """Columns in their order; the column of labels may be where it was in training."""
    notes: tuple[str, ...] = ()
    if names is not None:
        notes = (f"{path}: the model knows no names, so that columns were taken in their order.",)
    extra = model.target
    if model.count is not None and len(others) == model.count + 1 and extra is not None:
        place = int(extra) % len(others) if is_position(extra, len(others)) else None
        if place is not None and model.names is None:
            notes += (f"{path}: ignored column {place}, which held the labels in training.",)
            others = [i for i in others if i != others[place]]
    check_count(path, len(others), model)
    return others, notes


def _by_name(
    path: object, named: dict[int, str], model: ModelFeatures
) -> tuple[list[int], tuple[str, ...]]:
    wanted = model.names or ()
    present = list(named.values())
    lacking = [name for name in wanted if name not in {*present, *model.optional}]
    if lacking:
        raise ValueError(
            f"{path} lacks {listed(lacking)}, which the model was fitted with; its columns are "
            f"{listed(present)}. Add or rename columns, or fit a model to these."
        )
    _refuse_doubles(path, present, wanted)
    at = {name: i for i, name in named.items()}
    extra = [name for name in present if name not in {*wanted, model.target}]
    notes: tuple[str, ...] = ()
    if extra:
        notes = (f"{path}: ignored {listed(extra)}, which the model does not know.",)
    if model.target is not None and model.target in present:
        notes += (
            f"{path}: ignored the labels in {model.target!r}; --target {model.target} compares "
            "with them.",
        )
    return [at[name] for name in wanted if name in at], notes


def _refuse_doubles(path: object, present: Sequence[str], wanted: Iterable[str]) -> None:
    counts = Counter(present)
    doubles = list(dict.fromkeys(name for name in wanted if counts[name] > 1))
    if doubles:
        raise ValueError(
            f"{path} has several columns named {listed(doubles)}. Give every column a name of its "
            "own."
        )
