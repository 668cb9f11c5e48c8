"""Locality-constrained coding: approximate LLC against the kernel matrix alone, exact LLC against
one factorisation per sample.
"""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from kernelcoding import KernelLLC
from kernelcoding.kernels import Gaussian
from kernelcoding.solvers import linear_system

from . import data
from .judge import Row, race

GAMMA = 1.0 / 128.0


def vectors(n_queries=20_000, n_atoms=1_000, n_features=64):
    """Random vectors: the cost does not depend on what they are."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_queries, n_features)), rng.normal(size=(n_atoms, n_features))


def run(quick=False):
    """Rows of the table."""
    yield from approximate(3 if quick else 10)
    yield from exact(1 if quick else 2)


def approximate(repeats):
    queries, atoms = vectors()
    for threads in (1, 2):
        for sparse_output in (False, True):
            coder = KernelLLC(
                Gaussian(gamma=GAMMA), atoms, sparse_output=sparse_output, n_jobs=threads
            ).fit(atoms)
            with threadpool_limits(threads):
                measured, (codes, _) = race(
                    lambda coder=coder: coder.transform(queries),
                    lambda: rbf_kernel(queries, atoms, gamma=GAMMA),
                    repeats,
                )
            facts = {"largest gap": float(coder.certify(queries[:500], codes[:500]).max())}
            case = f"LLC 20000 x 1000 x 64, 5 neighbours, {'CSR' if sparse_output else 'dense'}"
            yield Row("local_coding", case, "rbf_kernel alone", threads, measured, facts)


def exact(repeats):
    """The peer factorises one matrix per sample, as the formula is written."""
    for name, atoms, queries in problems():
        coder = KernelLLC("rbf", atoms, n_neighbors=None, n_jobs=2).fit(atoms)
        problem = coder.dictionary_.problem(queries)
        penalty = coder.formulation().penalty(problem)
        measured, (codes, other) = race(
            lambda c=coder, q=queries: c.transform(q),
            lambda p=problem, r=penalty.ridge: linear_system.factorise_each(p, r, True, n_jobs=2),
            repeats,
        )
        facts = {
            "largest gap": float(coder.certify(queries, codes).max()),
            "largest difference": float(np.abs(codes - other).max()),
        }
        yield Row("local_coding", f"exact LLC, {name}", "one factor per sample", 2, measured, facts)


def problems():
    for n_atoms in (500, 1000):
        atoms, queries, *_ = data.digits(n_atoms)
        yield f"digits {n_atoms} atoms", atoms, queries[:200]
    faces = data.yaleb()
    if faces is not None:
        yield "YaleB 1216 atoms", faces[0], faces[1][:200]
