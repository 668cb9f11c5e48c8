"""What a user fixes of a model; everything else is the search's to choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..classification.rules import as_rule
from ..classification.rules.base import Rule
from ..coders import (
    BaseKernelCoder,
    KernelBagOfWords,
    KernelLCC,
    KernelLLC,
    KernelMatchingPursuit,
    KernelSparseCoder,
)
from ..kernels import Kernel, as_kernel

Setting: TypeAlias = float | int | str
Settings: TypeAlias = Mapping[str, Setting]

CODERS: dict[str, type[BaseKernelCoder]] = {
    "sparse": KernelSparseCoder,
    "llc": KernelLLC,
    "lcc": KernelLCC,
    "words": KernelBagOfWords,
    "pursuit": KernelMatchingPursuit,
}
SHORT_NAMES = {"sparse": "kSC", "llc": "kLLC", "lcc": "kLCC", "words": "kBOW", "pursuit": "kMP"}
LEARNED = ("linear", "max-margin", "bilinear", "logistic")  # classifiers that learn their atoms


@dataclass(frozen=True, slots=True)
class Choices:
    """What is fixed; None is to be chosen.

    Attributes
    ----------
    coder : str or None
        A name of :data:`CODERS`.
    classifier : str or None
        "residual", "landmarks" or one of :data:`LEARNED`.
    kernel : str or Kernel
    gamma, alpha, neighbors
        Settings of kernel and coder.
    atoms : int or None
        Learned atoms; with the residual rule, samples that are atoms.
    landmarks : int or None
        Samples that span the atoms.
    class_weight : str or None
    max_iter : int or None
        Rounds of dictionary learning.
    learn_kernel : bool
    n_jobs : int
    seed : int
    """

    coder: str | None = None
    classifier: str | None = None
    kernel: str | Kernel = "rbf"
    gamma: str | float | None = None
    alpha: float | None = None
    neighbors: int | None = None
    atoms: int | None = None
    landmarks: int | None = None
    class_weight: str | None = None
    max_iter: int | None = None
    learn_kernel: bool = False
    n_jobs: int | None = None
    seed: int = 0

    @property
    def has_width(self) -> bool:
        """Whether the kernel has a width."""
        return "gamma" in as_kernel(self.kernel).get_params()

    def kernel_of(self, gamma: Setting | None) -> Kernel | str:
        """The kernel with a width; None leaves it as it is."""
        if gamma is None:
            return self.kernel
        kernel = as_kernel(self.kernel)
        if "gamma" not in kernel.get_params():
            raise ValueError(f"--kernel {self.kernel} has no gamma.")
        return kernel.set_params(gamma=gamma)

    def coder_of(self, name: str, settings: Settings, atoms: int | None = None) -> BaseKernelCoder:
        """A coder with these settings; what it does not have is refused."""
        made = CODERS[name]()
        given: dict[str, Kernel | Setting | None] = {
            "kernel": self.kernel_of(settings.get("gamma")),
            "n_jobs": self.n_jobs,
            "random_state": self.seed,
        }
        known = made.get_params(deep=False)
        for option, parameter in (("alpha", "alpha"), ("neighbors", "n_neighbors")):
            if option in settings:
                if parameter not in known:
                    raise ValueError(f"--coder {name} has no {option}. Leave --{option} out.")
                given[parameter] = settings[option]
        made.set_params(**given, atoms=atoms)
        # LLC has an alpha, which its fit to the nearest atoms does not know.
        if "alpha" in settings and not hasattr(made.formulation(), "alpha"):
            raise ValueError(f"--coder {name} has no alpha. Leave --alpha out.")
        return made

    def rule_of(self, classifier: str) -> str | Rule:
        """The rule of a classifier, with weights of classes where they are asked for."""
        if self.class_weight is None:
            return classifier
        return as_rule(classifier).set_params(class_weight=self.class_weight)
