"""Where answers are kept: SQLite beside the items, or PostgreSQL. All the SQL is here and in the migrations."""

from .answers import Answer, Question, Records
from .backup import back_up
from .database import Database, Unavailable, told_read_only
from .questionnaires import Refused
from .sittings import Sitting, Unknown
from .studies import now

__all__ = [
    "Answer",
    "Database",
    "Question",
    "Records",
    "Refused",
    "Sitting",
    "Unavailable",
    "Unknown",
    "back_up",
    "now",
    "told_read_only",
]
