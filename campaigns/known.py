"""Failures that are known and being mended; the list is empty when all is well."""

from __future__ import annotations

from typing import NamedTuple


class Known(NamedTuple):
    """A failure that is counted but does not fail a run."""

    campaign: str
    family: str  # a regular expression for the label of the case
    message: str  # a regular expression for what is said
    reason: str


KNOWN: tuple[Known, ...] = ()
