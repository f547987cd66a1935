-- The database of a study as the first version of oddkernel wrote it: schema 0001. Never change this file.
BEGIN;
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
INSERT INTO alembic_version VALUES ('0001');
CREATE TABLE study (id TEXT PRIMARY KEY, secret TEXT NOT NULL, paused INTEGER NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE invitation (study TEXT NOT NULL REFERENCES study (id), code TEXT NOT NULL, PRIMARY KEY (study, code));
CREATE TABLE sitting (
    id TEXT PRIMARY KEY, study TEXT NOT NULL REFERENCES study (id), participant TEXT NOT NULL, invitation TEXT,
    plan TEXT NOT NULL, seed BIGINT NOT NULL, started_at TEXT NOT NULL, consented_at TEXT,
    UNIQUE (study, participant), UNIQUE (study, invitation)
);
CREATE TABLE question (
    id TEXT PRIMARY KEY, sitting TEXT NOT NULL REFERENCES sitting (id), place INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('random', 'adaptive', 'repeat', 'catch', 'holdout')),
    a TEXT NOT NULL, b TEXT NOT NULL, c TEXT NOT NULL, expected INTEGER, repeats TEXT, handed_at TEXT NOT NULL,
    UNIQUE (sitting, place)
);
CREATE TABLE answer (
    sitting TEXT NOT NULL REFERENCES sitting (id), client_id TEXT NOT NULL,
    question TEXT NOT NULL REFERENCES question (id), odd INTEGER NOT NULL CHECK (odd BETWEEN -1 AND 2),
    response_ms INTEGER NOT NULL, answered_at TEXT NOT NULL, stored_at TEXT NOT NULL, undo_id TEXT, undone_at TEXT,
    PRIMARY KEY (sitting, client_id)
);
CREATE UNIQUE INDEX one_answer_counts ON answer (question) WHERE undo_id IS NULL;
CREATE INDEX answers_of_question ON answer (question);
INSERT INTO study VALUES ('birds', 'the secret of the first version', 1, '2026-01-01T08:00:00.000+00:00');
INSERT INTO invitation VALUES ('birds', 'open sesame');
INSERT INTO sitting VALUES
    ('s1', 'birds', 'ann', 'open sesame', '["chosen", "holdout", "repeat"]', 7, '2026-01-01T08:00:01.000+00:00', '2026-01-01T08:00:02.000+00:00'),
    ('s2', 'birds', 'Jürgen 张', NULL, '["chosen", "catch", "chosen"]', 8, '2026-01-01T08:00:03.000+00:00', NULL);
INSERT INTO question VALUES
    ('q1', 's1', 0, 'random', 'picture 0.png', 'picture 1.png', 'picture 2.png', NULL, NULL, '2026-01-01T08:01:00.000+00:00'),
    ('q2', 's1', 1, 'holdout', 'picture 3.png', 'picture 4.png', 'picture 5.png', NULL, NULL, '2026-01-01T08:01:00.000+00:00'),
    ('q3', 's1', 2, 'repeat', 'picture 2.png', 'picture 0.png', 'picture 1.png', NULL, 'q1', '2026-01-01T08:01:00.000+00:00'),
    ('q4', 's2', 0, 'adaptive', 'picture 0.png', 'picture 6.png', 'picture 7.png', NULL, NULL, '2026-01-01T08:02:00.000+00:00'),
    ('q5', 's2', 1, 'catch', 'picture 1.png', 'picture 2.png', 'picture 7.png', 2, NULL, '2026-01-01T08:02:00.000+00:00');
INSERT INTO answer VALUES
    ('s1', 'c1', 'q1', 0, 900, '2026-01-01T08:01:05.000+00:00', '2026-01-01T08:01:05.100+00:00', 'u1', '2026-01-01T08:01:06.000+00:00'),
    ('s1', 'c2', 'q1', 2, 1200, '2026-01-01T08:01:08.000+00:00', '2026-01-01T08:01:08.100+00:00', NULL, NULL),
    ('s1', 'c3', 'q2', -1, 1500, '2026-01-01T08:01:10.000+00:00', '2026-01-01T08:01:10.100+00:00', NULL, NULL),
    ('s1', 'c4', 'q3', 0, 800, '2026-01-01T08:01:12.000+00:00', '2026-01-01T08:01:12.100+00:00', NULL, NULL),
    ('s2', 'c5', 'q4', 1, 2000, '2026-01-01T08:02:05.000+00:00', '2026-01-01T08:02:05.100+00:00', NULL, NULL);
COMMIT;
