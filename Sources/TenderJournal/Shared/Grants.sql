-- For the tables' owner, with CREATEROLE. Roles without a login; a user of your own gets one of them:
--   CREATE ROLE till3 LOGIN PASSWORD '...' IN ROLE tender_runner;
DO $roles$
DECLARE role text;
BEGIN
  FOREACH role IN ARRAY ARRAY['tender_runner', 'tender_support', 'tender_auditor'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', role);
    END IF;
  END LOOP;
END $roles$;

BEGIN;
SET LOCAL client_min_messages = warning;
-- What a user makes in the schema public could take the place of the server's functions, in other users'
-- sessions too. PostgreSQL 15 and later allow it to the database's owner alone.
DO $public$ BEGIN
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;
EXCEPTION WHEN insufficient_privilege OR invalid_schema_name THEN NULL;
END $public$;
DO $check$ BEGIN
  IF to_regnamespace('public') IS NOT NULL AND has_schema_privilege('tender_runner', 'public', 'CREATE') THEN
    RAISE EXCEPTION 'the owner of the schema public has to run: REVOKE CREATE ON SCHEMA public FROM PUBLIC';
  END IF;
END $check$;

-- A runner makes payments. Support looks payments up, without the data that confirms a hold. An auditor reads
-- the history, which is only appended to.
GRANT USAGE ON SCHEMA tender TO tender_runner, tender_support, tender_auditor;
-- Earlier versions granted more, such as rights on whole rows.
REVOKE ALL ON ALL TABLES IN SCHEMA tender FROM tender_runner, tender_support, tender_auditor;
GRANT SELECT ON tender.journal TO tender_runner;
GRANT SELECT, INSERT ON tender.payment, tender.operation, tender.lease TO tender_runner;
-- The columns that identify the payment of a row are never changed.
DO $columns$
DECLARE changed record;
BEGIN
  FOR changed IN
    SELECT attrelid::regclass AS relation, string_agg(quote_ident(attname), ', ') AS columns
    FROM pg_attribute
    WHERE attrelid IN ('tender.payment'::regclass, 'tender.operation'::regclass, 'tender.lease'::regclass)
      AND attnum > 0 AND NOT attisdropped
      AND attname NOT IN ('env', 'provider', 'reference', 'row', 'payment', 'sequence')
    GROUP BY attrelid
  LOOP
    EXECUTE format('GRANT UPDATE (%s) ON %s TO tender_runner', changed.columns, changed.relation);
  END LOOP;
END $columns$;
GRANT UPDATE (text) ON tender.preparation TO tender_runner;
GRANT UPDATE (payment) ON tender.claim TO tender_runner;
GRANT SELECT, INSERT, DELETE ON tender.preparation, tender.term, tender.stop, tender.claim TO tender_runner;
GRANT SELECT ON tender.pruned TO tender_runner, tender_support;
GRANT SELECT, INSERT ON tender.event, tender.observation TO tender_runner;
GRANT SELECT ON tender.journal, tender.payment, tender.operation, tender.observation, tender.event, tender.term
  TO tender_support, tender_auditor;

-- The server records the logged-in user, independent of the program: it adds the user before "by", and requires a
-- line of the history in the same transaction for each written payment, operation and observation, and each changed
-- or deleted preparation. The tables' owner is trusted. A runner's temporary tables are searched last: by default,
-- one named pg_class would come before the real one.
CREATE OR REPLACE FUNCTION tender.stamp() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $stamp$ BEGIN
  IF NOT pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER')
    AND NOT starts_with(coalesce(NEW."by", ''), session_user || '/') THEN
    NEW."by" := session_user || '/' || coalesce(NEW."by", '');
  END IF;
  RETURN NEW;
END $stamp$;
CREATE OR REPLACE FUNCTION tender.witness() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $witness$ BEGIN
  IF NOT pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER')
    AND NOT EXISTS (SELECT 1 FROM tender.event e
      WHERE e.payment = (coalesce(to_jsonb(NEW), to_jsonb(OLD))->>TG_ARGV[0])::bigint
      AND e.xmin::text::bigint = pg_current_xact_id()::text::bigint % 4294967296) THEN
    RAISE EXCEPTION 'a change of a payment needs a line of the history'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END $witness$;
DO $triggers$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['payment', 'event', 'lease'] LOOP
    EXECUTE format('DROP TRIGGER IF EXISTS stamp ON tender.%I', name);
    EXECUTE format('CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON tender.%I '
      'FOR EACH ROW EXECUTE FUNCTION tender.stamp()', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['payment', 'operation', 'observation', 'preparation'] LOOP
    EXECUTE format('DROP TRIGGER IF EXISTS witness ON tender.%I', name);
  END LOOP;
END $triggers$;
CREATE TRIGGER witness AFTER INSERT OR UPDATE ON tender.payment FOR EACH ROW EXECUTE FUNCTION tender.witness('row');
CREATE TRIGGER witness AFTER INSERT OR UPDATE ON tender.operation
  FOR EACH ROW EXECUTE FUNCTION tender.witness('payment');
CREATE TRIGGER witness AFTER INSERT ON tender.observation FOR EACH ROW EXECUTE FUNCTION tender.witness('payment');
CREATE TRIGGER witness AFTER UPDATE OR DELETE ON tender.preparation
  FOR EACH ROW EXECUTE FUNCTION tender.witness('payment');
COMMIT;

-- A runner changes no reference and no history. Each change of a payment needs a line of the history,
-- with its user of the database in front of "by", as the server knows it. It can say anything about the
-- payments of this journal: with its password, one can be made look failed, and be charged again.
-- tender journal prune, accept and migrate are for the owner of the tables.
