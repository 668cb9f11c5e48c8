"""A function of every image: in threads, with progress, failures skipped or raised by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext

from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from .reading import Answer, Source, Unusable, attempts, list_of, warn_of


def map_images(
    function: Callable[[int, Source], Answer],
    sources: Iterable[Source],
    *,
    on_error: str = "raise",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> tuple[list[Answer], list[int]]:
    """``function(index, source)`` of every source, and the indices of those that were skipped.

    Parameters
    ----------
    function : callable
        Raises ValueError for a source that cannot be used.
    sources : list of paths or arrays
        See :mod:`kernelcoding.images.reading`.
    on_error : {"raise", "skip"}
        ``"skip"`` leaves failures out and names them in one warning.
    n_jobs : int, optional
        Threads, as joblib counts them: None is one, -1 all cores.
    verbose : int
        Progress as joblib shows it; 0 is silent.
    """
    listed = list_of(sources)
    attempt = attempts(function, on_error)
    # With several threads of ours, BLAS keeps to one of its own.
    alone = nullcontext() if effective_n_jobs(n_jobs) == 1 else threadpool_limits(1)
    with alone:
        answers = Parallel(n_jobs=n_jobs, prefer="threads", verbose=verbose)(
            delayed(attempt)(index, source) for index, source in enumerate(listed)
        )
    failures = [answer for answer in answers if isinstance(answer, Unusable)]
    warn_of(failures, len(listed))
    results = [answer for answer in answers if not isinstance(answer, Unusable)]
    if not results:
        raise ValueError(f"None of the {len(listed)} images can be used. {failures[0].reason}")
    return results, [failure.index for failure in failures]
