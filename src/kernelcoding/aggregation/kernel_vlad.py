"""VLAD in Hilbert space."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ..dictionary import CombinationDictionary
from ..kernels.names import KernelLike
from ..validation import check_count
from .base import require_enough
from .coordinates import KernelSetTransformer
from .normalization import check_normalization, normalized, unit_parts, without_rounding
from .residual_gram import ResidualSets, require_exact, residual_gram
from .residuals import SharedBlock, nearest_shares
from .sets import DescriptorSets, Sets
from .vlad import vlad_words


class KernelVLAD(KernelSetTransformer):
    r"""VLAD in H: words are cluster means in H, residuals are vectors of H.

    Words :math:`\mu_j = \Phi(Z) a_j` are learned by kernel k-means with centres in the span of
    landmarks Z. A descriptor goes to its nearest word,

    .. math:: \arg\min_j \|\phi(x) - \mu_j\|^2 = \arg\min_j\ a_j^\top K_{ZZ} a_j
              - 2 a_j^\top k(Z, x)

    and a set S with :math:`S_j` at word j has the statistic
    :math:`v_j(S) = \sum_{x \in S_j} (\phi(x) - \mu_j) \in H`. As sums in H,

    .. math::
        \langle v_j(S), v_j(T)\rangle = \sum_{x \in S_j} \sum_{z \in T_j} k(x, z)
        - |T_j| \sum_{x \in S_j} \mu_j(x) - |S_j| \sum_{z \in T_j} \mu_j(z)
        + |S_j||T_j| \|\mu_j\|^2

    with :math:`\mu_j(x) = a_j^\top k(Z, x)`: kernel values suffice. :meth:`gram` computes just
    this, with parts and whole scaled to unit norm (both norms are such inner products).
    :meth:`transform` gives vectors: with an orthonormal basis :math:`\Phi(Z)\Psi` of the
    landmarks' span, :math:`c(x) = \Psi^\top k(Z, x)` replaces :math:`\phi(x)`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        Similarity of descriptors; ``kernel__gamma`` is reachable in a grid search.
    n_words : int, default=16
        Number of words.
    n_landmarks : int or None, default=256
        Number of landmarks; None takes every sampled descriptor.
    landmarks : {"k-means++", "random", "leverage", "greedy"} or array, default="k-means++"
        How landmarks are chosen from the sample, or the landmarks themselves.
    intra_normalize : bool, default=True
        Whether each part is scaled to unit norm. It guards against bursts as the power law does,
        and unlike that has a meaning in H.
    power : float in (0, 1], default=1.0
        Power law on the landmark coordinates (they follow the principal axes of the landmarks).
        It has no meaning in H: :meth:`gram` wants 1.
    norm : {"l2", "l1", "max"} or None, default="l2"
        Norm that the whole is scaled to; :meth:`gram` wants "l2" or None.
    n_samples : int or None, default=20_000
        Number of descriptors, drawn from all training sets, that landmarks and words are learned
        from; None takes all.
    random_state : int, RandomState or None, default=0
        For the draw, landmarks and k-means.

    Attributes
    ----------
    kernel_ : Kernel
        Resolved on the sample.
    coordinates_ : LandmarkCoordinates
        Maps descriptors to coordinates.
    words_ : array of shape (n_words, n_coordinates)
        Coordinates of the words.
    dictionary_ : CombinationDictionary
        The words as vectors of H; ``atoms=vlad.dictionary_`` plugs them into any coder.
    descriptor_shape_ : tuple
        Shape of one descriptor.

    Notes
    -----
    What is exact: words lie in the span of the landmarks, so their coordinates lose nothing, and
    k-means on coordinates is kernel k-means: :math:`\|\phi(x) - \mu\|^2 = \|c(x) - c(\mu)\|^2 +
    \rho(x)`, where :math:`\rho(x) \ge 0`, the squared distance of :math:`\phi(x)` from the span,
    is the same for all words. Assignments are therefore those in H. What the vectors miss
    are the parts of residuals outside of the span: :meth:`gram` is larger than the inner products
    of vectors by :math:`\sum_{x, z} \langle P^\perp\phi(x), P^\perp\phi(z)\rangle` (before
    normalisation), which vanishes as landmarks grow. With the linear kernel, as many independent
    landmarks as features, and ``power=1``, inner products equal those of :class:`VLAD`.

    :meth:`gram` costs a kernel value for every two descriptors of one word in any two sets,
    ``transform`` one for every descriptor and landmark.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding.aggregation import KernelVLAD
    >>> images = load_digits().images[:20]  # the eight rows of an image are its descriptors
    >>> vlad = KernelVLAD(n_words=4, n_landmarks=None, random_state=0).fit(images)
    >>> vectors = vlad.transform(images)
    >>> bool(abs(vectors @ vectors.T - vlad.gram(images)).max() < 1e-6)
    True
    """

    words_: NDArray
    dictionary_: CombinationDictionary

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        n_words: int = 16,
        n_landmarks: int | None = 256,
        landmarks: str | ArrayLike = "k-means++",
        intra_normalize: bool = True,
        power: float = 1.0,
        norm: str | None = "l2",
        n_samples: int | None = 20_000,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.n_words = n_words
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.intra_normalize = intra_normalize
        self.power = power
        self.norm = norm
        self.n_samples = n_samples
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_words", self.n_words)
        check_normalization(self.norm, self.power)

    def _learn(self, sample: NDArray, random_state: np.random.RandomState) -> int:
        require_enough(sample, "n_words", self.n_words)
        sample = sample.astype(np.float64, copy=False)
        self.coordinates_ = self._coordinates(sample, random_state)
        self.words_ = vlad_words(self.coordinates_(sample), self.n_words, random_state)
        self.dictionary_ = self.coordinates_.dictionary(self.words_)
        return self.words_.size

    def _aggregate(self, sets: DescriptorSets) -> NDArray:
        parts = self.coordinates_.residual_sums(self._blocks(sets), len(sets), self.dictionary_)
        without_rounding(parts, self.words_, sets.sizes)
        if self.intra_normalize:
            unit_parts(parts)
        return normalized(parts.reshape(len(sets), -1), self.power, self.norm)

    def _blocks(self, sets: DescriptorSets) -> Iterator[SharedBlock]:
        squares = np.diag(self.dictionary_.gram)
        for similarities, block in self._seen(sets):
            cross = similarities @ self.dictionary_.weights
            yield SharedBlock(similarities, block.owners, nearest_shares(squares - 2.0 * cross))

    def gram(self, A: Sets, B: Sets | None = None) -> NDArray:
        """Inner products of sets in H, through kernel values, for ``SVC(kernel="precomputed")``.

        Parameters
        ----------
        A, B : lists of arrays of shape (n_i, d), or of records with ``descriptors``
            The sets; ``B=None`` means A.

        Returns
        -------
        gram : array of shape (n_A, n_B)
            Rows and columns of empty sets are zero.
        """
        check_is_fitted(self, "dictionary_")
        require_exact(self.kernel_, self.power, self.norm)
        left = self._in_space(A)
        right = left if B is None or B is A else self._in_space(B)
        return residual_gram(left, right, self.intra_normalize, self.norm)

    def _in_space(self, X: Sets) -> ResidualSets:
        return ResidualSets(
            self._checked(X),
            self.dictionary_,
            lambda cross, squares, _: nearest_shares(squares - 2.0 * cross),
        )
