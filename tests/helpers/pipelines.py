"""Fitted pipelines and estimators of scikit-learn that model files can hold."""

import warnings

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    LabelBinarizer,
    LabelEncoder,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

import kernelcoding as kc
from helpers.models import NAMES, Q, X, Y, sets, several
from kernelcoding import aggregation

KNN = KNeighborsClassifier
SETTINGS = {"random_state": 0, "max_iter": 2000}


def table(count, seed):
    """A small data frame with names, numbers and gaps."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"length": rng.normal(size=count), "width": rng.normal(size=count)})
    frame["city"] = rng.choice(["Ulm", "Bonn", "Rome"], count)
    frame["floors"] = rng.integers(1, 5, count)
    frame["open"] = rng.random(count) < 0.5
    frame.loc[::7, "length"] = np.nan
    frame.loc[1::9, "city"] = np.nan
    return frame


def columns():
    """Names and numbers, each prepared in its way."""
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    names = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    return ColumnTransformer(
        [("numbers", numbers, ["length", "width"]), ("names", names, ["city"])],
        remainder="passthrough",
    )


def pipelines():
    """Name -> (fitted pipeline, samples): what the library promises to hold."""
    frame, labels = table(40, 0), np.arange(40) % 3
    last = LogisticRegression(max_iter=1000)
    return {
        "scaled codes": (
            make_pipeline(StandardScaler(), kc.KernelSparseCoder(), LinearSVC(**SETTINGS)).fit(
                X, NAMES
            ),
            Q,
        ),
        "table": (
            make_pipeline(columns(), kc.KernelLLC(), last).fit(frame, labels),
            table(12, 1),
        ),
        "residuals": (
            make_pipeline(Normalizer(), PCA(5), kc.ResidualClassifier()).fit(X, Y),
            Q,
        ),
        "nested": (
            make_pipeline(
                make_pipeline("passthrough", MinMaxScaler()),
                FeatureUnion(
                    [("codes", kc.KernelLLC(atoms=9, random_state=0)), ("axes", PCA(2))],
                    transformer_weights={"axes": 0.5},
                ),
                RidgeClassifier(),
            ).fit(X, NAMES),
            Q,
        ),
        "sparse codes": (
            make_pipeline(kc.KernelSparseCoder(sparse_output=True), LogisticRegression()).fit(
                X, NAMES
            ),
            Q,
        ),
        "neighbours of codes": (
            make_pipeline(kc.KernelSparseCoder(sparse_output=True), KNN(3)).fit(X, NAMES),
            Q,
        ),
        "named columns": (
            make_pipeline(
                StandardScaler().set_output(transform="pandas"), kc.KernelBagOfWords()
            ).fit(X),
            Q,
        ),
        "a dictionary per class": (
            OneVsRestClassifier(kc.SupervisedKernelCoding(n_atoms=4, max_iter=2)).fit(X, NAMES),
            Q,
        ),
        "pooled axes": (aggregation.Pooling(PCA(2)).fit(sets(5, 0)), sets(3, 1)),
    }


def certain(X):
    """A machine with probabilities, which scikit-learn is about to give up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return SVC(probability=True, random_state=0).fit(X, Y % 3)


