"""Findings: what a check of settings, engine, index set or models came to."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What a check came to, from good to bad. `unknown`: nobody could be asked, which by itself is no fault."""

    OK = "ok"
    UNKNOWN = "unknown"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: its name, the verdict, what was found, and what to do about it (empty: nothing)."""

    check: str
    verdict: Verdict
    found: str
    remedy: str = ""
