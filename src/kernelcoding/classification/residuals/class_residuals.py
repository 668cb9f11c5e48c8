"""The residual rule itself: what each class explains of a sample, from the sample's code."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import gen_batches

from ...coders.coding import BLOCK_SIZE
from ...codes import Codes, dense, is_csr, times
from ...dictionary import CombinationDictionary, Dictionary

# Part of the sum of absolute weights of a code below which those of a class are rounding.
NO_MASS = 1e-12
TOGETHER = 32  # samples whose similarities to the atoms of their codes are computed together
FEW = 10  # where codes have fewer nonzeros than one in so many, their supports are gathered
PAIRS = 2**18  # inner products of atoms of codes that are in memory at a time
LARGE_BLOCK = 2**24  # weights of atoms that are in memory where inner products are computed anew
TINY = float(np.finfo(np.float64).tiny)


class Vote(NamedTuple):
    """What classes leave unexplained of samples, and for which samples no class has weight."""

    residuals: NDArray  # (n, n_classes) up to k(x, x); the smallest wins
    silent: NDArray  # (n,) bool: judged by the nearest carrier alone


class Form(NamedTuple):
    """A class: who carries its label, and the quadratic form of its part of a code."""

    members: NDArray  # (m_s,) carriers
    matrix: NDArray  # (m_s, m_s) of weights of carriers, or (N, N) of codes
    of_codes: bool


class ClassResiduals:
    r"""Residuals of classes for a dictionary of which atoms or landmarks have labels.

    Atoms are :math:`\Phi(Z)A`. Where the landmarks carry the labels, a code y is weights
    :math:`\beta = Ay` of landmarks, and class s explains with those of its own:

    .. math:: \varepsilon_s = \|\Phi(Z_s)\beta_s\|^2 - 2\,\langle\phi(x), \Phi(Z_s)\beta_s\rangle

    Where the atoms do, the atoms take the place of landmarks, and A that of the identity.

    Parameters
    ----------
    dictionary : Dictionary
    classes : array of shape (n_carriers,)
        Number of the class of each atom or landmark.
    n_classes : int
    of_landmarks : bool
        Whether landmarks, not atoms, carry the labels.
    """

    def __init__(
        self, dictionary: Dictionary, classes: NDArray, n_classes: int, of_landmarks: bool
    ):
        self.dictionary = dictionary
        self.classes = classes
        self.n_classes = n_classes
        self.of_landmarks = of_landmarks

    @property
    def carriers(self) -> Dictionary:
        """Atoms or landmarks: whatever has the labels."""
        if not self.of_landmarks:
            return self.dictionary
        assert isinstance(self.dictionary, CombinationDictionary)
        return self.dictionary.landmarks

    @property
    def members(self) -> list[NDArray]:
        """The carriers of each class."""
        return [np.flatnonzero(self.classes == label) for label in range(self.n_classes)]

    def vote(self, X: NDArray, codes: Codes, without: NDArray | None = None) -> Vote:
        """Residuals by which classes are compared: a class without weight is never the best.

        The residual of a class that has no part in the code is k(x, x), which is less than that
        of a part that explains badly: where all parts do (codes that sum to one, a narrow kernel),
        an empty class would win. There it is put behind the worst part, as far again as that one
        is worse than nothing. Where no class has a part, each is judged by its nearest carrier.

        Parameters
        ----------
        X, codes, without
            As in :meth:`residuals`.
        """
        found, masses = self._residuals_and_masses(X, codes, without)
        total = masses.sum(axis=1, keepdims=True)
        silent = total[:, 0] == 0.0
        empty = masses <= NO_MASS * total
        best = np.where(empty, np.inf, found).min(axis=1, keepdims=True)
        worst = np.where(empty, -np.inf, found).max(axis=1, keepdims=True)
        found = np.where(empty & (best >= 0.0), np.maximum(2.0 * worst, TINY), found)
        if silent.any():
            found[silent] = self.nearest(X[silent])
        return Vote(found, silent)

    def residuals(self, X: NDArray, codes: Codes, without: NDArray | None = None) -> NDArray:
        """Residual of each class up to k(x, x), (n, n_classes); zero for a class without weight.

        Parameters
        ----------
        X : array of shape (n, ...)
            Checked samples.
        codes : array or CSR array of shape (n, n_atoms)
        without : array of shape (n,), default=None
            For each sample a carrier that must not explain it.
        """
        return self._residuals_and_masses(X, codes, without)[0]

    def _residuals_and_masses(
        self, X: NDArray, codes: Codes, without: NDArray | None
    ) -> tuple[NDArray, NDArray]:
        if not self.of_landmarks and is_csr(codes) and FEW * codes.nnz <= np.prod(codes.shape):
            return self._of_supports(X, codes, without)
        facts = self.carriers.facts
        if not self.of_landmarks and not (facts.is_whole or facts.is_affordable):
            return self._by_parts(X, codes, without)
        found, masses = np.empty((2, len(X), self.n_classes))
        forms = [self._form(label, own) for label, own in enumerate(self.members)]
        for rows in self._blocks(len(X)):
            part = codes[rows].astype(np.float64)
            weights = self._weights_of_carriers(part)
            if without is not None:
                own = without[rows]
                weights[np.arange(len(own)), own] = 0.0
            similarity = self.carriers.similarities(X[rows])[1].astype(np.float64, copy=False)
            for label, form in enumerate(forms):
                mine = weights[:, form.members]
                masses[rows, label] = np.abs(mine).sum(axis=1)
                value = part if form.of_codes and without is None else mine
                matrix = form.matrix
                if form.of_codes and without is not None:
                    matrix = self._gram_of(form.members)
                found[rows, label] = np.einsum("ij,ij->i", times(value, matrix), dense(value))
                found[rows, label] -= 2.0 * np.einsum("ij,ij->i", mine, similarity[:, form.members])
        return found, masses

    def _by_parts(
        self, X: NDArray, codes: Codes, without: NDArray | None
    ) -> tuple[NDArray, NDArray]:
        """Of codes with many nonzeros, where the inner products of a class are too many to keep."""
        found, masses = np.empty((2, len(X), self.n_classes))
        dictionary = self.dictionary
        for rows in gen_batches(len(X), max(1, LARGE_BLOCK // dictionary.n_atoms)):
            weights = dense(codes[rows]).astype(np.float64)
            if without is not None:
                weights[np.arange(len(weights)), without[rows]] = 0.0
            similarity = dictionary.similarities(X[rows])[1].astype(np.float64, copy=False)
            for label, own in enumerate(self.members):
                mine = weights[:, own]
                masses[rows, label] = np.abs(mine).sum(axis=1)
                seen = dictionary.facts.times(mine.T, own).T - 2.0 * similarity[:, own]
                found[rows, label] = np.einsum("ij,ij->i", mine, seen)
        return found, masses

    def _of_supports(
        self, X: NDArray, codes: sparse.csr_array, without: NDArray | None
    ) -> tuple[NDArray, NDArray]:
        """From the few atoms that each code uses: of others no inner product is looked at."""
        found, masses = np.zeros((2, len(X), self.n_classes))
        widest = int(np.diff(codes.indptr).max(initial=1))
        for rows in gen_batches(len(X), max(1, min(TOGETHER, PAIRS // widest**2))):
            part = codes[rows]
            used, places = np.unique(part.indices, return_inverse=True)
            similarity = self.dictionary.cross_of(X[rows], used).astype(np.float64, copy=False)
            # One row per sample, as long as the longest: beyond its own atoms weights are zero.
            atoms, weights, seen = np.zeros((3, part.shape[0], widest))
            atoms, filled = atoms.astype(np.int64), np.arange(widest) < _counts(part)
            owner = np.nonzero(filled)[0]
            atoms[filled], weights[filled] = part.indices, part.data
            seen[filled] = similarity[owner, places.reshape(-1)]
            if without is not None:
                weights[atoms == without[rows][:, None]] = 0.0
            classes = self.classes[atoms]
            cells = (classes + self.n_classes * np.arange(len(classes))[:, None]).reshape(-1)
            gram = self._grams(atoms, _counts(part)[:, 0])
            gram *= classes[:, :, None] == classes[:, None, :]
            terms = weights * ((gram @ weights[:, :, None])[:, :, 0] - 2.0 * seen)
            for out, values in ((found, terms), (masses, np.abs(weights))):
                sums = np.bincount(cells, values.reshape(-1), out[rows].size)
                out[rows] = sums.reshape(-1, self.n_classes)
        return found, masses

    def _grams(self, atoms: NDArray, counts: NDArray) -> NDArray:
        """Inner products of the first atoms of each row with each other, (n, m, m)."""
        facts = self.dictionary.facts
        if facts.is_whole:
            return facts.gram[atoms[:, :, None], atoms[:, None, :]].astype(np.float64, copy=False)
        found = np.zeros((*atoms.shape, atoms.shape[1]))
        for gram, row, count in zip(found, atoms, counts, strict=True):
            own = row[:count]
            gram[:count, :count] = facts.block(own, own)
        return found

    def masses(self, codes: Codes) -> NDArray:
        """Sum of absolute weights of the carriers of each class, (n, n_classes)."""
        found = np.empty((codes.shape[0], self.n_classes))
        members = self.members
        for rows in self._blocks(codes.shape[0]):
            weights = np.abs(self._weights_of_carriers(codes[rows].astype(np.float64)))
            for label, own in enumerate(members):
                found[rows, label] = weights[:, own].sum(axis=1)
        return found

    def nearest(self, X: NDArray) -> NDArray:
        """Residual of each class if its nearest carrier alone had weight one, up to k(x, x)."""
        found = np.full((len(X), self.n_classes), np.inf)
        members = self.members
        for rows in self._blocks(len(X)):
            problem = self.carriers.problem(X[rows])
            # Asked first: where all similarities are rounded to zero, distances still tell.
            nearest = self.classes[problem.nearest(1).indices[:, 0]]
            alone = problem.squares - 2.0 * problem.cross.astype(np.float64)
            block = found[rows]
            for label, own in enumerate(members):
                block[:, label] = alone[:, own].min(axis=1, initial=np.inf)
            best = np.arange(len(block)), nearest
            block[best] = np.nextafter(block.min(axis=1), -np.inf)
        return found

    # Machinery -----------------------------------------------------------------------------

    def _blocks(self, n_samples: int) -> Iterator[slice]:
        """Slices of samples whose weights of carriers stay in cache."""
        widest = max(self.dictionary.n_atoms, len(self.classes))
        return gen_batches(n_samples, max(16, BLOCK_SIZE // widest))

    def _weights_of_carriers(self, codes: Codes) -> NDArray:
        """What codes make of the carriers, (n, n_carriers); zeros of codes are skipped."""
        return times(codes, self._spread) if self.of_landmarks else dense(codes)

    @cached_property
    def _spread(self) -> NDArray:
        """A transposed, (n_atoms, n_landmarks)."""
        assert isinstance(self.dictionary, CombinationDictionary)
        weights = self.dictionary.weights.astype(np.float64, copy=False)
        return np.ascontiguousarray(weights.T)

    def _form(self, label: int, members: NDArray) -> Form:
        """The cheaper of two forms that are equal.

        Weights of carriers are needed in any case, for their inner products with the sample. Their
        quadratic form costs m_s^2 per sample; the same form of codes, A_s' K_ss A_s, costs N^2
        once it is made, which is less where a class has more landmarks than there are atoms.
        """
        if self.of_landmarks and len(members) > self.dictionary.n_atoms:
            return Form(members, self._forms_of_codes[label], True)
        return Form(members, self._gram_of(members), False)

    def _gram_of(self, members: NDArray) -> NDArray:
        return self.carriers.facts.double[np.ix_(members, members)]

    @cached_property
    def _forms_of_codes(self) -> dict[int, NDArray]:
        """A_s' K_ss A_s of the classes with more landmarks than there are atoms; made once."""
        forms = {}
        for label, own in enumerate(self.members):
            if len(own) > self.dictionary.n_atoms:
                part = self._spread[:, own]
                forms[label] = part @ self.carriers.facts.times(part.T, own)
        return forms


def _counts(codes: sparse.csr_array) -> NDArray:
    """Numbers that are kept of each row, (n, 1)."""
    return np.diff(codes.indptr)[:, None]
