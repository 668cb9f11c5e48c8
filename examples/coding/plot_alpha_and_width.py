"""
Choosing alpha and the width of the kernel
==========================================

``alpha`` trades sparsity against error, ``gamma`` says which samples are similar. Both are parameters of a scikit-learn
estimator, and a grid search finds them; the rules ``"median"`` and ``"0.1*median"`` are good starts.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit

import kernelcoding as kc
from kernelcoding.kernels import Gaussian

X, y = load_digits(return_X_y=True)
X, y = X[:400] / 16, y[:400]

# %%
# The residual rule gives a sample the class whose atoms explain it best. Its coder's parameters, and those of the
# coder's kernel, are reached by names with two underscores.
widths = ["0.03*median", "0.1*median", "0.3*median", "median", "3*median"]
alphas = np.geomspace(1e-3, 0.1, 5)
search = GridSearchCV(
    kc.ResidualClassifier(kc.KernelSparseCoder(Gaussian())),
    {"coder__kernel__gamma": widths, "coder__alpha": alphas},
    cv=StratifiedShuffleSplit(2, test_size=0.5, random_state=0),
    refit=False,
).fit(X, y)
accuracy = search.cv_results_["mean_test_score"].reshape(len(alphas), len(widths))
print("best:", search.best_params_, f"{search.best_score_:.3f}")

# %%
# Along alpha, at the median width, codes get sparser. Accuracy stays high over a wide range: a first guess is rarely bad.
path = [kc.KernelSparseCoder(Gaussian("median"), alpha=alpha).fit(X[:200]) for alpha in alphas]
n_used = [(coder.transform(X[200:]) != 0).sum(axis=1).mean() for coder in path]

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
picture = left.imshow(100 * accuracy, origin="lower", aspect="auto", cmap="viridis")
left.set_xticks(range(len(widths)), widths, rotation=30)
left.set_yticks(range(len(alphas)), [f"{alpha:.3g}" for alpha in alphas])
left.set(xlabel="gamma", ylabel="alpha", title="accuracy, %, two random halves")
for (row, column), value in np.ndenumerate(accuracy):
    left.text(column, row, f"{100 * value:.1f}", ha="center", va="center", color="w", fontsize=8)
figure.colorbar(picture)
right.semilogx(alphas, n_used, marker="o", color="tab:blue")
right.set(xlabel="alpha", ylabel="atoms per code", title="gamma = 'median'")
right.yaxis.label.set_color("tab:blue")
other = right.twinx()
other.semilogx(alphas, 100 * accuracy[:, widths.index("median")], marker="s", color="tab:orange")
other.set_ylabel("accuracy, %", color="tab:orange")
plt.show()
