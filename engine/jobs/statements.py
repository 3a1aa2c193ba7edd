"""Every SQL statement of the job store, by name.

The order of the queue is said once, in the view `queue`: claiming, positions and lists all
read it there.
"""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE job (
            job_id TEXT PRIMARY KEY,
            owner TEXT NOT NULL,
            title TEXT NOT NULL,
            status TEXT NOT NULL,
            spec TEXT NOT NULL,
            duration_s REAL,
            attempt INTEGER NOT NULL DEFAULT 0,
            priority INTEGER NOT NULL DEFAULT 0,
            sequence INTEGER NOT NULL,
            lease_token TEXT,
            lease_until REAL,
            progress TEXT,
            error TEXT,
            artifacts TEXT NOT NULL DEFAULT '[]',
            report TEXT NOT NULL DEFAULT '{}',
            created_at TEXT NOT NULL,
            started_at TEXT,
            finished_at TEXT,
            consent INTEGER NOT NULL DEFAULT 0,
            cancel_requested INTEGER NOT NULL DEFAULT 0,
            delete_requested INTEGER NOT NULL DEFAULT 0,
            idempotency_key TEXT,
            revision INTEGER NOT NULL
        )
        """,
        "CREATE INDEX job_by_status ON job (status, priority, sequence)",
        "CREATE INDEX job_by_owner ON job (owner, created_at)",
        "CREATE INDEX job_by_sequence ON job (sequence)",
        "CREATE INDEX hidden_job ON job (job_id) WHERE delete_requested = 1",
        "CREATE INDEX job_by_revision ON job (revision)",
        """
        CREATE UNIQUE INDEX job_by_idempotency_key ON job (owner, idempotency_key)
        WHERE idempotency_key IS NOT NULL
        """,
        """
        CREATE VIEW queue AS
        SELECT job_id, ROW_NUMBER() OVER (ORDER BY priority DESC, sequence) AS position
        FROM job
        WHERE status = 'queued' AND delete_requested = 0
        """,
        """
        CREATE VIEW visible_job AS
        SELECT job.*, queue.position AS queue_position
        FROM job LEFT JOIN queue ON queue.job_id = job.job_id
        WHERE job.delete_requested = 0
        """,
        """
        CREATE TABLE deleted_job (
            job_id TEXT PRIMARY KEY,
            owner TEXT NOT NULL,
            revision INTEGER NOT NULL
        )
        """,
        "CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL)",
        "INSERT INTO counter (name, value) VALUES ('revision', 0)",
        """
        CREATE TABLE rate (
            animator TEXT NOT NULL,
            size_px INTEGER NOT NULL,
            seconds_per_second REAL NOT NULL,
            samples INTEGER NOT NULL,
            PRIMARY KEY (animator, size_px)
        )
        """,
    ),
    (
        """
        CREATE TABLE ledger (
            entry_id INTEGER PRIMARY KEY,
            at REAL NOT NULL,
            job_id TEXT NOT NULL,
            attempt INTEGER NOT NULL,
            child_pid INTEGER NOT NULL,
            rss_before_mb REAL NOT NULL,
            rss_peak_mb REAL NOT NULL,
            rss_after_mb REAL NOT NULL,
            vram_before_mb REAL,
            vram_peak_mb REAL,
            vram_after_mb REAL,
            residue_mb REAL,
            replaced TEXT
        )
        """,
        "CREATE INDEX ledger_by_time ON ledger (at)",
    ),
    (
        "ALTER TABLE job ADD COLUMN returned INTEGER NOT NULL DEFAULT 0",
        "CREATE TABLE turn (owner TEXT PRIMARY KEY, served INTEGER NOT NULL)",
        "CREATE TABLE submission (who TEXT NOT NULL, at REAL NOT NULL)",
        "CREATE INDEX submission_by_who ON submission (who, at)",
        "DROP VIEW visible_job",
        "DROP VIEW queue",
        # Owners take turns: first the next job of each, the owner served longest ago first,
        # then the second of each. A job that was begun already goes before all. Small jobs go
        # first in their round, but never two of one owner in a row while somebody else waits.
        """
        CREATE VIEW queue AS
        SELECT job_id, ROW_NUMBER() OVER (
            ORDER BY returned DESC, round, is_last, priority DESC, served, sequence
        ) AS position
        FROM (
            SELECT job_id, returned, priority, sequence, COALESCE(turn.served, 0) AS served,
                turn.served IS (SELECT MAX(served) FROM turn) AS is_last,
                ROW_NUMBER() OVER (
                    PARTITION BY job.owner ORDER BY returned DESC, priority DESC, sequence
                ) AS round
            FROM job LEFT JOIN turn ON turn.owner = job.owner
            WHERE status = 'queued' AND delete_requested = 0
        )
        """,
        """
        CREATE VIEW visible_job AS
        SELECT job.*, queue.position AS queue_position
        FROM job LEFT JOIN queue ON queue.job_id = job.job_id
        WHERE job.delete_requested = 0
        """,
    ),
    (
        """
        CREATE TABLE batch (
            batch_id TEXT PRIMARY KEY,
            owner TEXT NOT NULL,
            title TEXT NOT NULL,
            rows TEXT NOT NULL,
            at REAL NOT NULL,
            idempotency_key TEXT
        )
        """,
        "CREATE INDEX batch_by_owner ON batch (owner, at)",
        """
        CREATE UNIQUE INDEX batch_by_idempotency_key ON batch (owner, idempotency_key)
        WHERE idempotency_key IS NOT NULL
        """,
        "ALTER TABLE job ADD COLUMN batch_id TEXT",
        "ALTER TABLE job ADD COLUMN batch_row INTEGER",
        "CREATE INDEX job_by_batch ON job (batch_id, batch_row) WHERE batch_id IS NOT NULL",
    ),
    (
        # Every submission counts who waits; with ten thousand rows that took 6 ms, now 0.3.
        """
        CREATE INDEX waiting_job ON job (owner, batch_id, job_id)
        WHERE status = 'queued' AND delete_requested = 0
        """,
        "CREATE INDEX submission_by_time ON submission (at)",
    ),
    ("CREATE TABLE pace (stage TEXT PRIMARY KEY, factor REAL NOT NULL)",),
)
"""Each entry takes the schema one version further; an entry never changes after a release."""

NEXT_REVISION = "UPDATE counter SET value = value + 1 WHERE name = 'revision' RETURNING value"

ADD = """
    INSERT INTO job (job_id, owner, title, status, spec, duration_s, priority, sequence,
                     created_at, consent, idempotency_key, revision)
    VALUES (:job_id, :owner, :title, 'queued', :spec, :duration_s, :priority,
            (SELECT COALESCE(MAX(sequence), 0) + 1 FROM job),
            :created_at, :consent, :idempotency_key, :revision)
