"""The one table of what is refused, and why: anything else that raises is a failure."""

from __future__ import annotations

import re
from typing import NamedTuple


class Refusal(NamedTuple):
    """A refusal that is right, and the cells in which it is."""

    reason: str
    message: str  # a regular expression for what is said
    kernels: str = ""  # and for the names of those it is right for; empty: all
    coders: str = ""
    tasks: str = ""


WITHOUT_PARAMETERS = ".*linear|.*intersection|projection|precomputed|fixed|function"
REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        "the kernel has no parameter to learn",
        "has no parameter to learn",
        kernels=WITHOUT_PARAMETERS,
        tasks="learned kernel|dictionary and kernel|several labels",
    ),
    Refusal(
        "similarities given as a matrix do not come in batches",
        "partial_fit needs samples, not similarities",
        kernels="precomputed",
        tasks="batches",
    ),
    Refusal(
        "K-SVD holds the support of greedy codes, which others do not have",
        "is for greedy codes",
        coders="(?!pursuit).*",
        tasks="update a?ksvd",
    ),
    Refusal(
        "the gradient update is for codes that are a smooth function of the atoms",
        'update="gradient" is for',
        coders="(?!soft words).*",
        tasks="update gradient",
    ),
    Refusal(
        "updates for given codes do not know codes that follow the atoms",
        "takes codes as given",
        coders="soft words",
        tasks="update (pinv|coordinate)",
    ),
    Refusal(
        "atoms that are points are moved by a formula of the Gaussian kernel",
        'update="points" is for the Gaussian kernel',
        kernels="(?!gaussian).*",
        tasks="update points",
    ),
    Refusal(
        "atoms that are moved through the input space do not stay sparse",
        "do not stay sparse",
        kernels="sparse gaussian",
        tasks="update points",
    ),
    Refusal(
        "codes that minimise nothing have no objective that a loss could be added to",
        "does not minimise an objective",
        coders="soft words|local words|pursuit|own coder",
        tasks="linear|bilinear|max-margin|logistic|several labels",
    ),
    Refusal(
        "groups of labels need one class per sample",
        'groups="y" needs the class of every sample',
        coders="groups of labels",
        tasks="several labels",
    ),
    Refusal(
        "texts have no precision",
        "could not convert string to float",
        kernels="distance",
        tasks="single precision",
    ),
    Refusal(
        "model files hold no code of a user's own",
        "which a model file cannot hold",
        tasks="saved.*",
    ),
)


def reason_of(kernel: str, coder: str, task: str, error: Exception) -> str:
    """Why an error is a refusal that is right; nothing where it is not."""
    if not isinstance(error, ValueError | TypeError):
        return ""
    for row in REFUSALS:
        names = ((row.kernels, kernel), (row.coders, coder), (row.tasks, task))
        known = all(not wanted or re.fullmatch(wanted, name) for wanted, name in names)
        if known and re.search(row.message, str(error)):
            return row.reason
    return ""
