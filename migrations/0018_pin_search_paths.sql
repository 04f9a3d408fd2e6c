-- phase: expand
-- transaction: on
--
-- Every function looks for its tables in the same places, however its caller has set their session. A temporary table
-- stands before `public` in a path that does not say otherwise. So a caller who may make one could show a trigger
-- another table than the one that it guards. A function whose body was bound to its names when it was made needs no
-- path, such as current_tenant_id(): the planner inlines it only without a SET clause.

-- up
-- Triggers.
ALTER FUNCTION reject_any_change() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION reject_default_definition_mutation() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION reject_foreign_transaction() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION reject_identity_change() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION reject_key_revival() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION reject_personal_change() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION reject_published_chain_change() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION reject_published_chain_mutation() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION reject_published_definition_mutation() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION restrict_contract_change() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION restrict_definition_change() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION restrict_status_regression() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION restrict_step_execution_updates() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION restrict_updates_of_ended_step() SET search_path = pg_catalog, public, pg_temp;

-- What migrations and the janitor's functions call.
ALTER FUNCTION require_bounds(interval, interval, integer) SET search_path = pg_catalog, public, pg_temp;
ALTER PROCEDURE isolate_tenant_table(regclass) SET search_path = pg_catalog, public, pg_temp;
ALTER PROCEDURE distribute_tenant_tables(text[]) SET search_path = pg_catalog, public, pg_temp;
ALTER PROCEDURE create_partition(regclass, text, timestamptz, timestamptz)
    SET search_path = pg_catalog, public, pg_temp;

-- down
ALTER PROCEDURE create_partition(regclass, text, timestamptz, timestamptz) RESET search_path;
ALTER PROCEDURE distribute_tenant_tables(text[]) RESET search_path;
ALTER PROCEDURE isolate_tenant_table(regclass) RESET search_path;
ALTER FUNCTION require_bounds(interval, interval, integer) RESET search_path;
ALTER FUNCTION restrict_updates_of_ended_step() RESET search_path;
ALTER FUNCTION restrict_step_execution_updates() RESET search_path;
ALTER FUNCTION restrict_status_regression() RESET search_path;
ALTER FUNCTION restrict_definition_change() RESET search_path;
ALTER FUNCTION restrict_contract_change() RESET search_path;
ALTER FUNCTION reject_published_definition_mutation() RESET search_path;
ALTER FUNCTION reject_published_chain_mutation() RESET search_path;
ALTER FUNCTION reject_published_chain_change() RESET search_path;
ALTER FUNCTION reject_personal_change() RESET search_path;
ALTER FUNCTION reject_key_revival() SET search_path = pg_catalog;
ALTER FUNCTION reject_identity_change() RESET search_path;
ALTER FUNCTION reject_foreign_transaction() RESET search_path;
ALTER FUNCTION reject_default_definition_mutation() RESET search_path;
ALTER FUNCTION reject_any_change() RESET search_path;