"""

CLAIM_NEXT = """
    UPDATE job
    SET status = 'running', attempt = attempt + 1, lease_token = :lease_token,
        lease_until = :lease_until, started_at = :now, finished_at = NULL,
        progress = NULL, error = NULL, returned = 0, revision = :revision
    WHERE job_id = (SELECT job_id FROM queue WHERE position = 1)
    RETURNING job_id, owner
"""

TAKE_TURN = """
    INSERT INTO turn (owner, served) VALUES (:owner, :revision)
    ON CONFLICT (owner) DO UPDATE SET served = :revision
"""

SEND = """
    UPDATE job SET returned = 1, revision = :revision
    WHERE job_id = :job_id AND status = 'queued' AND delete_requested = 0
    RETURNING owner
"""
"""A job that was given to a broker goes before all others from then on."""

BEGIN = """
    UPDATE job
    SET status = 'running', attempt = :attempt, lease_token = :lease_token,
        lease_until = :lease_until, started_at = :now, finished_at = NULL,
        progress = NULL, error = NULL, returned = 0, revision = :revision
    WHERE job_id = :job_id AND delete_requested = 0
        AND (status = 'queued' OR (status = 'running' AND attempt < :attempt))
"""
"""A worker elsewhere has begun; the attempts are counted there."""

COUNT_STATUSES = """
    SELECT status, COUNT(*) AS jobs FROM job WHERE delete_requested = 0 GROUP BY status
