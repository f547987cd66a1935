"""A sitting can be opened again with a key that its browser chose; of keys and invitations only hashes are kept."""

from __future__ import annotations

import hashlib

from alembic import op

from oddkernel.judge.store.studies import text

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the hash of the key; sittings that began earlier get one when their browser comes back."""
    op.execute("ALTER TABLE sitting ADD COLUMN key TEXT")
    op.execute("CREATE INDEX sittings_of_key ON sitting (key)")
    connection = op.get_bind()
    for (code,) in connection.execute(text("SELECT DISTINCT code FROM invitation")).all():
        values = {"code": code, "hash": hashlib.sha256(code.encode()).hexdigest()}
        connection.execute(text("UPDATE invitation SET code = :hash WHERE code = :code"), values)
        connection.execute(text("UPDATE sitting SET invitation = :hash WHERE invitation = :code"), values)
