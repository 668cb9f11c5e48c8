"""Models that a search compares: what they are built of, and the settings that are tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from ..classification import ResidualClassifier, SupervisedKernelCoding
from ..landmark_map import LandmarkMap
from .choices import LEARNED, SHORT_NAMES, Choices, Setting, Settings
from .sizes import Sizes

# Of the width of the kernel: multiples of the median heuristic, in order.
WIDTHS = ("0.03*median", "0.1*median", "0.3*median", "1*median", "3*median", "10*median")
USUAL_WIDTH = "0.3*median"
ALPHAS = (1e-4, 1e-3, 1e-2, 0.1, 0.3)
NEIGHBORS = (3, 5, 10, 20, 50, 100, 200)
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)  # C of logistic regression
ROUNDS = {"quick": 2, "full": 5}  # of dictionary learning
QUICK, FULL = "quick", "full"


@dataclass(frozen=True, slots=True)
class Axis:
    """A setting: the values there are, in order, where a search begins and how far it looks."""

    values: tuple[Setting, ...]
    start: Setting
    tried: tuple[Setting, ...]  # by a quick search, before it follows the best to an edge

    @classmethod
    def of(cls, values: tuple[Setting, ...], start: Setting, n_tried: int = 3) -> Axis:
        """An axis of which a quick search tries a few values around the start."""
        place = values.index(start)
        first = max(0, min(place - n_tried // 2, len(values) - n_tried))
        return cls(values, start, values[first : first + n_tried])


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kind of model and the settings to choose among.

    Attributes
    ----------
    name : str
        For tables.
    build : callable
        Settings and the number of training samples to an estimator.
    axes : mapping of str to Axis
    """

    name: str
    build: Callable[[Settings, int], ClassifierMixin]
    axes: Mapping[str, Axis] = field(default_factory=dict)
    fixed: Settings = field(default_factory=dict)
    is_costly: bool = False  # tried on one fold first, with the width of a cheaper model
    is_simple: bool = False  # kept where folds cannot tell it from the best

    @property
    def start(self) -> dict[str, Setting]:
        """Where a search begins."""
        return {**self.fixed, **{name: axis.start for name, axis in self.axes.items()}}


def candidates(choices: Choices, sizes: Sizes, effort: str) -> list[Candidate]:
    """All models that agree with what is fixed, those of the paper first.

    Parameters
    ----------
    choices : Choices
    sizes : Sizes
        How many atoms and landmarks models have.
    effort : str
        "quick" or "full".
    """
    coders = [choices.coder] if choices.coder else ["sparse", "llc"]
    if effort == FULL and choices.coder is None:
        coders += ["lcc"]
    found = []
    if choices.classifier in (None, "residual") and choices.class_weight is None:
        found += [_residual(choices, sizes, coder) for coder in coders]
    free = (choices.coder, choices.alpha, choices.neighbors, choices.atoms)
    if choices.classifier in (None, "landmarks") and all(value is None for value in free):
        found.append(_landmarks(choices, sizes))
    rules = list(LEARNED[:2]) if effort == QUICK else ["linear", "max-margin", "logistic"]
    if choices.classifier in LEARNED:
        rules = [choices.classifier]
    if choices.classifier in (None, *LEARNED) and not choices.neighbors:
        learned = choices.coder or "sparse"
        if learned not in ("words", "pursuit"):
            found += [_supervised(choices, sizes, learned, rule, effort) for rule in rules]
    if not found:
        raise ValueError(
            "No model goes with these options: --coder words and pursuit, --neighbors and "
            "--class-weight each leave some out. Take one of them away."
        )
    return found


def _axes(choices: Choices, coder: str | None, sizes: Sizes) -> tuple[dict, dict]:
    """The settings to be chosen, and those that are given."""
    axes: dict[str, Axis] = {}
    fixed: dict[str, Setting] = {}
    given = {"gamma": choices.gamma, "alpha": choices.alpha, "neighbors": choices.neighbors}
    if choices.has_width and choices.gamma is None and not choices.learn_kernel:
        axes["gamma"] = Axis.of(WIDTHS, USUAL_WIDTH)
    if coder in ("sparse", "lcc") and choices.alpha is None:
        axes["alpha"] = Axis.of(ALPHAS, 1e-2)
    if coder == "llc" and choices.neighbors is None:
        few = tuple(m for m in NEIGHBORS if m <= sizes.searched // 2) or NEIGHBORS[:1]
        axes["neighbors"] = Axis.of(few, few[len(few) // 2], 4)
    fixed.update({name: value for name, value in given.items() if value is not None})
    return axes, fixed


def _residual(choices: Choices, sizes: Sizes, coder: str) -> Candidate:
    axes, fixed = _axes(choices, coder, sizes)

    def build(settings: Settings, n_samples: int) -> ClassifierMixin:
        atoms = choices.atoms or choices.landmarks or sizes.kept_samples(coder, n_samples)
        made = choices.coder_of(coder, settings, atoms)
        return ResidualClassifier(made.set_params(learn_kernel=choices.learn_kernel))

    return Candidate(f"residual {SHORT_NAMES[coder]}", build, axes, fixed)


def _supervised(choices: Choices, sizes: Sizes, coder: str, rule: str, effort: str) -> Candidate:
    axes, fixed = _axes(choices, coder, sizes)

    def build(settings: Settings, n_samples: int) -> ClassifierMixin:
        return SupervisedKernelCoding(
            choices.coder_of(coder, settings),
            n_atoms=choices.atoms or sizes.atoms(n_samples),
            classifier=choices.rule_of(rule),
            n_landmarks=choices.landmarks or sizes.landmarks(n_samples),
            learn_kernel=choices.learn_kernel,
            max_iter=choices.max_iter or ROUNDS[effort],
            n_jobs=choices.n_jobs,
            random_state=choices.seed,
        )

    short = "" if coder == "sparse" else f" {SHORT_NAMES[coder]}"
    return Candidate(f"supervised {rule}{short}", build, axes, fixed, is_costly=True)


def _landmarks(choices: Choices, sizes: Sizes) -> Candidate:
    """Coordinates in the span of landmarks, and logistic regression on them."""
    axes, fixed = _axes(choices, None, sizes)

    def build(settings: Settings, n_samples: int) -> ClassifierMixin:
        landmarks = LandmarkMap(
            choices.kernel_of(settings.get("gamma")),
            n_landmarks=choices.landmarks or sizes.map_landmarks(n_samples),
            n_jobs=choices.n_jobs,
            random_state=choices.seed,
        )
        regression = LogisticRegression(
            C=float(settings["penalty"]), class_weight=choices.class_weight, max_iter=200
        )
        return Pipeline([("landmarks", landmarks), ("regression", regression)])

    axes["penalty"] = Axis.of(PENALTIES, 1.0)
    return Candidate("landmarks, logistic", build, axes, fixed, is_simple=True)
