"""Memory: what there is, what is about to be taken, and advice where it does not suffice."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real

BUDGET = 0.5  # part of the free memory that a Gram matrix may take
SHARE = 4  # more than this part of the free memory, a quarter, is announced


class AdvisedMemoryError(MemoryError):
    """A MemoryError that says what to do.

    Parameters
    ----------
    cause : str
        What happened, a sentence without its full stop.
    advice : str
        A sentence.
    """

    def __init__(self, cause: str, advice: str) -> None:
        super().__init__(f"{cause}. {advice}")
        self.cause, self.advice = cause, advice

    def __reduce__(self) -> tuple[type[AdvisedMemoryError], tuple[str, str]]:
        return type(self), (self.cause, self.advice)


def available_memory() -> int | None:
    """Bytes that can be had without swapping; None where the system does not say."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


_budget: ContextVar[float | None] = ContextVar("kernelcoding_memory_budget", default=None)


@contextmanager
def memory_budget(gigabytes: float) -> Iterator[None]:
    """Within this context, no Gram matrix may take more memory than this.

    Without it, a Gram matrix may take half of the memory that is free. Coders that can do with
    parts of it compute these; the others refuse a dictionary that is too large, with advice.

    Parameters
    ----------
    gigabytes : float
        Of 2**30 bytes.

    Examples
    --------
    >>> import numpy as np, kernelcoding as kc
    >>> with kc.memory_budget(1e-6):
    ...     try:
    ...         kc.KernelLLC(n_neighbors=None).fit(np.eye(50))
    ...     except MemoryError as error:
    ...         print(str(error).partition(" needs")[0])
    The Gram matrix of 50 atoms
    """
    if not (isinstance(gigabytes, Real) and gigabytes > 0):
        raise ValueError(f"gigabytes must be a positive number, got {gigabytes!r}.")
    token = _budget.set(float(gigabytes) * 2**30)
    try:
        yield
    finally:
        _budget.reset(token)


def require_within_budget(needed: float, what: str, advice: str) -> None:
    """Refuse an allocation beyond the budget: MemoryError with advice.

    Parameters
    ----------
    needed : float
        Bytes that are about to be allocated.
    what : str
        What needs them, the beginning of a sentence.
    advice : str
        A sentence: what to do to need less.
    """
    budget, source = _present_budget()
    if needed > budget:
        raise AdvisedMemoryError(
            f"{what} needs about {as_gigabytes(needed)}, more than {source}", advice
        )


def within_budget(needed: float) -> bool:
    """Whether so many bytes are not beyond the budget."""
    return needed <= _present_budget()[0]


def _present_budget() -> tuple[float, str]:
    """Bytes that a Gram matrix may take, and where that number comes from."""
    budget, free = _budget.get(), available_memory()
    if budget is not None:
        return budget, f"the budget of {as_gigabytes(budget)} (kernelcoding.memory_budget)"
    if free is not None:
        return BUDGET * free, f"half of the {as_gigabytes(free)} that are free"
    return float("inf"), ""


def as_gigabytes(size: float) -> str:
    """A number of bytes as people read it."""
    return f"{size / 2**30:.3g} GB"


def announce(needed: float, what: str, advice: str, stacklevel: int = 3) -> None:
    """Warn before a quarter of the free memory is taken.

    Parameters
    ----------
    needed : float
        Bytes that are about to be allocated.
    what : str
        What needs them, the beginning of a sentence.
    advice : str
        A sentence: what to do to need less.
    stacklevel : int, default=3
        Of the warning: 3 is whoever called the caller of this function.
    """
    free = available_memory()
    if free is None or SHARE * needed <= free:
        return
    there = f"of the {as_gigabytes(free)} that are free"
    warnings.warn(
        f"{what} needs about {as_gigabytes(needed)} {there}. {advice}",
        UserWarning,
        stacklevel=stacklevel,
    )


@contextmanager
def memory_advice(advice: str, instead: bool = False) -> Iterator[None]:
    """Add what to do to a MemoryError that does not say so yet.

    Parameters
    ----------
    advice : str
        A sentence.
    instead : bool, default=False
        Whether it takes the place of advice from within: options of a command, not parameters.
    """
    try:
        yield
    except AdvisedMemoryError as error:
        if instead:
            raise AdvisedMemoryError(error.cause, advice) from error
        raise
    except MemoryError as error:
        cause = str(error).rstrip(".") or "Out of memory"
        raise AdvisedMemoryError(cause, advice) from error
