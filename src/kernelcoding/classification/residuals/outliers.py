"""Outliers: samples that a dictionary of normal ones does not explain."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted

from ...coders.base import atom_indices
from ...coders.coding import map_codes
from ...coders.owner import CoderOwner, given_or_sparse
from ...coders.transformer import CodingTransformer, take_features
from ...coders.zero_codes import Part, silenced, warn_zero_codes
from ...dictionary import Dictionary, PointDictionary
from ...distributed.methods import RowAnswer, one_number, over_blocks
from ...parallel import map_blocks
from ...problem import CodingProblem
from ...solvers.result import CodingResult, Convergence, Status
from ...stacks import identities, of_one_kind, with_type

FENCE = 1.5  # quartile distances below the first quartile: Tukey's rule
AUTO = "auto"
BLOCK = 256  # samples that share one copy of the Gram matrix


def _sign(detector: KernelOutlierDetector, dtype: np.dtype) -> RowAnswer:
    """What ``predict`` answers for a sample: -1 or 1."""
    return RowAnswer((), np.dtype(int))


class KernelOutlierDetector(OutlierMixin, CoderOwner):
    r"""Samples whose code leaves a large residual in H are outliers.

    .. math:: s(x) = -\|\phi(x) - \Phi(D)\,y(x)\|^2

    Atoms D and codes y are those of any coder: training samples, or a dictionary learned from them.
    The score is zero for a sample that the atoms explain entirely, and :math:`-k(x, x)` for one
    that they do not resemble at all.

    Parameters
    ----------
    coder : coder or dictionary learning, default=None
        Such as ``KernelLLC(atoms=500)`` or ``KernelDictionaryLearning()``. None is
        ``KernelSparseCoder()``: every training sample is an atom.
    contamination : "auto" or float in (0, 0.5], default="auto"
        Share of outliers among the training samples, which fixes ``offset_``. "auto" is Tukey's
        fence: 1.5 quartile distances below the first quartile of the training samples' scores.

    Attributes
    ----------
    coder_ : coder
        Fitted.
    offset_ : float
        Scores below it are outliers.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    ResidualClassifier : Residuals of several classes.

    Notes
    -----
    **No sample explains itself.** Where atoms are training samples, a sample that equals an atom
    bit for bit is coded without that atom, in :meth:`fit` as in :meth:`score_samples`: training
    samples are scored with themselves left out, one by one, and ``fit_predict(X)`` is
    ``fit(X).predict(X)``. A second copy of the sample stays among the atoms. Each atom
    among the samples is then a coding problem of its own: codes that come from one factorisation
    of the Gram matrix (a ridge) take one per atom. With thousands of atoms, let the coder choose
    some of them (``atoms=500``).

    A *learned* dictionary has seen its training samples, and their residuals are smaller than those
    of new ones: more of these than ``contamination`` are below ``offset_``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding import KernelOutlierDetector
    >>> X, y = load_digits(return_X_y=True)
    >>> detector = KernelOutlierDetector(contamination=0.05).fit(X[y == 0][:100])
    >>> bool((detector.predict(X[y == 1]) == -1).mean() > 0.95)
    True
    """

    coder_: CodingTransformer
    offset_: float

    def __init__(
        self, coder: CodingTransformer | None = None, contamination: str | float = AUTO
    ) -> None:
        self.coder = coder
        self.contamination = contamination

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the coder to normal samples, and the threshold to their scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), (n_samples, p, q) or (n_samples, n_samples)
            Samples as the coder wants them, most of them normal.
        y : array-like of shape (n_samples,), default=None
            Handed to the coder, which ignores it unless a parameter says otherwise.

        Returns
        -------
        self : object
            The fitted detector.
        """
        coder = given_or_sparse(self.coder)
        _require_coder(coder)
        self._check_contamination()
        self.coder_ = clone(coder).fit(X, y)
        take_features(self, self.coder_)
        samples = self.coder_._validate_query(X)
        if len(samples) < 2:
            raise ValueError(
                f"Found array with {len(samples)} sample(s) while a minimum of 2 is required: a "
                "sample is judged by others."
            )
        scores = -self._errors(samples, stacklevel=4, tell_zeros=True)
        self.offset_ = self._offset(scores)
        return self

    def _check_contamination(self) -> None:
        given = self.contamination
        known = isinstance(given, str) and given == AUTO
        number = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
        if not (known or (number and 0 < float(given) <= 0.5)):
            raise ValueError(
                f'contamination must be "auto" or a number in (0, 0.5], got {given!r}.'
            )

    def _offset(self, scores: NDArray) -> float:
        if isinstance(self.contamination, str):
            low, high = np.percentile(scores, [25.0, 75.0])
            return float(low - FENCE * (high - low))
        return float(np.percentile(scores, 100.0 * self.contamination))

    @over_blocks(one_number)
    def score_samples(self, X: ArrayLike) -> NDArray:
        """Minus the squared residuals in H: the lower, the stranger.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.

        Returns
        -------
        scores : array of shape (n,)
        """
        check_is_fitted(self)
        X = self.coder_._validate_query(X)
        return -self._errors(X, stacklevel=5)

    @over_blocks(one_number)
    def decision_function(self, X: ArrayLike) -> NDArray:
        """Scores above the threshold: negative for outliers.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.

        Returns
        -------
        scores : array of shape (n,)
            ``score_samples(X) - offset_``.
        """
        check_is_fitted(self)
        X = self.coder_._validate_query(X)
        return -self._errors(X, stacklevel=5) - self.offset_

    @over_blocks(_sign)
    def predict(self, X: ArrayLike) -> NDArray:
        """Which samples are outliers.

        Parameters
        ----------
        X : array-like of shape (n, n_features), (n, p, q) or (n, n_samples)
            Samples as in :meth:`fit`.

        Returns
        -------
        labels : array of shape (n,)
            -1 for outliers, 1 for the others.
        """
        check_is_fitted(self)
        X = self.coder_._validate_query(X)
        scores = -self._errors(X, stacklevel=5) - self.offset_
        return np.where(scores < 0, -1, 1)

    # Machinery -------------------------------------------------------------------------------

    def _errors(self, X: NDArray, stacklevel: int, tell_zeros: bool = False) -> NDArray:
        """Squared residuals of checked samples, none of which explains itself, (n,)."""
        own = self._own_atoms(X)
        errors = np.empty(len(X))
        others = np.flatnonzero(own < 0)
        if others.size:
            formulation, options = self.coder_._coding()
            errors[others] = np.concatenate(
                map_codes(
                    formulation,
                    replace(options, sparse_output=options.sparse_output or formulation.is_sparse),
                    self.coder_.dictionary_,
                    X[others],
                    lambda rows, problem, result: squared_errors(problem, result),
                    stacklevel + 1,
                    # Far from all atoms, a new sample has a code of zeros, rightly.
                    tell_zeros,
                )
            )
        twins = np.flatnonzero(own >= 0)
        if twins.size:
            errors[twins] = self._left_out(X[twins], own[twins], stacklevel + 1, tell_zeros)
        return errors

    def _own_atoms(self, X: NDArray) -> NDArray:
        """The atom that each sample is, (n,); -1 where it is none."""
        dictionary = self.coder_.dictionary_
        if not isinstance(dictionary, PointDictionary) or atom_indices(self.coder_) is None:
            return np.full(len(X), -1)
        known: dict[Hashable, int] = {}
        points, samples = of_one_kind(dictionary.points, with_type(X, dictionary.points.dtype))
        for atom, point in enumerate(identities(points)):
            known.setdefault(point, atom)
        return np.array([known.get(sample, -1) for sample in identities(samples)])

    def _left_out(self, X: NDArray, own: NDArray, stacklevel: int, tell_zeros: bool) -> NDArray:
        """Squared residuals of samples that are atoms, each coded by the other atoms, (n,)."""
        dictionary = self.coder_.dictionary_
        formulation, options = self.coder_._coding()
        alone = replace(options, n_jobs=1)

        def code(rows: slice) -> tuple[list[float], Convergence]:
            errors, convergence = [], Convergence()
            for problem, others in left_out_problems(dictionary, X[rows], own[rows]):
                if not others.size:
                    errors.append(float(problem.self_similarity[0]))
                    continue
                result = formulation.for_atoms(others).solve(problem, alone)
                errors.append(float(squared_errors(problem, result)[0]))
                convergence = convergence + result.convergence
            return errors, convergence

        found = map_blocks(code, len(X), BLOCK, options.n_jobs)
        ended = sum((part for _, part in found), Convergence())
        ended.warn(stacklevel=stacklevel)
        if tell_zeros and ended.status is Status.CONVERGED:

            def parts() -> Iterator[Part]:
                every = left_out_problems(dictionary, X, own)
                return silenced((formulation.for_atoms(atoms), one) for one, atoms in every)

            warn_zero_codes(parts, (ended.n_zero, ended.n_rows), stacklevel=stacklevel + 1)
        return np.concatenate([errors for errors, _ in found])


