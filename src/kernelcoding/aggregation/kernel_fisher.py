"""Fisher vectors in Hilbert space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels.names import KernelLike
from ..validation import check_count
from .base import require_enough
from .coordinates import KernelSetTransformer
from .fisher_models import MODELS, Model, chosen_gradients
from .mixtures import MixtureSettings
from .normalization import check_normalization, normalized
from .residual_gram import require_exact, residual_gram
from .sets import DescriptorSets, Sets


class KernelFisherVector(KernelSetTransformer):
    r"""Fisher vectors in H, of a Gaussian mixture over the images :math:`\phi(x)` of descriptors.

    H has no coordinates of its own and may have infinitely many, where Gaussians have no density.
    Two mixtures keep their meaning:

    **"diag"**, Gaussians with variances along principal axes. Let :math:`u_1, \dots, u_r` be the
    leading kernel principal axes of the descriptors in the span of landmarks Z; they are
    combinations of landmarks, so :math:`\xi_k(x) = \langle u_k, \phi(x)\rangle - \text{mean}` is
    a function of k(Z, x) alone. The mixture :math:`\sum_j w_j N(\mu_j,
    \mathrm{diag}(\sigma_j^2))` models :math:`\xi(x) \in R^r`, and its gradients in means and
    variances are those of :class:`FisherVector` at :math:`\xi(x)`. What varies outside of the r
    axes is not modelled. Given the axes nothing is approximated: :meth:`gram` is the matrix of
    inner products of the vectors. The linear version is ``FisherVector(n_pca=r)``.

    **"spherical"**, Gaussians :math:`N(\mu_j, \sigma^2 I)` with one variance. On any finite
    dimensional subspace that holds the data and the means, posteriors

    .. math:: \gamma_j(x) \propto w_j \exp\Bigl(-\frac{\|\phi(x) - \mu_j\|^2}{2\sigma^2}\Bigr)

    and the gradients in the means, scaled by the inverse root of the Fisher information
    :math:`w_j / \sigma^2`,

    .. math:: g_j(S) = \frac1{|S|\,\sigma\sqrt{w_j}} \sum_{x \in S} \gamma_j(x)
              (\phi(x) - \mu_j) \in H

    do not depend on the dimension, which cancels because the variance is shared: they have a limit
    in H. (A gradient in the variance holds the dimension and has none; it is not offered.) With
    :math:`\mu_j = \Phi(Z) a_j`, inner products of the :math:`g_j` are sums of kernel values as in
    :class:`KernelVLAD`, with shares :math:`\gamma_j(x) / (|S|\sigma\sqrt{w_j})` in place of ones:
    :meth:`gram` is exact in H, and :meth:`transform` its projection on the landmarks' span.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        Similarity of descriptors; ``kernel__gamma`` is reachable in a grid search.
    n_components : int, default=16
        Number of Gaussians.
    covariance : {"diag", "spherical"}, default="diag"
        The mixture, see above.
    gradients : tuple of str, default=None
        Parts of the vector: of "weights", "means", "variances" for "diag" (None: means and
        variances), only "means" for "spherical".
    n_axes : int or None, default=64
        Largest number of principal axes for "diag"; None, or more than there are, takes all of the
        landmarks' span. Not used by "spherical".
    n_landmarks : int or None, default=256
        Number of landmarks; None takes every sampled descriptor.
    landmarks : {"k-means++", "random", "leverage", "greedy"} or array, default="k-means++"
        How landmarks are chosen from the sample, or the landmarks themselves.
    power : float in (0, 1], default=0.5
        Power law on each entry. For "spherical" entries are landmark coordinates, and
        :meth:`gram` wants 1.
    norm : {"l2", "l1", "max"} or None, default="l2"
        Norm that the whole is scaled to.
    reg_covar : float, default=1e-6
        Added to variances.
    max_iter : int, default=100
        Largest number of rounds of EM.
    n_samples : int or None, default=20_000
        Number of descriptors, drawn from all training sets, that landmarks and mixture are
        learned from; None takes all.
    random_state : int, RandomState or None, default=0
        For the draw, landmarks and EM.

    Attributes
    ----------
    kernel_ : Kernel
        Resolved on the sample.
    coordinates_ : LandmarkCoordinates
        Maps descriptors to coordinates.
    model_ : DiagonalModel or SphericalModel
        Its ``mixture`` has the parameters: along the axes for "diag", in landmark coordinates
        for "spherical".
    descriptor_shape_ : tuple
        Shape of one descriptor.

    Notes
    -----
    EM for the spherical mixture runs in landmark coordinates, and :math:`\sigma^2` is the variance
    there for each dimension of the span. Distances to means differ from those in H by what lies
    outside of the span, the same for all means, so posteriors are those in H.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding.aggregation import KernelFisherVector
    >>> images = load_digits().images[:20]  # the eight rows of an image are its descriptors
    >>> fisher = KernelFisherVector(n_components=2, n_axes=5, random_state=0)
    >>> fisher.fit_transform(images).shape
    (20, 20)
    """

    model_: Model

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        n_components: int = 16,
        covariance: str = "diag",
        gradients: Sequence[str] | None = None,
        n_axes: int | None = 64,
        n_landmarks: int | None = 256,
        landmarks: str | ArrayLike = "k-means++",
        power: float = 0.5,
        norm: str | None = "l2",
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_samples: int | None = 20_000,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.covariance = covariance
        self.gradients = gradients
        self.n_axes = n_axes
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.power = power
        self.norm = norm
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_samples = n_samples
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._settings().check()
        check_normalization(self.norm, self.power)
        if self.n_axes is not None:
            check_count("n_axes", self.n_axes)
        chosen_gradients(self.covariance, self.gradients)

    def _settings(self) -> MixtureSettings:
        return MixtureSettings(self.n_components, self.reg_covar, self.max_iter)

    def _learn(self, sample: NDArray, random_state: np.random.RandomState) -> int:
        require_enough(sample, "n_components", max(self.n_components, 2))
        sample = sample.astype(np.float64, copy=False)
        self.coordinates_ = self._coordinates(sample, random_state)
        self.model_ = MODELS[self.covariance](
            self.coordinates_,
            self.coordinates_(sample),
            self._settings(),
            chosen_gradients(self.covariance, self.gradients),
            self.n_axes,
            random_state,
        )
        return self.model_.n_features

    def _aggregate(self, sets: DescriptorSets) -> NDArray:
        points = ((seen, block.owners) for seen, block in self._seen(sets))
        return normalized(self.model_.vectors(points, sets.sizes), self.power, self.norm)

    def gram(self, A: Sets, B: Sets | None = None) -> NDArray:
        """Inner products of the gradients of sets, for ``SVC(kernel="precomputed")``.

        Parameters
        ----------
        A, B : lists of arrays of shape (n_i, d), or of records with ``descriptors``
            The sets; ``B=None`` means A.

        Returns
        -------
        gram : array of shape (n_A, n_B)
            For "diag" inner products of the vectors, for "spherical" those in H. Rows and columns
            of empty sets are zero.
        """
        left = self._checked(A)
        right = left if B is None or B is A else self._checked(B)
        if self.model_.is_explicit:
            vectors = self._aggregate(left)
            return vectors @ (vectors if right is left else self._aggregate(right)).T
        require_exact(self.kernel_, self.power, self.norm)
        residuals = self.model_.in_space(left)
        others = residuals if right is left else self.model_.in_space(right)
        return residual_gram(residuals, others, False, self.norm)
