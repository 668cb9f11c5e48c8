"""The campaigns by name; adding one here makes it part of ``make fuzz``."""

from __future__ import annotations

from .archives import Archives
from .command_line import CommandLine
from .estimators import Estimators
from .model_files import ModelFiles
from .problems import Problems
from .record_files import RecordFiles

CAMPAIGNS = {
    campaign.name: campaign
    for campaign in (Problems, ModelFiles, RecordFiles, Archives, CommandLine, Estimators)
}
