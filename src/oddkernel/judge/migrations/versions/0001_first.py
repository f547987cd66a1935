"""Studies, invitations, sittings, questions, answers."""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None

STATEMENTS = (
    """CREATE TABLE study (
        id TEXT PRIMARY KEY,
        secret TEXT NOT NULL,
        paused INTEGER NOT NULL,
        created_at TEXT NOT NULL
    )""",
    """CREATE TABLE invitation (
        study TEXT NOT NULL REFERENCES study (id),
        code TEXT NOT NULL,
        PRIMARY KEY (study, code)
    )""",
    """CREATE TABLE sitting (
        id TEXT PRIMARY KEY,
        study TEXT NOT NULL REFERENCES study (id),
        participant TEXT NOT NULL,
        invitation TEXT,
        plan TEXT NOT NULL,
        seed BIGINT NOT NULL,
        started_at TEXT NOT NULL,
        consented_at TEXT,
        UNIQUE (study, participant),
        UNIQUE (study, invitation)
    )""",
    """CREATE TABLE question (
        id TEXT PRIMARY KEY,
        sitting TEXT NOT NULL REFERENCES sitting (id),
        place INTEGER NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('random', 'adaptive', 'repeat', 'catch', 'holdout')),
        a TEXT NOT NULL,
        b TEXT NOT NULL,
        c TEXT NOT NULL,
        expected INTEGER,
        repeats TEXT,
        handed_at TEXT NOT NULL,
        UNIQUE (sitting, place)
    )""",
    """CREATE TABLE answer (
        sitting TEXT NOT NULL REFERENCES sitting (id),
        client_id TEXT NOT NULL,
        question TEXT NOT NULL REFERENCES question (id),
        odd INTEGER NOT NULL CHECK (odd BETWEEN -1 AND 2),
        response_ms INTEGER NOT NULL,
        answered_at TEXT NOT NULL,
        stored_at TEXT NOT NULL,
        undo_id TEXT,
        undone_at TEXT,
        PRIMARY KEY (sitting, client_id)
    )""",
    # An answer taken back leaves the question free for another.
    "CREATE UNIQUE INDEX one_answer_counts ON answer (question) WHERE undo_id IS NULL",
    "CREATE INDEX answers_of_question ON answer (question)",
)


def upgrade() -> None:
    """Create the tables, in SQL that SQLite and PostgreSQL understand alike."""
    for statement in STATEMENTS:
        op.execute(statement)
