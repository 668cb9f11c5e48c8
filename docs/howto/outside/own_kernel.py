"""A kernel of your own: the Gaussian of a distance between strings, with a width from the data."""

import numpy as np
from kernelcoding import KernelDictionaryLearning, KernelSparseCoder
from kernelcoding.kernels import DistanceKernel


def edit_distances(left, right):
    """Levenshtein distances, (n, m): any vectorised distance of two stacks of samples."""
    return np.array([[_edits(a, b) for b in right] for a in left], dtype=float)


def _edits(first, second):
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, start=1):
        above, row[0] = row[0], i
        for j, b in enumerate(second, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (a != b))
    return row[-1]


words = np.array(["kitten", "sitting", "mitten", "coding", "coder", "code", "node"], dtype=object)
kernel = DistanceKernel(edit_distances, gamma="median")  # exp(-gamma d), gamma measured at fit

coder = KernelSparseCoder(kernel, alpha=0.05).fit(words)
print("gamma:", coder.kernel_.gamma)
query = np.array(["smitten"], dtype=object)
code = coder.transform(query)[0]
print("smitten:", {word: round(float(y), 2) for word, y in zip(words, code, strict=True) if y})
learned = KernelDictionaryLearning(KernelSparseCoder(kernel), n_atoms=3, max_iter=5).fit(words)
