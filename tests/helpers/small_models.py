"""Small fitted models with every kind of part, and files of them that later versions must read."""

import warnings

import numpy as np
from numpy.random import default_rng
from scipy import sparse

import kernelcoding as kc
from kernelcoding import aggregation, images, persistence
from kernelcoding import kernels as ks
from kernelcoding.aggregation import DescriptorSet
from kernelcoding.classification import BilinearRule, LinearRule, LogisticRule, MaxMarginRule

Y = np.arange(12) % 3
CENTERS = np.array([[1.0, 0.2, 0.1, 0.0], [0.1, 1.0, 0.3, 0.2], [0.2, 0.1, 0.9, 1.0]])
X = CENTERS[Y] + 0.15 * default_rng(0).random((12, 4))
Q = CENTERS + 0.2 * default_rng(1).random((3, 4))
NAMES = np.array(["nil", "one", "two"])[Y]
SEVERAL = np.stack([Y == 0, Y > 0, np.arange(12) % 2 == 0], axis=1).astype(int)
QUESTIONS = (
    *("transform", "predict", "decision_function", "predict_proba"),
    *("reconstruction_error", "gram", "score_samples"),
)


def covariances(count, seed):
    parts = default_rng(seed).normal(size=(count, 2, 6))
    return parts @ parts.transpose(0, 2, 1) / 6


def sets(count, seed):
    return default_rng(seed).random((count, 8, 3))


def bases(count, seed):
    return np.linalg.qr(default_rng(seed).normal(size=(count, 4, 2)))[0]


def pictures(count, seed):
    return default_rng(seed).integers(0, 256, (count, 20, 20), dtype=np.uint8)


def coloured(count, seed):
    return default_rng(seed).integers(0, 256, (count, 8, 8, 3), dtype=np.uint8)


def channels():
    small = images.Gabor(n_scales=1, n_orientations=2)
    return ["first", images.Compressed(small), images.Intensity(), images.Position()]


def views():
    return ks.MultipleKernel([ks.View([0, 1], ks.Gaussian()), ks.View([2, 3], ks.Linear())])


def kinds():
    """Samples and queries of two kinds, and a kernel of both."""
    samples = [kc.Views({"x": X, "spd": covariances(12, 0)}), {"x": Q, "spd": covariances(3, 1)}]
    members = [ks.View("x", "rbf"), ks.View("spd", "affine-invariant")]
    return samples[0], kc.Views(samples[1]), ks.MultipleKernel(members)


def algebra():
    return 0.5 * ks.Fixed(ks.Gaussian()) + ks.Linear() * ks.Normalized(ks.Polynomial(degree=2))


def combinations():
    """A dictionary made elsewhere."""
    return aggregation.KernelVLAD(n_words=5, n_landmarks=6, random_state=0).fit([X]).dictionary_


def learned(coder=None, **changes):
    return kc.KernelDictionaryLearning(coder, **{"n_atoms": 5, "max_iter": 2, **changes})


def supervised(classifier, coder=None, **changes):
    given = {"n_atoms": 6, "max_iter": 2, "classifier": classifier, **changes}
    return kc.SupervisedKernelCoding(coder, **given)


def coders():
    """Name -> coder, fitted to vectors without labels."""
    local, group = kc.priors.Locality(), kc.priors.GroupL1(np.arange(12) % 3)
    both = kc.priors.SparseGroupL1(np.arange(12) % 3)
    parts = kc.constraints
    return {
        "sparse": kc.KernelSparseCoder(kernel="rbf"),
        "sparse_csr": kc.KernelSparseCoder(kernel="laplacian", positive=True, sparse_output=True),
        "sparse_groups": kc.KernelSparseCoder(groups=np.arange(12) % 3),
        "sparse_chosen": kc.KernelSparseCoder(
            kernel=ks.Gaussian(gamma=0.7), atoms=8, random_state=0
        ),
        "sparse_points": kc.KernelSparseCoder(kernel="sigmoid", atoms=X[:9]),
        "sparse_of_sparse_points": kc.KernelSparseCoder(
            kernel="rbf", atoms=sparse.csr_array(np.where(X[:9] > X[:9].mean(), X[:9], 0.0))
        ),
        "sparse_learned_width": kc.KernelSparseCoder(learn_kernel=True, atoms=9, random_state=0),
        "llc": kc.KernelLLC(kernel="poly"),
        "llc_exact": kc.KernelLLC(n_neighbors=None, atoms=8, random_state=0),
        "llc_combinations": kc.KernelLLC(atoms=combinations()),
        "llc_algebra": kc.KernelLLC(kernel=algebra()),
        "centred": kc.KernelLLC(kernel=ks.Centered(ks.Gaussian("median"))),
        "lcc": kc.KernelLCC(kernel="chi2"),
        "words": kc.KernelBagOfWords(),
        "words_hard": kc.KernelBagOfWords(ks.HistogramIntersection(), assignment="hard"),
        "pursuit": kc.KernelMatchingPursuit(n_nonzero=2, atoms=9, random_state=0),
        "general_group": kc.KernelCoder(prior=group, constraint=parts.Free()),
        "general_sparse_group": kc.KernelCoder(prior=both, constraint=parts.NonNegative()),
        "general_locality": kc.KernelCoder(prior=local, constraint=parts.SumToOne()),
        "general_weighted": kc.KernelCoder(
            prior=kc.priors.WeightedL1(np.linspace(0.5, 1.5, 12)), constraint=parts.Free()
        ),
        "general_elastic": kc.KernelCoder(prior=kc.priors.ElasticNet()),
        "general_at_most": kc.KernelCoder(
            prior=kc.priors.NoPrior(), constraint=parts.AtMost(2), atoms=9, random_state=0
        ),
        "general_ridge": kc.KernelCoder(prior=kc.priors.Ridge(), constraint=parts.NonNegative()),
        "general_l1": kc.KernelCoder(prior=kc.priors.L1(), constraint=parts.Simplex()),
        "general_one_atom": kc.KernelCoder(prior=kc.priors.NoPrior(), constraint=parts.OneAtom()),
        "general_coordinate": kc.KernelCoder(
            prior=kc.priors.LocalCoordinate(), constraint=parts.Free()
        ),
        "views": kc.KernelSparseCoder(kernel=views()),
        "outliers": kc.KernelOutlierDetector(contamination=0.2),
        "landmark_map": kc.LandmarkMap(n_landmarks=5),
    }