"""

RENEW = """
    UPDATE job
    SET lease_until = :lease_until, progress = COALESCE(:progress, progress), revision = :revision
    WHERE job_id = :job_id AND status = 'running' AND lease_token = :lease_token
"""

FINISH = """
    UPDATE job
    SET status = :status, error = :error, artifacts = :artifacts, report = :report,
        finished_at = :now, lease_token = NULL, lease_until = NULL, cancel_requested = 0,
        revision = :revision
    WHERE job_id = :job_id AND status = 'running' AND lease_token = :lease_token
        AND (cancel_requested = 0 OR :status != 'succeeded')
"""

TAKE_OVER = """
    UPDATE job
    SET lease_token = :lease_token, lease_until = :lease_until, revision = :revision
    WHERE job_id = :job_id AND status = 'running'
"""

CANCEL_QUEUED = """
    UPDATE job
    SET status = 'canceled', finished_at = :now, revision = :revision
    WHERE job_id = :job_id AND status = 'queued'
"""

CANCEL_RUNNING = """
    UPDATE job SET cancel_requested = 1, revision = :revision
    WHERE job_id = :job_id AND status = 'running'
"""

IS_CANCEL_REQUESTED = "SELECT cancel_requested FROM job WHERE job_id = ?"

REQUEUE_FRONT = """
    UPDATE job
    SET status = 'queued', lease_token = NULL, lease_until = NULL, progress = NULL,
        attempt = MAX(0, attempt - :uncounted), returned = 1,
        sequence = (SELECT COALESCE(MIN(sequence), 0) - 1 FROM job), revision = :revision
    WHERE job_id = :job_id AND status = 'running'
"""

RETRY = """
    UPDATE job
    SET status = 'queued', attempt = 0, progress = NULL, error = NULL, cancel_requested = 0,
        started_at = NULL, finished_at = NULL, returned = 0,
        sequence = (SELECT COALESCE(MAX(sequence), 0) + 1 FROM job), revision = :revision
    WHERE job_id = :job_id AND status IN ('failed', 'canceled')
"""

# The place in the queue costs a look at the whole queue, so it is told of a waiting job only.
_FIND = """
    SELECT job.*, CASE WHEN status = 'queued' THEN (
        SELECT position FROM queue WHERE queue.job_id = job.job_id
    ) END AS queue_position
    FROM job WHERE delete_requested = 0
"""
FIND = _FIND + " AND job_id = ?"
FIND_BY_KEY = _FIND + " AND owner = ? AND idempotency_key = ?"
FIND_NEW = "SELECT job.*, NULL AS queue_position FROM job WHERE job_id = ?"
# The place in the queue is looked up row by row, so it is asked for the few rows that are wanted.
_LIST = """
    SELECT newest.*, queue.position AS queue_position
    FROM (
        SELECT * FROM job WHERE {condition} delete_requested = 0
        ORDER BY created_at DESC, sequence DESC LIMIT :limit
    ) AS newest
    LEFT JOIN queue ON queue.job_id = newest.job_id
    ORDER BY created_at DESC, sequence DESC
"""
LIST = _LIST.format(condition="")
LIST_OF_OWNER = _LIST.format(condition="owner = :owner AND")
LIST_RUNNING = "SELECT * FROM visible_job WHERE status = 'running' ORDER BY sequence DESC"
LIST_QUEUED = """
    SELECT job.*, head.position AS queue_position
    FROM (SELECT job_id, position FROM queue ORDER BY position LIMIT :limit) AS head
    CROSS JOIN job ON job.job_id = head.job_id
    ORDER BY head.position