def left_out_problems(
    dictionary: Dictionary, X: NDArray, own: NDArray
) -> Iterator[tuple[CodingProblem, NDArray]]:
    """The problem of each sample with the atoms other than its own, and which these are.

    The last atom takes the place of the one left out, in one Gram matrix that serves all samples:
    a problem is good until the next one is asked for.
    """
    self_similarity, cross = dictionary.similarities(X)
    gram, last = dictionary.gram, dictionary.n_atoms - 1
    left = gram[:-1, :-1].copy()
    for row, atom in enumerate(own):
        others = np.arange(last)
        if atom < last:
            others[atom] = last
            left[atom] = gram[last, others]
            left[:, atom] = gram[others, last]
        here = slice(row, row + 1)
        yield CodingProblem(self_similarity[here], cross[here][:, others], left), others
        if atom < last:
            left[atom] = gram[atom, :-1]
            left[:, atom] = gram[:-1, atom]


def squared_errors(problem: CodingProblem, result: CodingResult) -> NDArray:
    """Squared residuals in double precision, (n,)."""
    return problem.astype(np.float64).squared_error(result.codes.astype(np.float64))


def _require_coder(given: object) -> None:
    if not isinstance(given, CodingTransformer):
        raise ValueError(
            "coder must be a coder or a dictionary learning of this package, such as "
            f"KernelSparseCoder() or KernelDictionaryLearning(), got {given!r}."
        )
