"""
Image sets on the Grassmann manifold
====================================

A sample may be a set: several pictures of one thing, whose span is a subspace. The projection kernel compares subspaces, and
everything else stays as it is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import kernelcoding as kc
from kernelcoding.kernels import ProjectionGaussian

digits = load_digits()
random = np.random.default_rng(0)


def image_sets(rows, n_sets=12, size=6, rank=3):
    """Orthonormal bases (n, 64, rank) of sets of noisy digits of one class, and their labels."""
    bases, labels = [], []
    for label in range(10):
        own = rows[digits.target[rows] == label]
        for _ in range(n_sets):
            members = digits.data[random.choice(own, size, replace=False)]
            noisy = members + random.normal(scale=6.0, size=members.shape)
            bases.append(np.linalg.svd(noisy.T, full_matrices=False)[0][:, :rank])
            labels.append(label)
    return np.array(bases), np.array(labels)


train, test = train_test_split(np.arange(len(digits.data)), random_state=0)
X, y = image_sets(train)
X_test, y_test = image_sets(test)
print("bases:", X.shape)

# %%
# One noisy picture says less than a set of six.
model = kc.ResidualClassifier(kc.KernelSparseCoder(ProjectionGaussian("median"), alpha=0.02)).fit(X, y)
single = kc.ResidualClassifier(kc.KernelSparseCoder(ProjectionGaussian("median"), alpha=0.02))
random = np.random.default_rng(0)
X_one, y_one = image_sets(train, size=1, rank=1)
X_one_test, y_one_test = image_sets(test, size=1, rank=1)
single.fit(X_one, y_one)
print(f"sets of six: {model.score(X_test, y_test):.3f}")
print(f"single pictures: {single.score(X_one_test, y_one_test):.3f}")

# %%
# Above, a query as the first direction of its subspace, and those of the five strongest atoms of its code; below, the
# residual of each class: the smallest wins.
query = 40
code = model.coder_.transform(X_test[query : query + 1])[0]
strongest = np.argsort(-np.abs(code))[:5]
figure = plt.figure(figsize=(10, 5), layout="constrained")
top, bottom = figure.subfigures(2, 1)
for ax, basis, title in zip(
    top.subplots(1, 6),
    [X_test[query], *X[strongest]],
    [f"query, a {y_test[query]}", *(f"a {y[atom]}: {code[atom]:.2f}" for atom in strongest)],
    strict=True,
):
    first = basis[:, 0] * np.sign(basis[:, 0].sum())
    ax.imshow(first.reshape(8, 8), cmap="gray_r")
    ax.set(title=title, xticks=[], yticks=[])
ax = bottom.subplots()
residuals = -model.decision_function(X_test[query : query + 1])[0]
ax.bar(range(10), residuals - residuals.min(), color=["tab:blue" if c == y_test[query] else "0.7" for c in range(10)])
ax.set(xlabel="class", ylabel="residual above the least", xticks=range(10))
plt.show()
