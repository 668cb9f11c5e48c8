"""
Dask: codes out of core
=======================

Samples that do not fit in memory come as Dask arrays, and the same methods answer lazily, block by block. Here every patch of a
photograph is coded; the picture shows which parts a small dictionary does not explain.
"""

import tempfile

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import kernelcoding as kc

gray = load_sample_image("china.jpg").mean(axis=2)[::2, ::2] / 255
windows = np.lib.stride_tricks.sliding_window_view(gray, (6, 6))
height, width = windows.shape[:2]
X = da.from_array(windows.reshape(-1, 36), chunks=(8000, -1))  # da.from_zarr(...) for data on disk
print("samples:", X.shape, "in", X.numblocks[0], "blocks")

# %%
# Atoms are learned from some samples in memory; coding all of them is lazy, and ``save`` writes a file per block.
some = X[:: len(X) // 1500].compute()
learner = kc.KernelDictionaryLearning(
    kc.KernelSparseCoder("rbf", alpha=0.01, sparse_output=True), n_atoms=20, n_landmarks=200, max_iter=8
).fit(some)
codes = learner.transform(X)
print("codes:", codes)
folder = tempfile.mkdtemp()
kc.distributed.save(codes, folder)
codes = kc.distributed.load(folder)

# %%
# Nothing but one block at a time was in memory. Errors and numbers of atoms, one per pixel:
errors = learner.reconstruction_error(X, codes).compute().reshape(height, width)
n_used = np.concatenate([np.diff(block.compute().indptr) for block in codes.blocks]).reshape(height, width)

figure, axes = plt.subplots(1, 3, figsize=(13, 3.4), layout="constrained")
axes[0].imshow(gray, cmap="gray")
axes[0].set_title("the photograph")
picture = axes[1].imshow(np.log10(np.maximum(errors, 1e-5)), cmap="magma")
axes[1].set_title("squared error of its patches, log10")
figure.colorbar(picture, ax=axes[1])
picture = axes[2].imshow(n_used, cmap="viridis")
axes[2].set_title("atoms per patch")
figure.colorbar(picture, ax=axes[2])
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
