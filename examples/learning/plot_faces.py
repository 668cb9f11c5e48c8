"""
What atoms look like
====================

Atoms of faces, where the Extended YaleB faces are at hand (:func:`kernelcoding.datasets.fetch_yaleb`; they are for research only
and not part of the package), and otherwise of patches of a photograph that comes with scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.feature_extraction.image import extract_patches_2d

import kernelcoding as kc
from kernelcoding.datasets import fetch_yaleb
from kernelcoding.displays import DictionaryDisplay


def pictures():
    """Faces of 48 x 42 pixels, or patches of a photograph."""
    try:
        faces = fetch_yaleb(download_if_missing=False).images
        return faces[::3].astype(float), "faces"
    except OSError:
        gray = load_sample_image("china.jpg").mean(axis=2)
        return extract_patches_2d(gray, (14, 14), max_patches=800, random_state=0), "patches"


stack, what = pictures()
shape = stack.shape[1:]
X = stack.reshape(len(stack), -1)
X = X - X.mean(axis=1, keepdims=True)
X = X[X.std(axis=1) > 5]  # no sky
X /= np.linalg.norm(X, axis=1, keepdims=True)

# %%
# Two dictionaries of the same coder. Points that were chosen among the samples, and atoms that were learned as points of
# the input space (``update="points"``): the latter are cleaner, since each stands for many samples.
coder = kc.KernelSparseCoder("rbf", alpha=0.05, positive=True)
chosen = kc.KernelSparseCoder("rbf", atoms=36, alpha=0.05, positive=True, random_state=0).fit(X)
learned = kc.KernelDictionaryLearning(coder, n_atoms=36, update="points", max_iter=10).fit(X)
for name, model in {"chosen": chosen, "learned": learned}.items():
    print(f"{name}: mean squared error {model.reconstruction_error(X).mean():.3f}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(11, 5.6), layout="constrained")
DictionaryDisplay.from_estimator(chosen, shape, n_columns=6, ax=axes[0])
DictionaryDisplay.from_estimator(learned, shape, n_columns=6, ax=axes[1])
axes[0].set_title(f"36 of {len(X)} {what}")
axes[1].set_title("36 learned atoms")
plt.show()
