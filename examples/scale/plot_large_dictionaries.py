"""
Large dictionaries
==================

With every training sample an atom, dictionaries get large. Codes of neighbours need small parts of the Gram matrix only, and
``n_candidates`` makes sparse codes as cheap: an approximation, whose price is drawn here. (This example takes some fifteen seconds.)
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.feature_extraction.image import extract_patches_2d

import kernelcoding as kc
from kernelcoding.kernels import Gaussian

gray = load_sample_image("china.jpg").mean(axis=2) / 255
patches = extract_patches_2d(gray, (6, 6), max_patches=12_200, random_state=0).reshape(-1, 36)
patches -= patches.mean(axis=1, keepdims=True)
queries, patches = patches[:200], patches[200:]
kernel = Gaussian("median").resolve(patches[:1000])


def seconds_per_query(coder, n_atoms):
    """Processor time of coding, without fitting and compiling."""
    coder.fit(patches[:n_atoms]).transform(queries[:2])
    start = time.process_time()
    coder.transform(queries)
    return (time.process_time() - start) / len(queries)


# %%
# Time per query against the number of atoms.
sizes = [1000, 2000, 4000]
large = [*sizes, 8000, 12_000]
coders = {
    "sparse, all atoms": (kc.KernelSparseCoder(kernel, alpha=0.02, sparse_output=True), sizes),
    "sparse, 200 candidates": (kc.KernelSparseCoder(kernel, alpha=0.02, n_candidates=200, sparse_output=True), large),
    "LLC, 20 neighbours": (kc.KernelLLC(kernel, n_neighbors=20, sparse_output=True), large),
}
times = {name: [seconds_per_query(coder, n) for n in counts] for name, (coder, counts) in coders.items()}

# %%
# What the approximation costs: how far the mean squared error is above that of all 4,000 atoms.
counts = [25, 50, 100, 200, 400]
exact = kc.KernelSparseCoder(kernel, alpha=0.02).fit(patches[:4000]).reconstruction_error(queries).mean()
errors = [
    kc.KernelSparseCoder(kernel, alpha=0.02, n_candidates=count)
    .fit(patches[:4000])
    .reconstruction_error(queries)
    .mean()
    for count in counts
]

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for (name, values), marker in zip(times.items(), "os^", strict=True):
    left.loglog(coders[name][1], 1e3 * np.array(values), marker=marker, label=name)
left.set(xlabel="atoms", ylabel="milliseconds per query", title="patches of a photograph")
left.legend()
right.semilogx(counts, errors, marker="o", label="candidates")
right.axhline(exact, color="k", linestyle="--", label="all 4,000 atoms")
right.set_xticks(counts, counts)
right.minorticks_off()
right.set(xlabel="candidates", ylabel="mean squared error", title="what candidates miss")
right.legend()
plt.show()
