"""A kernel as a tree of HTML: what it is made of, parameters, and how much each part counts."""

from __future__ import annotations

from html import escape
from numbers import Real

import numpy as np

from .base import Kernel
from .multiple import MultipleKernel

ITEM = 'style="list-style: none; margin: 0; padding-left: 1.2em; border-left: 1px solid #8888"'
BAR = 'style="display: inline-block; height: 0.6em; background: #0a7d91; width: {:.0f}px"'
LONGEST_BAR = 80  # pixels


def drawn(kernel: Kernel) -> str:
    """The whole tree."""
    return f"<div>{_node(kernel)}</div>"


def _node(kernel: Kernel) -> str:
    parameters = kernel.get_params(deep=False)
    parts = [part for value in parameters.values() for part in _parts(value)]
    own = {name: value for name, value in parameters.items() if not _parts(value)}
    if isinstance(kernel, MultipleKernel):
        own.pop("weights", None)  # shown with the parts
    told = ", ".join(f"{name}={_short(value)}" for name, value in own.items())
    head = f"<code><b>{type(kernel).__name__}</b>({escape(told)})</code>"
    if not parts:
        return head
    weights = kernel.current_weights if isinstance(kernel, MultipleKernel) else None
    items = [f"<li>{_weight(weights, i)}{_node(part)}</li>" for i, part in enumerate(parts)]
    return f"{head}<ul {ITEM}>{''.join(items)}</ul>"


def _parts(value: object) -> list[Kernel]:
    """The kernels among a parameter's value."""
    given = value if isinstance(value, list | tuple) else [value]
    return [part for part in given if isinstance(part, Kernel)]


def _weight(weights: np.ndarray | None, index: int) -> str:
    if weights is None:
        return ""
    width = LONGEST_BAR * weights[index] / weights.max()
    return f"<span {BAR.format(width)}></span> {weights[index]:.3g} &times; "


def _short(value: object) -> str:
    if isinstance(value, Real) and not isinstance(value, bool):
        return f"{float(value):.4g}"
    if isinstance(value, np.ndarray):
        return f"array {value.shape}"
    text = getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
