"""
First codes and a certificate
=============================

A code says which few training samples explain a new one, and how much. Here a handwritten digit is explained by others.
"""

# %%
# Every training sample is an atom. ``fit`` computes the similarities of the atoms, ``transform`` the codes: one row
# per sample, one column per atom, most entries zero.
from sklearn.datasets import load_digits

import kernelcoding as kc

digits = load_digits()
X, images, labels = digits.data / 16, digits.images, digits.target
coder = kc.KernelSparseCoder(kernel="rbf", alpha=0.02).fit(X[:500])
codes = coder.transform(X[500:600])
print("shape:", codes.shape)
print("atoms per code:", (codes != 0).sum(axis=1).mean())

# %%
# No code is taken on trust: ``certify`` bounds, for each row, how far its objective is above the best possible one.
print("no code is further from its optimum than", coder.certify(X[500:600], codes).max())

# %%
# The squared distance in the kernel's space between a sample and what its code makes of it:
print("mean squared error:", coder.reconstruction_error(X[500:600]).mean())

# %%
# The strongest atoms of one code, as pictures. The query is an eight, and so are four of the five.
import matplotlib.pyplot as plt

from kernelcoding.displays import CodeDisplay

query = 500 + 9
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=[1, 3.2], layout="constrained")
left.imshow(images[query], cmap="gray_r")
left.set(title=f"query, a {labels[query]}", xticks=[], yticks=[])
CodeDisplay.from_estimator(coder, X, query, images=images[:500], labels=labels[:500], ax=right)
right.set_title("its code over 500 digits; the strongest atoms and their classes")
plt.show()
