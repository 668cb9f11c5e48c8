"""Checks of parameters that several transformers of images have."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_at_least(name: str, value: Any, least: float, whole: bool = False) -> None:
    """Refuse what is not a finite number of at least `least`."""
    kind = "an integer" if whole else "a number"
    number = isinstance(value, (int, float, np.number)) and np.isfinite(float(value))
    if not number or value < least or (whole and value != int(value)):
        raise ValueError(f"{name} must be {kind} of at least {least}, got {value!r}.")


def check_max_side(value: Any) -> None:
    """Refuse what is no length in pixels, or None."""
    if value is not None:
        check_at_least("max_side", value, 1, whole=True)
