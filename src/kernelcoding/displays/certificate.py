"""How far codes are from their optimum, at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .canvas import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

    from ..coders import BaseKernelCoder

LEAST = 1e-17  # shares below are drawn there: rounding


class CertificateDisplay(Display):
    r"""A histogram of certificates, :math:`(f(y) - f^*)/k(x, x)` at most, by powers of ten.

    Best made by :meth:`from_estimator`.

    Parameters
    ----------
    shares : array of shape (n_samples,)
        Certificates over self-similarities; infinite where nothing is known.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
    n_unknown_ : int
        How many certificates are infinite.
    ax_, figure_
        Axes and figure.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> import kernelcoding as kc
    >>> from kernelcoding.displays import CertificateDisplay
    >>> X = load_digits().data[:60] / 16
    >>> display = CertificateDisplay.from_estimator(kc.KernelSparseCoder().fit(X[:50]), X[50:])
    >>> bool(display.shares.max() < 1e-5)
    True
    """

    bars_: BarContainer

    def __init__(self, shares: NDArray):
        self.shares = shares

    @classmethod
    def from_estimator(
        cls, estimator: BaseKernelCoder, X: ArrayLike, *, ax: Axes | None = None
    ) -> CertificateDisplay:
        """Code samples, ask how good the codes are, and draw the answers.

        Parameters
        ----------
        estimator : fitted coder or dictionary learning
            Anything with ``transform`` and ``certify``.
        X : array-like
            Samples.
        ax : matplotlib Axes, default=None
            Where to draw.
        """
        gaps = estimator.certify(X, estimator.transform(X))
        norms = estimator.dictionary_.similarities(np.asarray(X))[0]
        return cls(gaps / np.where(norms > 0, norms, 1.0)).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        known = self.shares[np.isfinite(self.shares)]
        self.n_unknown_ = len(self.shares) - len(known)
        powers = np.log10(np.maximum(known, LEAST))
        decades, counts = np.unique(np.floor(powers), return_counts=True)
        self.bars_ = ax.bar(decades + 0.5, counts, width=0.9)
        ax.set(xlabel="certificate / k(x, x), power of ten", ylabel="codes")
        unknown = f", {self.n_unknown_} unknown" if self.n_unknown_ else ""
        ax.set_title(f"{len(self.shares)} codes{unknown}")
