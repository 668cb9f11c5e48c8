"""Kernels of sparse histograms against their dense forms and scikit-learn's."""

import sysconfig
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel, rbf_kernel
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from kernelcoding import KernelSparseCoder
from kernelcoding.kernels import ChiSquared, Gaussian, HistogramIntersection, Laplacian

from .judge import Row, race

N_BINS, N_SAMPLES, N_QUERIES = 10_000, 1000, 300


def words(n_bins=N_BINS):
    """How often each word comes in a file of Python's standard library, sums of one: CSR."""
    files = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    files = [file for file in files if "site-packages" not in file.parts]
    texts = [file.read_text(encoding="utf-8", errors="ignore") for file in files]
    counts = CountVectorizer(max_features=n_bins, dtype=np.float64).fit_transform(texts)
    kept = counts[np.flatnonzero(np.diff(counts.indptr) > 20)]
    order = np.random.default_rng(0).permutation(kept.shape[0])
    return normalize(kept[order], norm="l1")


def run(quick=False):
    """Rows of the table."""
    X = words()[: N_SAMPLES + N_QUERIES]
    train, queries = X[:N_SAMPLES], X[N_SAMPLES:]
    dense, asked = train.toarray(), queries.toarray()
    repeats = 1 if quick else 3
    share = {"nonzeros": train.nnz / train.shape[0] / train.shape[1]}
    chi, widths = ChiSquared(2.0), ChiSquared("median")
    for case, peer, ours, theirs in (
        ("chi-squared median of 1000", "dense", lambda: widths.resolve(train).gamma,
         lambda: widths.resolve(dense).gamma),
        ("chi-squared 300 x 1000", "dense", lambda: chi(queries, train),
         lambda: chi(asked, dense)),
        ("chi-squared 300 x 1000", "chi2_kernel", lambda: chi(queries, train),
         lambda: chi2_kernel(asked, dense, gamma=2.0)),
        ("intersection 300 x 1000", "dense", lambda: HistogramIntersection()(queries, train),
         lambda: HistogramIntersection()(asked, dense)),
        ("Laplacian 300 x 1000", "laplacian_kernel, CSR",
         lambda: Laplacian(2.0)(queries, train),
         lambda: laplacian_kernel(queries, train, gamma=2.0)),
        ("Gaussian 300 x 1000", "rbf_kernel, CSR", lambda: Gaussian(2.0)(queries, train),
         lambda: rbf_kernel(queries, train, gamma=2.0)),
    ):  # fmt: skip
        with threadpool_limits(1):
            measured, (found, wanted) = race(ours, theirs, repeats)
        off = float(np.abs(np.asarray(found) - np.asarray(wanted)).max())
        yield Row("sparse_input", case, peer, 1, measured, {"difference": off, **share})
    sparse_coder = KernelSparseCoder("chi2", alpha=0.05).fit(train)
    dense_coder = KernelSparseCoder("chi2", alpha=0.05).fit(dense)
    with threadpool_limits(1):
        measured, (found, wanted) = race(
            lambda: sparse_coder.transform(queries), lambda: dense_coder.transform(asked), repeats
        )
    facts = {"difference": float(np.abs(found - wanted).max()), **share}
    yield Row("sparse_input", "sparse codes of 300, 1000 atoms", "dense", 1, measured, facts)
