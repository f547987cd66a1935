"""Sittings hold a panel's ids and whether the person was screened out; questions may come from a list."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"

# SQLite can't drop the list of allowed kinds from a table, so both tables are copied. Answers point at questions.
SQLITE = (
    """CREATE TABLE new_question (
        id TEXT PRIMARY KEY,
        sitting TEXT NOT NULL REFERENCES sitting (id),
        place INTEGER NOT NULL,
        kind TEXT NOT NULL,
        a TEXT NOT NULL,
        b TEXT NOT NULL,
        c TEXT NOT NULL,
        expected INTEGER,
        repeats TEXT,
        handed_at TEXT NOT NULL,
        line INTEGER,
        block TEXT,
        UNIQUE (sitting, place)
    )""",
    """INSERT INTO new_question (id, sitting, place, kind, a, b, c, expected, repeats, handed_at)
        SELECT id, sitting, place, kind, a, b, c, expected, repeats, handed_at FROM question""",
    """CREATE TABLE new_answer (
        sitting TEXT NOT NULL REFERENCES sitting (id),
        client_id TEXT NOT NULL,
        question TEXT NOT NULL REFERENCES new_question (id),
        odd INTEGER NOT NULL CHECK (odd BETWEEN -1 AND 2),
        response_ms INTEGER NOT NULL,
        answered_at TEXT NOT NULL,
        stored_at TEXT NOT NULL,
        undo_id TEXT,
        undone_at TEXT,
        PRIMARY KEY (sitting, client_id)
    )""",
    """INSERT INTO new_answer
        (sitting, client_id, question, odd, response_ms, answered_at, stored_at, undo_id, undone_at)
        SELECT sitting, client_id, question, odd, response_ms, answered_at, stored_at, undo_id, undone_at
        FROM answer""",
    "DROP TABLE answer",
    "DROP TABLE question",
    "ALTER TABLE new_question RENAME TO question",
    "ALTER TABLE new_answer RENAME TO answer",
    "CREATE UNIQUE INDEX one_answer_counts ON answer (question) WHERE undo_id IS NULL",
    "CREATE INDEX answers_of_question ON answer (question)",
)
POSTGRESQL = (
    "ALTER TABLE question DROP CONSTRAINT question_kind_check",
    "ALTER TABLE question ADD COLUMN line INTEGER",
    "ALTER TABLE question ADD COLUMN block TEXT",
)


def upgrade() -> None:
    """Add the columns, and let questions be of other kinds; sittings that began earlier have no ids."""
    op.execute("ALTER TABLE sitting ADD COLUMN panel TEXT")
    op.execute("ALTER TABLE sitting ADD COLUMN screened_at TEXT")
    for statement in SQLITE if op.get_bind().dialect.name == "sqlite" else POSTGRESQL:
        op.execute(statement)