def learners():
    """Name -> estimator, fitted to vectors with labels."""
    few = kc.KernelLearning(max_iter=2)
    return {
        "dictionary": learned(),
        "dictionary_landmarks": learned(n_landmarks=8),
        "dictionary_llc": learned(kc.KernelLLC(n_neighbors=3), update="points"),
        "dictionary_words": learned(kc.KernelBagOfWords()),
        "dictionary_ksvd": learned(kc.KernelMatchingPursuit(n_nonzero=2), update="ksvd"),
        "dictionary_views": learned(kc.KernelSparseCoder(kernel=views()), learn_kernel=few),
        "linear": supervised("linear"),
        "linear_landmarks": supervised(LinearRule(class_weight="balanced"), n_landmarks=8),
        "bilinear": supervised("bilinear"),
        "bilinear_landmarks": supervised(BilinearRule(rho=0.1), n_landmarks=8),
        "max_margin": supervised("max-margin"),
        "max_margin_refit": supervised(MaxMarginRule(refit=False)),
        "logistic": supervised("logistic", kc.KernelLLC(n_neighbors=3)),
        "logistic_bare": supervised(LogisticRule(fit_intercept=False)),
        "lc_ksvd": kc.LabelConsistentKSVD("linear", n_atoms=6, max_iter=2),
        "d_ksvd": kc.DiscriminativeKSVD(n_atoms=6, kernel="rbf", max_iter=2),
        "pairs": kc.KernelDictionaryPairLearning("rbf", n_atoms=6, max_iter=2),
        "residual": kc.ResidualClassifier(kc.KernelLLC(n_neighbors=4)),
    }


def online():
    model = learned()
    for part in (X[:10], X[10:]):
        model.partial_fit(part)
    return model


def aggregators():
    """Name -> aggregator, fitted to sets of descriptors."""
    given = {"n_landmarks": 6, "random_state": 0}
    fisher = aggregation.KernelFisherVector
    return {
        "vlad": aggregation.VLAD(n_words=2, random_state=0),
        "fisher": aggregation.FisherVector(n_components=2, random_state=0),
        "vlad_of_axes": aggregation.VLAD(n_words=2, n_pca=2, random_state=0),
        "fisher_of_axes": aggregation.FisherVector(n_components=2, n_pca=2, random_state=0),
        "kernel_fisher": fisher(n_components=2, n_axes=2, **given),
        "kernel_vlad": aggregation.KernelVLAD(n_words=2, **given),
        "kernel_fisher_spherical": fisher(n_components=2, covariance="spherical", power=1, **given),
        "pooling": aggregation.Pooling(kc.KernelLLC("linear", atoms=6, random_state=0)),
        "pooling_descriptors": aggregation.Pooling(how="average"),
    }


