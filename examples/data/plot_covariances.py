"""
Covariance matrices, with pyRiemann in the same pipeline
========================================================

Symmetric positive definite matrices are curved data: a mean or a combination of entries is the wrong one. Here squares of two
photographs are described by covariances of pixel features, and told apart by where they come from.
"""

import matplotlib.pyplot as plt
import numpy as np
from pyriemann.classification import MDM
from pyriemann.tangentspace import TangentSpace
from sklearn.datasets import load_sample_image
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import kernelcoding as kc
from kernelcoding.images import RegionCovariance
from kernelcoding.kernels import LogEuclideanGaussian


def squares(name):
    """Squares of 40 x 40 pixels of one photograph."""
    image = load_sample_image(name)
    height, width = (side // 40 for side in image.shape[:2])
    return [image[40 * i : 40 * i + 40, 40 * j : 40 * j + 40] for i in range(height) for j in range(width)]


names = ["china.jpg", "flower.jpg"]
images = [square for name in names for square in squares(name)]
y = np.repeat([0, 1], len(images) // 2)
covariances = RegionCovariance().fit_transform(images)
print("covariances:", covariances.shape)

# %%
# A kernel coder takes the matrices as they are, alone or after a step of pyRiemann; a classifier of pyRiemann is the peer.
# One mean per photograph cannot stand for sky, temple and trees; codes compare with single squares.
models = {
    "minimum distance to mean (pyRiemann)": MDM(metric="logeuclid"),
    "kSC, log-Euclidean": kc.ResidualClassifier(kc.KernelSparseCoder(LogEuclideanGaussian("median"), alpha=0.02)),
    "kLLC, affine-invariant": kc.ResidualClassifier(kc.KernelLLC("affine-invariant", n_neighbors=20)),
    "tangent space (pyRiemann), then kSC": make_pipeline(
        TangentSpace(), kc.ResidualClassifier(kc.KernelSparseCoder("rbf", alpha=0.02))
    ),
}
folds = StratifiedKFold(5, shuffle=True, random_state=0)
accuracy = {
    name: 100 * cross_val_score(model, covariances, y, cv=folds).mean() for name, model in models.items()
}
for name, value in accuracy.items():
    print(f"{name}: {value:.1f} %")

# %%
# The kernel's own picture of the squares: the two largest components of their landmark vectors.
vectors = kc.LandmarkMap(LogEuclideanGaussian("median"), n_landmarks=100).fit(covariances)
plane = PCA(2).fit_transform(vectors.transform(covariances))
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), width_ratios=[1.5, 1], layout="constrained")
for point, image, label in zip(plane[::2], images[::2], y[::2], strict=True):
    box = [point[0] - 0.03, point[0] + 0.03, point[1] - 0.03, point[1] + 0.03]
    left.imshow(image, extent=box, zorder=label)
left.set(
    xlim=(plane[:, 0].min() - 0.05, plane[:, 0].max() + 0.05),
    ylim=(plane[:, 1].min() - 0.05, plane[:, 1].max() + 0.05),
    title="squares by the log-Euclidean kernel, two components",
)
bars = right.barh(list(accuracy), list(accuracy.values()), color=["0.6", "tab:blue", "tab:cyan", "tab:green"])
right.bar_label(bars, fmt="%.1f", padding=-30, color="w")
right.set(xlabel="accuracy, %, five folds", xlim=(50, 100))
right.invert_yaxis()
plt.show()
