"""
Precomputed kernels in cross-validation
=======================================

Where similarities are given or dear, compute the matrix once: with ``kernel="precomputed"`` every estimator takes rows of it, and
scikit-learn's cross-validation cuts rows and columns together.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import kernelcoding as kc
from kernelcoding.kernels import Gaussian, Laplacian

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
kernel = 0.5 * Gaussian(gamma=0.05) + 0.5 * Laplacian(gamma=0.1)
K = kernel(X)

# %%
# A search over alpha for three coders, without computing a similarity again.
folds = StratifiedKFold(5, shuffle=True, random_state=0)
alphas = np.geomspace(1e-3, 0.3, 8)
rules = {
    "sparse": kc.KernelSparseCoder("precomputed"),
    "sparse, positive": kc.KernelSparseCoder("precomputed", positive=True),
    "LCC": kc.KernelLCC("precomputed"),
}
searches = {
    name: GridSearchCV(kc.ResidualClassifier(coder), {"coder__alpha": alphas}, cv=folds).fit(K, y)
    for name, coder in rules.items()
}
for name, search in searches.items():
    print(f"{name}: {search.best_score_:.3f} at alpha = {search.best_params_['coder__alpha']:.3g}")

# %%
# A new sample is a row of similarities to the training samples.
new = kernel(X[:3], X)
print("labels of the first three:", searches["sparse"].predict(new))

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
picture = left.imshow(K, cmap="magma")
figure.colorbar(picture)
left.set(title="similarities of 178 wines, three cultivars in turn", xlabel="sample", ylabel="sample")
for name, search in searches.items():
    mean, spread = (100 * search.cv_results_[f"{what}_test_score"] for what in ("mean", "std"))
    right.semilogx(alphas, mean, marker="o", label=name)
    right.fill_between(alphas, mean - spread, mean + spread, alpha=0.1)
right.set(xlabel="alpha", ylabel="accuracy, %", title="five folds")
right.legend()
plt.show()
