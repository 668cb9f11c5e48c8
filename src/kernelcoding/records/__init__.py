"""Records of experiments: what a line of a file holds, how it is written, read and averaged.

A file has one JSON object per line. Experiments append to it; the report, the displays and the
command line read it, all with the same parser and the same mean and spread. This room imports
nothing else of the package.
"""

from .evaluation import CalibrationBin, ClassScore, EvaluationRecord
from .file import RecordFile, locked
from .gains import Gain, gain_over, gains_of
from .reading import RecordedExperiment, Runs, read_runs
from .schema import SCHEMA, Artifacts, Example, ExampleAtom, ExperimentRecord, ResultRecord
from .slim import write_slim
from .summary import ResultGroup, Summary, Verdict, summarize, tables_of, verdict_on

__all__ = [
    "SCHEMA",
    "Artifacts",
    "CalibrationBin",
    "ClassScore",
    "EvaluationRecord",
    "Example",
    "ExampleAtom",
    "ExperimentRecord",
    "Gain",
    "RecordFile",
    "RecordedExperiment",
    "ResultGroup",
    "ResultRecord",
    "Runs",
    "Summary",
    "Verdict",
    "gain_over",
    "gains_of",
    "locked",
    "read_runs",
    "summarize",
    "tables_of",
    "verdict_on",
    "write_slim",
]
