-- The hash chain over the audit, one link per row, and where it begins after its oldest rows were pruned.
CREATE TABLE "audit_seal" (
    "seq" BIGINT NOT NULL,
    "hash" BYTEA NOT NULL,
    CONSTRAINT "audit_seal_pkey" PRIMARY KEY ("seq")
);
CREATE TABLE "audit_anchor" (
    "seq" BIGINT NOT NULL,
    "hash" BYTEA NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "audit_anchor_pkey" PRIMARY KEY ("seq")
);
CREATE INDEX "audit_at_idx" ON "audit"("at");

-- Rows and their seals go only as the oldest ones, and only after an anchor says so.
CREATE OR REPLACE FUNCTION "audit_refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_TABLE_NAME IN ('audit', 'audit_seal')
    AND OLD.seq <= (SELECT max(seq) FROM audit_anchor) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the audit is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER "audit_seal_append_only" BEFORE UPDATE OR DELETE ON "audit_seal"
  FOR EACH ROW EXECUTE FUNCTION "audit_refuse_change"();
CREATE TRIGGER "audit_seal_no_truncate" BEFORE TRUNCATE ON "audit_seal"
  FOR EACH STATEMENT EXECUTE FUNCTION "audit_refuse_change"();
CREATE TRIGGER "audit_anchor_append_only" BEFORE UPDATE OR DELETE ON "audit_anchor"
  FOR EACH ROW EXECUTE FUNCTION "audit_refuse_change"();
CREATE TRIGGER "audit_anchor_no_truncate" BEFORE TRUNCATE ON "audit_anchor"
  FOR EACH STATEMENT EXECUTE FUNCTION "audit_refuse_change"();

-- An anchor is the seal of a row that is there: what is deleted up to it was sealed, and the chain goes on from it.
CREATE FUNCTION "audit_anchor_check"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM audit_seal WHERE seq = NEW.seq AND hash = NEW.hash) THEN
    RAISE EXCEPTION 'an anchor of the audit is the seal of a row: there is none % with this hash', NEW.seq
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER "audit_anchor_is_seal" BEFORE INSERT ON "audit_anchor"
  FOR EACH ROW EXECUTE FUNCTION "audit_anchor_check"();

-- Deletes sealed rows from before a moment, oldest first and at most so many, and answers how many.
CREATE FUNCTION "audit_prune"("until" TIMESTAMPTZ, "most" INTEGER) RETURNS INTEGER LANGUAGE plpgsql AS $$
DECLARE
  last BIGINT;
  pruned INTEGER;
BEGIN
  SELECT max(oldest.seq) INTO last FROM (
    SELECT a.seq FROM audit a JOIN audit_seal s ON s.seq = a.seq
    WHERE a.seq < coalesce((SELECT min(kept.seq) FROM audit kept WHERE kept.at >= "until"), a.seq + 1)
    ORDER BY a.seq LIMIT "most"
  ) oldest;
  IF last IS NULL THEN
    RETURN 0;
  END IF;
  INSERT INTO audit_anchor (seq, hash) SELECT s.seq, s.hash FROM audit_seal s WHERE s.seq = last;
  DELETE FROM audit WHERE seq <= last;
  GET DIAGNOSTICS pruned = ROW_COUNT;
  DELETE FROM audit_seal WHERE seq <= last;
  DELETE FROM audit_denied WHERE seq <= last;
  RETURN pruned;
END
$$;
