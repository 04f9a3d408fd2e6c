-- phase: expand
-- transaction: on
-- role: admin
--
-- A transaction that is idle keeps what is done in the indexes of the queues. Signet's own set a shorter limit; this one
-- is for every session of the database: of a person, a script, a tool.

-- up
DO $$
BEGIN
    EXECUTE format('ALTER DATABASE %I SET idle_in_transaction_session_timeout = %L', current_database(), '5min');
END
$$;

-- down
DO $$
BEGIN
    EXECUTE format('ALTER DATABASE %I RESET idle_in_transaction_session_timeout', current_database());
END
$$;
