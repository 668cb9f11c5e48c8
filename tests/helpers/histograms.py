"""Histograms of words that are nearly orthogonal, on which the ratio of kernel learning is flat."""

import numpy as np


def documents(n_documents=160, n_classes=4, n_words=2000, length=60, own=0.25, seed=0):
    """Frequencies of words, most of which no other document has, and topics."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_documents) % n_classes
    topics = rng.permutation(n_words)[: n_classes * 40].reshape(n_classes, 40)
    X = np.zeros((n_documents, n_words))
    for row, topic in zip(X, topics[y], strict=True):
        count = rng.binomial(length, own)
        words = [rng.choice(topic, count), rng.integers(0, n_words, length - count)]
        np.add.at(row, np.concatenate(words), 1.0)
    return X / X.sum(axis=1, keepdims=True), y
