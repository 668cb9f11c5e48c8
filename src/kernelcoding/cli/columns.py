"""Which columns of a file are features and which holds labels: by name where names are known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

SHOWN = 8  # names in a message; the others are counted


@dataclass(frozen=True, slots=True)
class ModelFeatures:
    """What a fitted model says of its features: their names and their number, where it knows."""

    names: tuple[str, ...] | None
    count: int | None


@dataclass(frozen=True, slots=True)
class Request:
    """What is wanted of a file.

    Attributes
    ----------
    target : str or None
        The column with labels, by name or number.
    header : bool or None
        Whether the first line of a CSV file holds names; None is to be found out.
    model : ModelFeatures or None
        The features to look for; None takes every column.
    safe_labels : bool
        Whether labels of a CSV file are spelled for spreadsheets.
    """

    target: str | None = None
    header: bool | None = None
    model: ModelFeatures | None = None
    safe_labels: bool = False


@dataclass(frozen=True, slots=True)
class Columns:
    """Positions of features and labels, the names to hand over, and what users should know."""

    features: list[int]
    target: int | None
    names: tuple[str, ...] | None
    notes: tuple[str, ...] = ()


def choose_columns(path: Path, names: list[str] | None, count: int, request: Request) -> Columns:
    """Match the columns of a file with what is wanted, by name or else by position.

    Parameters
    ----------
    path : Path
        For messages.
    names : list of str or None
        Of the columns, where the file has them.
    count : int
        Of the columns.
    request : Request
    """
    target = None if request.target is None else _position(path, names, count, request.target)
    others = [i for i in range(count) if i != target]
    if not others:
        raise ValueError(f"{path} has no column of features beside the labels.")
    model = request.model
    if model is None:
        return _all_columns(path, names, others, target)
    if names is None or model.names is None:
        check_count(path, len(others), model)
        return Columns(others, target, model.names, _taken_in_order(path, names))
    return _by_name(path, {i: names[i] for i in others}, target, model.names)


def check_count(path: Path, count: int, model: ModelFeatures) -> None:
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


def _position(path: Path, names: list[str] | None, count: int, target: str) -> int:
    if names is not None and target in names:
        _refuse_doubles(path, names, [target])
        return names.index(target)
    if is_position(target, count):
        return int(target) % count
    known = f"{count} columns" if names is None else f"columns {', '.join(names)}"
    raise ValueError(f"{path} has no column {target!r}; it has {known}.")


def _all_columns(
    path: Path, names: list[str] | None, others: list[int], target: int | None
) -> Columns:
    if names is None:
        return Columns(others, target, None)
    chosen = tuple(names[i] for i in others)
    _refuse_doubles(path, chosen, chosen)
    return Columns(others, target, chosen)


def _by_name(
    path: Path, named: dict[int, str], target: int | None, wanted: tuple[str, ...]
) -> Columns:
    present = list(named.values())
    lacking = [name for name in wanted if name not in present]
    if lacking:
        raise ValueError(
            f"{path} lacks {listed(lacking)}, which the model was fitted with; its columns are "
            f"{listed(present)}. Add or rename columns, or fit a model to these."
        )
    _refuse_doubles(path, present, wanted)
    at = {name: i for i, name in named.items()}
    extra = [name for name in present if name not in set(wanted)]
    notes = (f"{path}: ignored {listed(extra)}, which the model does not know.",) if extra else ()
    return Columns([at[name] for name in wanted], target, wanted, notes)


def _taken_in_order(path: Path, names: list[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    return (f"{path}: the model knows no names, so that columns were taken in their order.",)


def _refuse_doubles(path: Path, present: Sequence[str], wanted: Iterable[str]) -> None:
    counts = Counter(present)
    doubles = list(dict.fromkeys(name for name in wanted if counts[name] > 1))
    if doubles:
        raise ValueError(
            f"{path} has several columns named {listed(doubles)}. Give every column a name of its "
            "own."
        )
