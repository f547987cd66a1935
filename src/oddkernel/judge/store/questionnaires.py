"""What people said about themselves, as the database holds it."""

from __future__ import annotations

import json
from collections import defaultdict

from .studies import StudyRecord, now


class Refused(ValueError):
    """A request that contradicts what is stored."""


class Replies(StudyRecord):
    """Replies to questions about the person, within one transaction."""

    def reply(
        self, sitting: str, client_id: str, name: str, value: str | float | None, answered_at: str, screened_out: bool
    ) -> bool:
        """Store a reply, and that it ended the person's part; returns False if the same one was stored before."""
        written = json.dumps(value)
        earlier = self._all(
            "SELECT client_id, name, value FROM about "
            "WHERE sitting = :sitting AND (client_id = :client OR name = :name)",
            sitting=sitting,
            client=client_id,
            name=name,
        )
        if earlier:
            if [tuple(row) for row in earlier] == [(client_id, name, written)]:
                return False
            raise Refused("This question has a reply already.")
        self._run(
            "INSERT INTO about (sitting, name, value, client_id, answered_at, stored_at) "
            "VALUES (:sitting, :name, :value, :client, :answered_at, :now)",
            sitting=sitting,
            name=name,
            value=written,
            client=client_id,
            answered_at=answered_at,
            now=now(),
        )
        if screened_out:
            self._run("UPDATE sitting SET screened_at = :now WHERE id = :id", id=sitting, now=now())
        return True

    def replied(self, sitting: str) -> set[str]:
        """The names of the questions that have a reply."""
        return {name for (name,) in self._all("SELECT name FROM about WHERE sitting = :sitting", sitting=sitting)}

    def replies(self) -> dict[str, dict[str, str | float | None]]:
        """All replies of the study, by sitting and name."""
        found: dict[str, dict[str, str | float | None]] = defaultdict(dict)
        for sitting, name, value in self._all(
            "SELECT r.sitting, r.name, r.value FROM about r JOIN sitting s ON s.id = r.sitting WHERE s.study = :study "
            "ORDER BY s.started_at, s.id, r.name"
        ):
            found[sitting][name] = json.loads(value)
        return dict(found)
