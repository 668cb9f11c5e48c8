"""A kernel centred in H: the mean of some samples becomes the origin."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..stacks import Stack
from .base import FeatureNames, Kernel, Prepared, Statistic, take
from .wrappers import Wrapper, pairwise

__all__ = ["Centered", "CenteredSamples", "Centre", "ReferenceStatistic"]


class ReferenceStatistic:
    """What samples have to do with the reference samples, found when it is first asked for.

    Parameters
    ----------
    kernel : Kernel
        The inner kernel; its statistic has no parameters, so that it serves others as well.
    inner, reference : prepared stacks
        Samples, and the reference samples.
    """

    def __init__(self, kernel: Kernel, inner: Prepared, reference: Prepared) -> None:
        self.kernel = kernel
        self.inner = inner
        self.reference = reference

    def __getitem__(self, rows: slice | NDArray) -> ReferenceStatistic:
        return ReferenceStatistic(self.kernel, take(self.inner, rows), self.reference)

    @cached_property
    def statistic(self) -> Statistic:
        """Inner statistics of samples and reference samples, (n, m)."""
        return self.kernel.statistic(self.inner, self.reference)

    def means(self, kernel: Kernel) -> NDArray:
        """Mean similarity of each sample to the reference samples, (n,)."""
        # Samples of a dictionary meet many others: the same means are asked for again and again.
        name = joblib.hash(kernel.get_params())
        if self._last.get("name") != name:
            self._last.update(name=name, means=kernel.profile(self.statistic).mean(axis=1))
        return self._last["means"]

    def slopes(self, kernel: Kernel) -> NDArray:
        """Derivatives of the means in the kernel's parameters, (n, p)."""
        return kernel.profile_gradient(self.statistic).mean(axis=1)

    @cached_property
    def _last(self) -> dict:
        return {}


class Centre:
    """Reference samples, whose mean is the origin, and what was found out about them.

    Parameters
    ----------
    samples : array of samples
        As the inner kernel checked them.
    """

    def __init__(self, samples: Stack) -> None:
        self.samples = samples

    def __repr__(self) -> str:
        return f"Centre({len(self.samples)} samples)"

    def __getstate__(self) -> dict:
        return {"samples": self.samples}

    def within(self, kernel: Kernel) -> ReferenceStatistic:
        """The reference samples among themselves; the same for all parameters of a kernel."""
        name = joblib.hash(kernel.with_theta(np.zeros(len(kernel.parameter_names))).get_params())
        if self._known.get("name") != name:
            prepared = kernel.prepare(self.samples)
            found = ReferenceStatistic(kernel, prepared, prepared)
            self._known.update(name=name, within=found)
        return self._known["within"]

    @cached_property
    def _known(self) -> dict:
        return {}


class CenteredSamples(NamedTuple):
    """Samples as the inner kernel prepares them, and what they have to do with the reference."""

    inner: Prepared
    to_reference: ReferenceStatistic


class Centered(Wrapper):
    r"""A kernel of samples that are centred in H.

    .. math:: \langle\phi(x) - \mu, \phi(z) - \mu\rangle
              = k(x, z) - m(x) - m(z) + \tfrac1n\textstyle\sum_i m(t_i), \qquad
              m(x) = \tfrac1n\sum_i k(x, t_i)

    with the mean :math:`\mu` of the training samples :math:`t_i`, which are kept. Values of a
    Gaussian kernel are positive: all samples share a direction, which can take most of their norm
    (histograms, wide kernels) and most of what greedy codes of few atoms may use. On training
    samples the matrix is that of scikit-learn's ``KernelCenterer``.

    Parameters
    ----------
    kernel : Kernel
        The kernel k. Matrices of similarities are refused: centre these by scikit-learn's
        ``KernelCenterer``.
    reference : array of shape (m, ...), or Centre, default=None
        The samples :math:`t_i`; None: the training samples, by `resolve`, at ``fit``.

    Examples
    --------
    >>> from kernelcoding.kernels import Linear
    >>> Centered(Linear()).resolve([[1.0], [3.0]])([[1.0], [3.0]], [[5.0]])
    array([[-3.],
           [ 3.]])
    """

    is_radial = False  # self-similarities differ

    def __init__(self, kernel: Kernel, reference: Stack | Centre | None = None) -> None:
        self.kernel = kernel
        self.reference = reference

    @property
    def is_resolved(self) -> bool:
        """Whether neither the centre nor a parameter of the inner kernel waits for data."""
        return self.reference is not None and self.child.is_resolved

    @property
    def child(self) -> Kernel:
        """The checked inner kernel."""
        inner = super().child
        if inner.uses_index:
            raise ValueError(
                "Centered needs samples, not their similarities: centre a precomputed matrix by "
                "sklearn.preprocessing.KernelCenterer before, or use a kernel of samples."
            )
        return inner

    def prepare(self, X: ArrayLike, index: NDArray | None = None) -> CenteredSamples:
        """Return what the inner kernel prepared, and statistics with the reference samples."""
        inner = self.child.prepare(X, index)
        within = self._centre().within(self.child)
        return CenteredSamples(inner, ReferenceStatistic(self.child, inner, within.reference))

    def prepare_alone(self, X: ArrayLike) -> CenteredSamples:
        """Return the same: the reference is known."""
        return self.prepare(X)

    def statistic(self, P: CenteredSamples, Q: CenteredSamples) -> Statistic:
        """Inner statistics of the pairs, of both stacks with the reference, and within that."""
        pairs = self.child.statistic(P.inner, Q.inner)
        return pairs, P.to_reference, Q.to_reference, self._centre().within(self.child)

    def diagonal_statistic(self, P: CenteredSamples) -> Statistic:
        """The same of each sample with itself."""
        own = self.child.diagonal_statistic(P.inner)
        return own, P.to_reference, P.to_reference, self._centre().within(self.child)

    def profile(self, S: Statistic, *, overwrite: bool = False) -> NDArray:
        """Return inner products of centred samples."""
        pairs, left, right, within = S
        child = self.child
        values = child.profile(pairs, overwrite=overwrite)
        shift = pairwise(np.add, left.means(child), right.means(child), values.ndim)
        shift -= within.means(child).mean()
        values -= shift
        return values

    def profile_gradient(self, S: Statistic) -> NDArray:
        """Derivatives of the inner products, all of whose parts have the inner kernel's."""
        pairs, left, right, within = S
        child = self.child
        gradient = child.profile_gradient(pairs)
        slopes = left.slopes(child), right.slopes(child)
        gradient -= pairwise(np.add, *slopes, gradient.ndim - 1)
        gradient += within.slopes(child).mean(axis=0)
        return gradient

    def resolve(self, X: ArrayLike, feature_names: FeatureNames = None) -> Kernel:
        """Return a clone with the inner kernel resolved, centred at the mean of X."""
        inner = self.child.resolve(X, feature_names)
        known = Centre(inner.check(X)) if self.reference is None else self._centre()
        return type(self)(inner, known)

    def _centre(self) -> Centre:
        if self.reference is None:
            raise ValueError(
                "Centered: the centre depends on data and is not resolved; call .resolve(X) first "
                "or pass reference=samples."
            )
        if isinstance(self.reference, Centre):
            return self.reference
        return Centre(self.child.check(self.reference))