"""
COUNT_QUEUED = """
    SELECT COUNT(*) FROM job INDEXED BY waiting_job
    WHERE status = 'queued' AND delete_requested = 0
"""
"""By itself SQLite takes the index of all statuses, and looks at every row's long text."""

COUNT_QUEUED_OF = """
    SELECT COUNT(DISTINCT COALESCE(batch_id, job_id)) FROM job
    WHERE status = 'queued' AND delete_requested = 0 AND owner = :owner
"""
"""What one person has waiting: a batch counts as one, its jobs take turns with everybody's."""


CHANGED_SINCE = """
    SELECT * FROM visible_job
    WHERE revision > :cursor AND (:owner IS NULL OR owner = :owner) ORDER BY revision
"""
DELETED_SINCE = """
    SELECT job_id, revision FROM deleted_job
    WHERE revision > :cursor AND (:owner IS NULL OR owner = :owner) ORDER BY revision
"""

HIDE = """
    UPDATE job
    SET delete_requested = 1, cancel_requested = 1, idempotency_key = NULL, revision = :revision
    WHERE job_id = :job_id
"""
BURY = """
    INSERT OR REPLACE INTO deleted_job (job_id, owner, revision)
    SELECT job_id, owner, :revision FROM job WHERE job_id = :job_id AND delete_requested = 0
"""
HIDE_ALL_OF = """
    UPDATE job
    SET delete_requested = 1, cancel_requested = 1, idempotency_key = NULL, title = '',
        revision = :revision
    WHERE owner = :owner
"""
FORGET = (
    "DELETE FROM submission WHERE who = :owner",
    "DELETE FROM turn WHERE owner = :owner",
    "DELETE FROM deleted_job WHERE owner = :owner",
    "DELETE FROM batch WHERE owner = :owner",
)
HAS_HIDDEN = "SELECT EXISTS (SELECT 1 FROM job WHERE delete_requested = 1)"
PURGE_HIDDEN = "DELETE FROM job WHERE delete_requested = 1 AND status != 'running' RETURNING job_id"
CLEAR_HIDDEN_RUNNING = """
    UPDATE job SET status = 'canceled' WHERE delete_requested = 1 AND status = 'running'
"""
EXPIRE = """
    SELECT job_id FROM job
    WHERE status IN ('succeeded', 'failed', 'canceled') AND finished_at < :before
"""
SUCCEEDED_BEFORE = """
    SELECT * FROM visible_job WHERE status = 'succeeded' AND finished_at < :before
"""
PRUNE = (
    "DELETE FROM turn WHERE owner NOT IN (SELECT owner FROM job)",
    "DELETE FROM submission WHERE at < :day_ago",
    """
    DELETE FROM batch WHERE at < :day_ago AND batch_id NOT IN (
        SELECT batch_id FROM job WHERE batch_id IS NOT NULL AND delete_requested = 0
    )
    """,
    """
    DELETE FROM deleted_job WHERE revision <= (
        SELECT revision FROM deleted_job ORDER BY revision DESC LIMIT 1 OFFSET 5000
    )
    """,
)
"""A page that missed 5,000 deletions reads its list anew."""

ALL_IDS = "SELECT job_id FROM job"

ADD_RATE = """
    INSERT INTO rate (animator, size_px, seconds_per_second, samples)
    VALUES (:animator, :size_px, :rate, 1)
    ON CONFLICT (animator, size_px) DO UPDATE
    SET seconds_per_second = seconds_per_second + :weight * (:rate - seconds_per_second),
        samples = samples + 1
"""
ADD_PACE = """
    INSERT INTO pace (stage, factor) VALUES (:stage, :factor)
    ON CONFLICT (stage) DO UPDATE SET factor = factor + :weight * (:factor - factor)
"""
LIST_PACES = "SELECT stage, factor FROM pace"
LIST_RATES = "SELECT animator, size_px, seconds_per_second FROM rate"
