"""Checks of parameters that several transformers of images have."""

from __future__ import annotations

import numpy as np


def check_at_least(name: str, value: object, least: float, whole: bool = False) -> None:
    """Refuse what is not a finite number of at least `least`."""
    kind = "an integer" if whole else "a number"
    number = float(value) if isinstance(value, (int, float, np.integer, np.floating)) else np.nan
    if not np.isfinite(number) or number < least or (whole and not number.is_integer()):
        raise ValueError(f"{name} must be {kind} of at least {least}, got {value!r}.")


def check_max_side(value: object) -> None:
    """Refuse what is neither None nor a length in pixels."""
    if value is not None:
        check_at_least("max_side", value, 1, whole=True)
