"""Kernels made of a list of kernels: sum and product."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..stacks import Stack
from ..views import ViewName, Views
from .base import FeatureNames, Kernel, Prepared, Statistic

__all__ = ["Composite", "Product", "Sum", "accumulate", "add_kernels", "multiply_kernels"]

_Kind = TypeVar("_Kind", bound="Composite")


def add_kernels(left: Kernel, right: Kernel) -> Sum:
    """Sum of two kernels; sums within are flattened."""
    return _joined(Sum, left, right)


def multiply_kernels(left: Kernel, right: Kernel) -> Product:
    """Product of two kernels; products within are flattened."""
    return _joined(Product, left, right)


def _joined(kind: type[_Kind], *parts: Kernel) -> _Kind:
    flat: list[Kernel] = []
    for part in parts:
        flat += part.kernels if isinstance(part, Composite) and type(part) is kind else [part]
    result = kind(flat)
    _ = result.input_ndim  # refuse mixed families where the mistake is made
    return result


class Composite(Kernel):
    """Base of kernels over a list of kernels; parameters of child i are reached as ``i__name``."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self.kernels = kernels

    @property
    def children(self) -> tuple[Kernel, ...]:
        """The checked list of kernels."""
        name = type(self).__name__
        if len(self.kernels) == 0:
            raise ValueError(f"{name} expected at least one kernel, got an empty list.")
        for child in self.kernels:
            if not isinstance(child, Kernel):
                raise ValueError(
                    f"{name} expected a list of kernels, got {child!r}; wrap it with as_kernel."
                )
        return tuple(self.kernels)

    @property
    def input_ndim(self) -> int | None:
        """Return the axes that all children agree on."""
        found = {child.input_ndim for child in self.children} - {None}
        if len(found) > 1:
            kinds = [f"{type(c).__name__}: {c.input_ndim}" for c in self.children]
            raise ValueError(
                f"{type(self).__name__} expected kernels of one kind of samples, got input "
                f"dimensions {', '.join(kinds)}; combine kernels of the same family, or give "
                "each a view of its own, View(name, kernel)."
            )
        return found.pop() if found else None

    @property
    def wants_nonnegative(self) -> bool:
        """Whether some member refuses negative entries."""
        return any(child.wants_nonnegative for child in self.children)

    @property
    def uses_index(self) -> bool:
        """Whether some member takes rows of a given matrix."""
        return any(child.uses_index for child in self.children)

    @property
    def views(self) -> tuple[ViewName, ...]:
        """All views that members look at."""
        return tuple(dict.fromkeys(name for child in self.children for name in child.views))

    @property
    def takes_objects(self) -> bool:
        """Whether every member takes samples of any kind."""
        return all(child.takes_objects for child in self.children)

    @property
    def takes_sparse(self) -> bool:
        """Whether every member takes sparse samples."""
        return all(child.takes_sparse for child in self.children)

    @property
    def is_positive_definite(self) -> bool | None:
        """True when every child is; False when one is known not to be."""
        facts = [child.is_positive_definite for child in self.children]
        if False in facts:
            return False
        return None if None in facts else True

    @property
    def is_resolved(self) -> bool:
        """Whether every child is resolved."""
        return all(child.is_resolved for child in self.children)

    def among(self, X: Stack, rows: NDArray) -> Stack:
        """Some samples as a training set of their own, as each child has them."""
        part = X[rows]
        for child in self.children:
            if not child.uses_index:
                continue
            own = child.among(X, rows)
            if isinstance(part, Views):
                stacks = {name: own.require(name) for name in child.views}
                own = Views(part.stacks | stacks, part.precomputed)
            part = own
        return part

    def check(self, X: ArrayLike) -> NDArray:
        """Return X after every child has checked it."""
        _ = self.input_ndim
        first, *others = self.children
        checked = first.check(X)
        for child in others:
            checked = child.check(checked)
        return checked

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> tuple[Prepared, ...]:
        """Return what each child prepared."""
        _ = self.input_ndim
        return tuple(child.prepare(X, index) for child in self.children)

    def prepare_alone(self, X: ArrayLike) -> tuple[Prepared, ...]:
        """Return what each child prepared of X as its own training set."""
        _ = self.input_ndim
        return tuple(child.prepare_alone(X) for child in self.children)

    def statistic(self, P: Prepared, Q: Prepared) -> tuple[Statistic, ...]:
        """Return each child's statistic."""
        triples = zip(self.children, P, Q, strict=True)
        return tuple(child.statistic(p, q) for child, p, q in triples)

    def diagonal_statistic(self, P: Prepared) -> tuple[Statistic, ...]:
        """Return each child's diagonal statistic."""
        return tuple(c.diagonal_statistic(p) for c, p in zip(self.children, P, strict=True))

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the children's learnable parameters, prefixed by position."""
        return tuple(f"{i}__{n}" for i, c in enumerate(self.children) for n in c.parameter_names)

    @property
    def theta(self) -> NDArray:
        """Logarithms of the children's learnable parameters."""
        return np.concatenate([child.theta for child in self.children])

    def least_theta(self, X: NDArray) -> NDArray:
        """Lower bounds of the children's parameters; what a subclass adds has none."""
        bounds = np.concatenate([child.least_theta(X) for child in self.children])
        return np.append(bounds, np.full(len(self.theta) - len(bounds), -np.inf))

    def with_theta(self, theta: ArrayLike) -> Kernel:
        """Return a clone whose learnable parameters are exp(theta)."""
        self._exp_theta(theta)  # checks the shape
        return self._rebuilt(self._children_with(np.asarray(theta, dtype=np.float64)))

    def resolve(self, X: ArrayLike, feature_names: FeatureNames = None) -> Kernel:
        """Return a clone with every child resolved."""
        _ = self.input_ndim
        return self._rebuilt([child.resolve(X, feature_names) for child in self.children])

    def _children_with(self, theta: NDArray) -> list[Kernel]:
        ends = np.cumsum([len(child.parameter_names) for child in self.children])
        return [
            child.with_theta(theta[end - len(child.parameter_names) : end])
            for child, end in zip(self.children, ends, strict=True)
        ]

    def _rebuilt(self, children: list[Kernel]) -> Kernel:
        return type(self)(children)

    def _parts(self, S: Statistic) -> Iterator[tuple[Kernel, Statistic]]:
        return zip(self.children, S, strict=True)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters; with `deep` also the children as "0", "1", ... and theirs as "0__name"."""
        params = super().get_params(deep=False)
        for position, child in enumerate(self.kernels if deep else ()):
            params[str(position)] = child
            if hasattr(child, "get_params"):
                nested = child.get_params(deep=True).items()
                params |= {f"{position}__{name}": value for name, value in nested}
        return params

    def set_params(self, **params: Any) -> Composite:
        """Set parameters; "0" replaces a child, "0__name" a child's parameter."""
        if "kernels" in params:
            self.kernels = params.pop("kernels")
        own = [name for name in params if name.isdecimal() and int(name) < len(self.kernels)]
        if own:
            kernels = list(self.kernels)  # a new list: the old one may belong to the caller
            for name in own:
                kernels[int(name)] = params.pop(name)
            self.kernels = kernels
        return super().set_params(**params)


