"""A question may have more than three items, and an answer name several of them: the form grid."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"

# Of a grid, `a`, `b` and `c` are the three items that were chosen, the first in the middle; `around` is JSON, the names
# of all items around it in the order shown. `picked` and `expected_picked` are JSON, their positions counted from 1.
QUESTION = (
    "ALTER TABLE question ADD COLUMN around TEXT",
    "ALTER TABLE question ADD COLUMN picks INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE question ADD COLUMN expected_picked TEXT",
)
# SQLite can't let a column be empty that may not be, so the table is copied.
SQLITE = (
    """CREATE TABLE new_answer (
        sitting TEXT NOT NULL REFERENCES sitting (id),
        client_id TEXT NOT NULL,
        question TEXT NOT NULL REFERENCES question (id),
        odd INTEGER CHECK (odd BETWEEN -1 AND 2),
        response_ms INTEGER NOT NULL,
        answered_at TEXT NOT NULL,
        stored_at TEXT NOT NULL,
        undo_id TEXT,
        undone_at TEXT,
        picked TEXT,
        PRIMARY KEY (sitting, client_id),
        CHECK ((odd IS NULL) <> (picked IS NULL))
    )""",
    """INSERT INTO new_answer
        (sitting, client_id, question, odd, response_ms, answered_at, stored_at, undo_id, undone_at)
        SELECT sitting, client_id, question, odd, response_ms, answered_at, stored_at, undo_id, undone_at
        FROM answer""",
    "DROP TABLE answer",
    "ALTER TABLE new_answer RENAME TO answer",
    "CREATE UNIQUE INDEX one_answer_counts ON answer (question) WHERE undo_id IS NULL",
    "CREATE INDEX answers_of_question ON answer (question)",
)
POSTGRESQL = (
    "ALTER TABLE answer ADD COLUMN picked TEXT",
    "ALTER TABLE answer ALTER COLUMN odd DROP NOT NULL",
    "ALTER TABLE answer ADD CONSTRAINT odd_or_picked CHECK ((odd IS NULL) <> (picked IS NULL))",
)


def upgrade() -> None:
    """Add the columns; what was asked and said before had three items, of which one was named."""
    for statement in (*QUESTION, *(SQLITE if op.get_bind().dialect.name == "sqlite" else POSTGRESQL)):
        op.execute(statement)
