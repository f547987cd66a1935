"""Invitations and sittings, as the database holds them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .questionnaires import Refused, Replies
from .studies import now


class Unknown(ValueError):
    """A request about something that does not exist or belongs to someone else."""


class Sitting(NamedTuple):
    """One person's part in the study: the plan of questions and how far they are.

    `panel` holds the ids with which a panel sent the person, by the names of the link's parameters.
    """

    id: str
    participant: str
    plan: tuple[str, ...]
    seed: int
    consented: bool
    answered: int
    paused: bool
    started_at: str = ""
    panel: Mapping[str, str] = {}
    screened_out: bool = False
    simulated: bool = False

    @property
    def total(self) -> int:
        """How many questions it has."""
        return len(self.plan)

    @property
    def left(self) -> int:
        """How many answers are missing."""
        return max(0, self.total - self.answered)

    @property
    def done(self) -> bool:
        """Whether all are answered."""
        return self.answered >= self.total


class Sittings(Replies):
    """Invitations and sittings of one study, within one transaction."""

    # Invitations

    def invite(self, codes: Iterable[str]) -> None:
        """Add invitations, by the hashes of their codes."""
        self.register()
        for code in codes:
            self._run("INSERT INTO invitation (study, code) VALUES (:study, :code)", code=code)

    def invited(self, code: str) -> bool:
        """Whether there is such an invitation."""
        return self._first("SELECT 1 FROM invitation WHERE study = :study AND code = :code", code=code) is not None

    # Sittings

    _SITTING = """
        SELECT s.id, s.participant, s.plan, s.seed, s.consented_at,
               (SELECT count(*) FROM answer a WHERE a.sitting = s.id AND a.undo_id IS NULL),
               (SELECT t.paused FROM study t WHERE t.id = s.study),
               s.started_at, s.panel, s.screened_at, s.simulated
        FROM sitting s WHERE s.study = :study AND """

    def sitting(self, id: str) -> Sitting | None:
        """The sitting with this id."""
        return _as_sitting(self._first(self._SITTING + "s.id = :id", id=id))

    def sitting_of(self, participant: str) -> Sitting | None:
        """The sitting of a participant."""
        return _as_sitting(self._first(self._SITTING + "s.participant = :participant", participant=participant))

    def sitting_by(self, invitation: str) -> Sitting | None:
        """The sitting that an invitation began."""
        return _as_sitting(self._first(self._SITTING + "s.invitation = :code", code=invitation))

    def sittings_with(self, key: str) -> list[Sitting]:
        """The sittings that the key with this hash opens."""
        rows = self._all(self._SITTING + "s.key = :key ORDER BY s.started_at, s.id", key=key)
        return [sitting for row in rows if (sitting := _as_sitting(row)) is not None]

    def sittings(self) -> list[Sitting]:
        """All sittings, in the order in which they began."""
        rows = self._all(self._SITTING + "1 = 1 ORDER BY s.started_at, s.id")
        return [sitting for row in rows if (sitting := _as_sitting(row)) is not None]

    def begin(
        self,
        participant: str,
        plan: Sequence[str],
        seed: int,
        invitation: str | None = None,
        key: str | None = None,
        simulated: bool = False,
        panel: Mapping[str, str] | None = None,
    ) -> Sitting:
        """A new sitting; `key` is the hash of what opens it again."""
        if self.sitting_of(participant) is not None:
            raise Refused("This participant has begun already, in another browser. Please continue there.")
        id = secrets.token_hex(16)
        self._run(
            "INSERT INTO sitting (id, study, participant, invitation, plan, seed, started_at, key, simulated, panel) "
            "VALUES (:id, :study, :participant, :invitation, :plan, :seed, :now, :key, :simulated, :panel)",
            id=id,
            participant=participant,
            invitation=invitation,
            plan=json.dumps(list(plan)),
            seed=seed,
            now=(started_at := now()),
            key=key,
            simulated=int(simulated),
            panel=json.dumps(dict(panel)) if panel else None,
        )
        paused = self.paused()
        return Sitting(id, participant, tuple(plan), seed, False, 0, paused, started_at, panel or {}, False, simulated)

    def set_key(self, sitting: Sitting, key: str) -> None:
        """Let the key with this hash open the sitting from now on."""
        self._run("UPDATE sitting SET key = :key WHERE id = :id", id=sitting.id, key=key)

    def set_panel(self, sitting: Sitting, panel: Mapping[str, str]) -> Sitting:
        """Replace the panel's ids by those of the latest visit."""
        self._run("UPDATE sitting SET panel = :panel WHERE id = :id", id=sitting.id, panel=json.dumps(dict(panel)))
        return sitting._replace(panel=panel)

    def consent(self, sitting: Sitting) -> None:
        """Note that the person agreed."""
        self._run(
            "UPDATE sitting SET consented_at = :now WHERE id = :id AND consented_at IS NULL", id=sitting.id, now=now()
        )

    def withdraw(self, participant: str) -> int:
        """Delete a participant with all answers; returns the number of answers."""
        sitting = self.sitting_of(participant)
        if sitting is None:
            raise Unknown(f"no participant is called {participant!r}")
        of = {"id": sitting.id}
        self._run("DELETE FROM about WHERE sitting = :id", **of)
        self._run("DELETE FROM answer WHERE sitting = :id", **of)
        self._run("DELETE FROM question WHERE sitting = :id", **of)
        self._run("DELETE FROM sitting WHERE id = :id", **of)
        return sitting.answered


def _as_sitting(row: Any) -> Sitting | None:
    if row is None:
        return None
    id, participant, plan, seed, consented_at, answered, paused, started_at, panel, screened_at, simulated = row
    return Sitting(
        id,
        participant,
        tuple(json.loads(plan)),
        seed,
        consented_at is not None,
        answered,
        bool(paused),
        started_at,
        json.loads(panel) if panel else {},
        screened_at is not None,
        bool(simulated),
    )