def others():
    """Name -> (fitted model, samples) for samples of other kinds."""
    names = NAMES.astype(object)
    square = ks.Gaussian(gamma=1.0)
    spd, subspaces = (covariances(12, 0), covariances(3, 1)), (bases(9, 0), bases(3, 1))
    pyramid = aggregation.SpatialPyramid(kc.KernelLLC("linear", atoms=5, random_state=0), (1, 2))
    faces, texture = images.RandomFaces(n_components=4), images.RegionCovariance(channels())
    colours = images.RegionCovariance([images.Colour(), images.Derivatives(order=2)])
    streamed = aggregation.ImageAggregator(images.DenseRootSIFT(step=8), aggregators()["vlad"])
    words = images.VisualWords(n_words=3, random_state=0)
    whitened = images.VisualWords(n_words=3, n_components=2, random_state=0)
    mixed, queries, of_both = kinds()
    tangent = 0.5 * ks.AffineInvariantLinear() + ks.LogEuclideanLinear()
    return {
        "residual_objects": (kc.ResidualClassifier().fit(X, names), Q),
        "several_linear": (supervised("linear").fit(X, SEVERAL), Q),
        "several_bilinear": (supervised("bilinear").fit(X, SEVERAL), Q),
        "single_precision": (kc.KernelSparseCoder().fit(X.astype("f4")), Q.astype("f4")),
        "precomputed": (
            kc.KernelSparseCoder(kernel="precomputed").fit(square(X, X)),
            square(Q, X),
        ),
        "log_euclidean": (kc.KernelLLC(kernel="log-euclidean").fit(spd[0]), spd[1]),
        "tangent": (kc.KernelSparseCoder(tangent).fit(spd[0]), spd[1]),
        "kinds": (learned(kc.KernelSparseCoder(of_both)).fit(mixed), queries),
        "stein": (kc.KernelSparseCoder(kernel="stein").fit(spd[0]), spd[1]),
        "projection": (kc.KernelSparseCoder(kernel=ks.Projection()).fit(subspaces[0]), bases(3, 1)),
        "projection_gaussian": (
            kc.KernelLCC(kernel=ks.ProjectionGaussian()).fit(subspaces[0]),
            subspaces[1],
        ),
        "online": (online(), Q),
        "colours": (colours.fit(coloured(3, 0)), coloured(2, 1)),
        "pyramid": (pyramid.fit(placed(sets(3, 0))), sets(2, 1)),
        "faces": (faces.fit(pictures(3, 0)[:, :8, :8]), pictures(2, 1)[:, :8, :8]),
        "texture": (texture.fit(pictures(3, 0)), pictures(2, 1)),
        "visual_words": (words.fit([*sets(4, 0)]), sets(2, 1)),
        "whitened_words": (whitened.fit([*sets(4, 0)]), sets(2, 1)),
        "image_vlad": (streamed.fit(pictures(3, 0)), pictures(2, 1)),
    }


def placed(descriptors):
    """Sets with a position for each descriptor."""
    places = default_rng(5).random((descriptors.shape[1], 2))
    return [DescriptorSet(values, places, (1, 1)) for values in descriptors]


def small_models():
    """Name -> (fitted model, samples to ask it about)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few iterations: not converged
        models = {name: (coder.fit(X), Q) for name, coder in coders().items()}
        models |= {name: (model.fit(X, NAMES), Q) for name, model in learners().items()}
        models |= {
            name: (model.fit([*sets(4, 0)]), sets(2, 1)) for name, model in aggregators().items()
        }
        return models | others()


def answers(model, samples):
    """Everything a model says about samples, also after it has learned from more of them."""
    if isinstance(model, aggregation.SpatialPyramid):
        samples = placed(samples)
    elif samples.ndim == 3 and samples.dtype.kind == "f" and hasattr(model, "n_samples"):
        samples = [*samples]
    said = {}
    for name in QUESTIONS:
        if hasattr(model, name):
            said[name] = getattr(model, name)(samples)
    if isinstance(model, kc.KernelDictionaryLearning) and model.update == "auto":
        said["after_more"] = model.partial_fit(X + 0.05).transform(samples)
    return {name: plain(value) for name, value in said.items()}


def plain(answer):
    """An array that NumPy writes without pickling."""
    answer = answer.toarray() if sparse.issparse(answer) else np.asarray(answer)
    return answer.astype(str) if answer.dtype == object else answer


def write(folder):
    """Files of all models with their samples and answers, for versions that are to come."""
    folder.mkdir()
    kept = {"samples": Q}
    for name, (model, samples) in small_models().items():
        if not isinstance(samples, np.ndarray):  # several stacks: not one array of a file
            continue
        persistence.save(model, folder / f"{name}.kc")
        if samples is not Q:
            kept[f"{name} samples"] = samples
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = answers(model, samples)
        kept |= {f"{name} {question}": answer for question, answer in said.items()}
    np.savez_compressed(folder / "answers.npz", **kept)


def written(folder):
    """Path -> (samples, expected answers) of what :func:`write` wrote."""
    with np.load(folder / "answers.npz") as file:
        kept = {name: file[name] for name in file.files}
    found = {}
    for path in sorted(folder.glob("*.kc")):
        start = path.stem + " "
        said = {key.removeprefix(start): kept[key] for key in kept if key.startswith(start)}
        found[path] = said.pop("samples", kept["samples"]), said
    return found