def estimators():
    """Name -> (fitted estimator of scikit-learn, samples): the settings that change its parts."""
    few, low = X[:, 8:14], Q[:, 8:14]
    names = np.array(["a", "b", "c", "d"], dtype=object)[Y[:60, None] % np.array([3, 2, 4])]
    odd = {"min_frequency": 20, "handle_unknown": "infrequent_if_exist"}
    gram = few @ few.T, low @ few.T
    orders = [["c", "b", "a"], ["b", "a"], ["d", "a", "b", "c"]]
    frame, gaps = table(20, 0)[["city", "open"]], table(20, 0)[["length"]]
    numbers = (100 * few[:, 2:4]).astype(int)
    return {
        **{
            f"svc {kernel} {count}": (SVC(kernel=kernel).fit(few, Y % count), low)
            for kernel in ("linear", "poly", "rbf", "sigmoid")
            for count in (2, 4)
        },
        "svc of a matrix": (SVC(kernel="precomputed").fit(gram[0], Y), gram[1]),
        "svc with probabilities": (certain(few), low),
        "sparse svc with probabilities": (certain(sparse.csr_matrix(few)), low),
        "svc of ties": (SVC(break_ties=True, class_weight="balanced").fit(few, Y), low),
        "svc one to one": (SVC(decision_function_shape="ovo").fit(few, NAMES), low),
        "sparse svc": (SVC().fit(sparse.csr_matrix(few), Y), sparse.csr_matrix(low)),
        "neighbours in a tree": (KNN().fit(few, NAMES), low),
        "neighbours in balls": (KNN(3, algorithm="ball_tree", p=3).fit(few, Y), low),
        "neighbours, all": (KNN(3, algorithm="brute", weights="distance").fit(few, Y), low),
        "neighbours, l1": (KNN(3, algorithm="brute", p=1).fit(few, Y), low),
        "neighbours by angle": (KNN(3, metric="cosine").fit(few, Y), low),
        "neighbours, sparse": (KNN(3).fit(sparse.csr_array(few), Y), sparse.csr_array(low)),
        "neighbours, several": (KNN(3).fit(few, several()), low),
        "neighbours by matrix": (KNN(3, metric="precomputed").fit(1 - gram[0], Y), 1 - gram[1]),
        "one hot": (OneHotEncoder().fit(names), names[:9]),
        "one hot, dense": (OneHotEncoder(sparse_output=False, dtype=np.float32).fit(names), names),
        "one hot, first": (OneHotEncoder(drop="first").fit(names), names[:9]),
        "one hot, binary": (OneHotEncoder(drop="if_binary").fit(names), names[:9]),
        "one hot, rare": (OneHotEncoder(**odd).fit(names), names[:9]),
        "one hot, rare dropped": (OneHotEncoder(drop="first", **odd).fit(names), names[:9]),
        "one hot, few": (OneHotEncoder(max_categories=2, drop="if_binary").fit(names), names[:9]),
        "one hot, chosen": (OneHotEncoder(categories=orders).fit(names), names[:9]),
        "one hot, numbers": (OneHotEncoder(handle_unknown="ignore").fit(numbers), numbers[:9]),
        "one hot, gaps": (
            OneHotEncoder().fit([[1.0], [np.nan], [0.0]]),
            np.array([[np.nan], [1.0]]),
        ),
        "one hot, table": (OneHotEncoder().fit(frame), frame[:9]),
        "ordinal": (OrdinalEncoder(dtype=int).fit(names), names[:9]),
        "ordinal, unknown": (
            OrdinalEncoder(
                handle_unknown="use_encoded_value", unknown_value=-1, max_categories=2
            ).fit(names),
            np.array([["z", "a", "b"]], dtype=object),
        ),
        "imputer": (SimpleImputer(add_indicator=True).fit(gaps), gaps[:9]),
        "ridge": (Ridge().fit(few, Y), low),
        "ridge of several": (Ridge().fit(few, several()), low),
        "identity": (FunctionTransformer().fit(few), low),
        "union": (make_union(StandardScaler(), "passthrough").fit(few), low),
        "labels": (LabelEncoder().fit(NAMES), NAMES[:9]),
        "indicators": (LabelBinarizer(sparse_output=True).fit(NAMES), NAMES[:9]),
        "columns": (columns().fit(table(20, 0)), table(9, 1)),
    }


def ask(model, samples):
    """Everything that a model can say about samples, as dense arrays."""
    found = {}
    for name in ("transform", "predict", "decision_function", "predict_proba", "score_samples"):
        if hasattr(model, name):
            said = getattr(model, name)(samples)
            for i, part in enumerate(said if isinstance(said, list) else [said]):
                part = part.toarray() if sparse.issparse(part) else np.asarray(part)
                found[f"{name} {i}"] = part
    return found
