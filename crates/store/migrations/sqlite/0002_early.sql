-- A result that another system delivered while the thread was being written. Commits leave it alone.
ALTER TABLE interactions ADD COLUMN early TEXT;

CREATE INDEX interactions_early ON interactions (seq) WHERE early IS NOT NULL AND status = 'open';
