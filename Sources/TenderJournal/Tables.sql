-- A statement for each table and index of a file. The program puts the columns that it lists into the braces.

CREATE TABLE IF NOT EXISTS payment (
  row INTEGER PRIMARY KEY, {payment}, UNIQUE (reference, provider, env)
);

CREATE INDEX IF NOT EXISTS payment_by_time ON payment (created);

-- Unchanged since the first file of this version. Payments with other statuses are found by a term.
CREATE INDEX IF NOT EXISTS payment_by_status ON payment (status, created) WHERE {settled};

CREATE INDEX IF NOT EXISTS payment_by_last_four ON payment (last_four, created) WHERE last_four IS NOT NULL;

CREATE INDEX IF NOT EXISTS payment_by_amount ON payment (amount, created);

CREATE TABLE IF NOT EXISTS operation (row INTEGER PRIMARY KEY, payment INTEGER NOT NULL, {operation});

CREATE INDEX IF NOT EXISTS operation_of_payment ON operation (payment);

CREATE INDEX IF NOT EXISTS operation_by_key ON operation (key) WHERE key IS NOT NULL;

CREATE TABLE IF NOT EXISTS preparation (row INTEGER PRIMARY KEY, text TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS observation (row INTEGER PRIMARY KEY, payment INTEGER NOT NULL, {observation});

CREATE INDEX IF NOT EXISTS observation_of_payment ON observation (payment);

-- The lines of the history have consecutive numbers.
CREATE TABLE IF NOT EXISTS event (line INTEGER PRIMARY KEY, {event}, link TEXT NOT NULL);

CREATE INDEX IF NOT EXISTS event_of_payment ON event (payment);

CREATE TABLE IF NOT EXISTS term (
  text TEXT NOT NULL, created INTEGER NOT NULL, payment INTEGER NOT NULL, PRIMARY KEY (text, created, payment)
) WITHOUT ROWID;

-- The record of each thing at a provider, by its id. The sequence is that of a refund, and 0 for charges of one
-- record, which may share an id.
CREATE TABLE IF NOT EXISTS claim (
  id TEXT NOT NULL, thing TEXT NOT NULL, provider TEXT NOT NULL, env TEXT NOT NULL, merchant TEXT NOT NULL,
  payment INTEGER NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (id, thing, provider, env, merchant)
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS claim_of_payment ON claim (payment);

-- Keyed hashes of deleted references.
CREATE TABLE IF NOT EXISTS pruned (print TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;

-- `loss` is how a loss was found, and `copied` is when the file was written as a copy. `place` is where the file was
-- last opened, and when it was created.
CREATE TABLE IF NOT EXISTS journal (
  name TEXT NOT NULL, forgotten INTEGER NOT NULL, loss TEXT, copied INTEGER, place TEXT
)