def accumulate(operation: np.ufunc, total: NDArray, value: NDArray) -> NDArray:
    """Combine in place unless that would narrow the result."""
    if total.dtype == np.result_type(total, value):
        return operation(total, value, out=total)
    return operation(total, value)


class Sum(Composite):
    r"""Sum of kernels :math:`k = \sum_i k_i`; what ``+`` builds.

    Parameters
    ----------
    kernels : list of Kernel
        The terms, all of one kind of samples.

    Examples
    --------
    >>> from kernelcoding.kernels import Linear
    >>> (Linear() + Linear())([[1.0, 2.0]])
    array([[10.]])
    """

    def profile(self, S: Statistic, *, overwrite: bool = False) -> NDArray:
        """Return the sum of the children's values."""
        parts = self._parts(S)
        child, statistic = next(parts)
        total = child.profile(statistic, overwrite=overwrite)
        for child, statistic in parts:
            total = accumulate(np.add, total, child.profile(statistic, overwrite=overwrite))
        return total

    def profile_gradient(self, S: Statistic) -> NDArray:
        """Return the children's derivatives, side by side."""
        return np.concatenate([c.profile_gradient(s) for c, s in self._parts(S)], axis=-1)

    def derivative(self, S: Statistic, weights: NDArray) -> NDArray:
        """The children's derivatives, one after the other."""
        return np.concatenate([c.derivative(s, weights) for c, s in self._parts(S)])


class Product(Composite):
    r"""Product of kernels :math:`k = \prod_i k_i`; what ``*`` builds.

    Parameters
    ----------
    kernels : list of Kernel
        The factors, all of one kind of samples.

    Examples
    --------
    >>> from kernelcoding.kernels import Linear
    >>> (Linear() * Linear())([[1.0, 2.0]])
    array([[25.]])
    """

    def profile(self, S: Statistic, *, overwrite: bool = False) -> NDArray:
        """Return the product of the children's values."""
        parts = self._parts(S)
        child, statistic = next(parts)
        total = child.profile(statistic, overwrite=overwrite)
        for child, statistic in parts:
            total = accumulate(np.multiply, total, child.profile(statistic, overwrite=overwrite))
        return total

    def profile_gradient(self, S: Statistic) -> NDArray:
        """Return each child's derivatives times the product of the others' values."""
        parts = [
            child.profile_gradient(s) * others[..., np.newaxis]
            for child, s, others in self._rest(S)
        ]
        return np.concatenate(parts, axis=-1)

    def derivative(self, S: Statistic, weights: NDArray) -> NDArray:
        """Each child's derivative, weighted with the others' values too."""
        return np.concatenate(
            [child.derivative(s, weights * others) for child, s, others in self._rest(S)]
        )

    def _rest(self, S: Statistic) -> Iterator[tuple[Kernel, Statistic, NDArray]]:
        """Every child, its statistic, and the product of the other children's values."""
        values = [child.profile(s) for child, s in self._parts(S)]
        for position, (child, statistic) in enumerate(self._parts(S)):
            others = np.ones_like(values[0])  # never a quotient: factors may be zero
            for other, value in enumerate(values):
                if other != position:
                    others = others * value
            yield child, statistic, others
