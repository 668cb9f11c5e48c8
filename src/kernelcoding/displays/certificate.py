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
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as the estimator takes them.
        ax : matplotlib Axes, default=None
            Where to draw.
        """
        gaps = estimator.certify(X, estimator.transform(X))
        norms = estimator.dictionary_.similarities(np.asarray(X))[0]
        return cls(gaps / np.where(norms > 0, norms, 1.0)).plot(ax=ax)

    def _repr_html_(self) -> str:
        """What a notebook shows beside the picture: how many codes, the middle and the worst."""
        known = self._known()
        rows = {"codes": str(len(self.shares)), "without a bound": str(self.n_unknown_)}
        if known.size:
            rows["median of certificate / k(x, x)"] = f"{np.median(known):.2g}"
            rows["largest"] = f"{known.max():.2g}"
        cells = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows.items())
        return f"<table>{cells}</table>"

    def _known(self) -> NDArray:
        """Certificates that are bounds; the others are counted."""
        known = self.shares[np.isfinite(self.shares)]
        self.n_unknown_ = len(self.shares) - len(known)
        return known

    def _draw(self, ax: Axes) -> None:
        from matplotlib.ticker import MaxNLocator

        known = self._known()
        powers = np.log10(np.maximum(known, LEAST))
        decades, counts = np.unique(np.floor(powers), return_counts=True)
        self.bars_ = ax.bar(decades + 0.5, counts, width=0.9)
        if known.size:  # at least six decades, or a single bar would fill the picture
            least = decades[0] - max(1.0, (6.0 - np.ptp(decades)) // 2)
            ax.set_xlim(least, max(least + 6.0, decades[-1] + 2.0))
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set(xlabel="certificate / k(x, x), power of ten", ylabel="codes")
        unknown = f", {self.n_unknown_} unknown" if self.n_unknown_ else ""
        ax.set_title(f"{len(self.shares)} codes{unknown}")
