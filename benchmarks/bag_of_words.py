"""Bag of words against the kernel matrix alone."""

from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from kernelcoding import KernelBagOfWords
from kernelcoding.kernels import Gaussian

from .judge import Row, race
from .local_coding import GAMMA, vectors

CASES = {
    "hard": {"assignment": "hard"},
    "hard, CSR": {"assignment": "hard", "sparse_output": True},
    "soft": {"assignment": "soft"},
    "local soft, CSR": {"assignment": "soft", "n_neighbors": 5, "sparse_output": True},
}


def run(quick=False):
    """Rows of the table."""
    queries, atoms = vectors()
    for case, parameters in CASES.items():
        for threads in (1, 2):
            coder = KernelBagOfWords(Gaussian(gamma=GAMMA), atoms, n_jobs=threads, **parameters)
            coder.fit(atoms)
            with threadpool_limits(threads):
                measured, (codes, _) = race(
                    lambda coder=coder: coder.transform(queries),
                    lambda: rbf_kernel(queries, atoms, gamma=GAMMA),
                    3 if quick else 10,
                )
            facts = {"largest gap": float(coder.certify(queries[:500], codes[:500]).max())}
            yield Row("bag_of_words", case, "rbf_kernel alone", threads, measured, facts)
