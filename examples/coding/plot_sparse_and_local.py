"""
Sparse against local codes
==========================

Five coders explain the same point by the same atoms, and differ in what they prefer: few atoms, near atoms, or weights
that are positive. Discs are atoms in use; their area is the weight, and red ones are negative.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import kernelcoding as kc
from kernelcoding.kernels import Gaussian

atoms, _ = make_moons(120, noise=0.06, random_state=0)
query = np.array([[0.45, 0.45]])
kernel = Gaussian(gamma=1.0)
coders = {
    "sparse (L1)": kc.KernelSparseCoder(kernel, alpha=0.005),
    "sparse, positive": kc.KernelSparseCoder(kernel, alpha=0.005, positive=True),
    "local coordinates (LCC)": kc.KernelLCC(kernel, alpha=0.1),
    "neighbours that sum to one (LLC)": kc.KernelLLC(kernel, n_neighbors=8),
    "matching pursuit, 4 atoms": kc.KernelMatchingPursuit(kernel, n_nonzero=4),
    "soft bag of words": kc.KernelBagOfWords(kernel, sigma=8.0),
}

# %%
# A wide kernel lets far atoms take part: sparse codes use them with either sign, local ones pay for distance.
figure, axes = plt.subplots(2, 3, figsize=(11, 6), sharex=True, sharey=True, layout="constrained")
for ax, (name, coder) in zip(axes.flat, coders.items(), strict=True):
    code = coder.fit(atoms).transform(query)[0]
    error = coder.reconstruction_error(query)[0]
    used = np.abs(code) > 1e-6
    ax.scatter(*atoms.T, s=8, color="0.8")
    colour = np.where(code[used] > 0, "tab:blue", "tab:red")
    ax.scatter(*atoms[used].T, s=600 * np.abs(code[used]), color=colour, alpha=0.6)
    ax.plot(*query[0], marker="*", markersize=14, color="k")
    ax.set_title(f"{name}\n{used.sum()} atoms, squared error {error:.1e}", fontsize=10)
    ax.set_aspect("equal")
plt.show()
