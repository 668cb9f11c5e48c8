"""Checks of parameters that every room makes."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_positive(name: str, value: Any) -> None:
    """Refuse a parameter that is not a positive finite number."""
    if not isinstance(value, (int, float, np.number)) or isinstance(value, bool):
        raise ValueError(f"{name} must be a positive number, got {value!r}.")
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a positive number, got {value!r}.")


def check_count(name: str, value: Any) -> None:
    """Refuse a parameter that is not an integer of at least one."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")
