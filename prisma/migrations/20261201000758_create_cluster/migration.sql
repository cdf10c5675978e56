-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "cluster" (
    "id" TEXT NOT NULL,
    "one" INTEGER NOT NULL DEFAULT 1,
    "secret" TEXT NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,
    "seq" BIGINT NOT NULL DEFAULT 0,
    "reported" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "cluster_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "lease" (
    "name" TEXT NOT NULL,
    "holder" TEXT NOT NULL,
    "epoch" BIGINT NOT NULL,
    "taken_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lease_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "node" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "address" TEXT NOT NULL DEFAULT '',
    "machine_id" TEXT NOT NULL,
    "boot_id" TEXT NOT NULL DEFAULT '',
    "session" TEXT NOT NULL DEFAULT '',
    "labels" JSONB NOT NULL DEFAULT '{}',
    "simulated" BOOLEAN NOT NULL DEFAULT false,
    "agent_version" TEXT NOT NULL DEFAULT '',
    "engines" JSONB NOT NULL DEFAULT '[]',
    "sources" JSONB NOT NULL DEFAULT '{}',
    "credential_sha256" TEXT NOT NULL,
    "registered_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3),
    "applied_version" BIGINT NOT NULL DEFAULT 0,
    "observations" JSONB NOT NULL DEFAULT '[]',
    "gpu_probe_error" TEXT,
    "removed_at" TIMESTAMPTZ(3),

    CONSTRAINT "node_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "gpu" (
    "uuid" TEXT NOT NULL,
    "node_id" TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    "previous_index" INTEGER,
    "facts" JSONB NOT NULL,
    "health" JSONB NOT NULL,
    "missing_since" TIMESTAMPTZ(3),
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "gpu_pkey" PRIMARY KEY ("uuid")
);

-- CreateTable
CREATE TABLE "cordon" (
    "id" TEXT NOT NULL,
    "node_id" TEXT NOT NULL,
    "gpu_uuid" TEXT,
    "owner" TEXT NOT NULL,
    "by" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "drain_id" TEXT,

    CONSTRAINT "cordon_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "drain" (
    "id" TEXT NOT NULL,
    "node_id" TEXT NOT NULL,
    "by" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deadline_at" TIMESTAMPTZ(3) NOT NULL,
    "forced_at" TIMESTAMPTZ(3),
    "forced_by" TEXT,
    "ended_at" TIMESTAMPTZ(3),
    "result" TEXT,
    "losses" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "drain_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "move" (
    "drain_id" TEXT NOT NULL,
    "replica_id" TEXT NOT NULL,
    "model_id" TEXT NOT NULL,
    "replacement_id" TEXT,
    "step" TEXT NOT NULL,
    "step_at" JSONB NOT NULL DEFAULT '{}',
    "reason" JSONB,
    "lost" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "move_pkey" PRIMARY KEY ("drain_id","replica_id")
);

-- CreateTable
CREATE TABLE "model" (
    "id" TEXT NOT NULL,
    "spec" JSONB NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "model_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "replica" (
    "id" TEXT NOT NULL,
    "model_id" TEXT NOT NULL,
    "model_revision" INTEGER NOT NULL,
    "generation" INTEGER NOT NULL DEFAULT 0,
    "phase" TEXT NOT NULL DEFAULT 'pending',
    "phase_since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "reason" JSONB,
    "replaces" TEXT,
    "drain_id" TEXT,
    "state_version" BIGINT NOT NULL DEFAULT 0,
    "offered_at" TIMESTAMPTZ(3),
    "proven_since" TIMESTAMPTZ(3),
    "routers_quiet_since" TIMESTAMPTZ(3),
    "failures" JSONB NOT NULL DEFAULT '[]',
    "not_before" TIMESTAMPTZ(3),
    "record" JSONB,

    CONSTRAINT "replica_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "shard" (
    "replica_id" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "rank" INTEGER NOT NULL,
    "node_id" TEXT NOT NULL,
    "memory_mib_per_gpu" INTEGER NOT NULL,
    "share_gpu" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "stop_requested_at" TIMESTAMPTZ(3),
    "released_at" TIMESTAMPTZ(3),

    CONSTRAINT "shard_pkey" PRIMARY KEY ("replica_id","generation","rank")
);

-- CreateTable
CREATE TABLE "allocation" (
    "replica_id" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "rank" INTEGER NOT NULL,
    "gpu_uuid" TEXT NOT NULL,
    "ordinal" INTEGER NOT NULL DEFAULT 0,
    "mib" INTEGER NOT NULL,
    "shared" BOOLEAN NOT NULL DEFAULT false,
    "released_at" TIMESTAMPTZ(3),

    CONSTRAINT "allocation_pkey" PRIMARY KEY ("replica_id","generation","rank","gpu_uuid")
);

-- CreateTable
CREATE TABLE "shard_failure" (
    "replica_id" TEXT NOT NULL,
    "rank" INTEGER NOT NULL,
    "which" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "node_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "exit" JSONB NOT NULL,

    CONSTRAINT "shard_failure_pkey" PRIMARY KEY ("replica_id","rank","which")
);

-- CreateTable
CREATE TABLE "router" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "session" TEXT NOT NULL,
    "address" TEXT NOT NULL DEFAULT '',
    "version" TEXT NOT NULL DEFAULT '',
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "left_at" TIMESTAMPTZ(3),
    "applied_version" BIGINT NOT NULL DEFAULT 0,
    "report" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "router_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "models" JSONB NOT NULL DEFAULT '["*"]',
    "max_band" TEXT NOT NULL DEFAULT 'interactive',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "access_token" (
    "id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "role" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "access_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_in_link" (
    "sha256" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "sign_in_link_pkey" PRIMARY KEY ("sha256")
);

-- CreateTable
CREATE TABLE "session" (
    "sha256" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "session_pkey" PRIMARY KEY ("sha256")
);

-- CreateTable
CREATE TABLE "audit" (
    "seq" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "actor_kind" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "role" TEXT,
    "source" TEXT,
    "verb" TEXT NOT NULL,
    "target" TEXT NOT NULL,
    "before" JSONB,
    "after" JSONB,
    "reason" TEXT,
    "outcome" TEXT NOT NULL,
    "request_id" TEXT,
    "cause" TEXT,

    CONSTRAINT "audit_pkey" PRIMARY KEY ("seq")
);

-- CreateTable
CREATE TABLE "audit_denied" (
    "actor" TEXT NOT NULL,
    "verb" TEXT NOT NULL,
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "seq" BIGINT NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "audit_denied_pkey" PRIMARY KEY ("actor","verb","minute")
);

-- CreateIndex
CREATE UNIQUE INDEX "cluster_one_key" ON "cluster"("one");

-- CreateIndex
CREATE UNIQUE INDEX "node_name_key" ON "node"("name");

-- CreateIndex
CREATE UNIQUE INDEX "node_credential_sha256_key" ON "node"("credential_sha256");

-- CreateIndex
CREATE INDEX "gpu_node_id_idx" ON "gpu"("node_id");

-- CreateIndex
CREATE INDEX "cordon_node_id_idx" ON "cordon"("node_id");

-- CreateIndex
CREATE INDEX "drain_node_id_ended_at_idx" ON "drain"("node_id", "ended_at");

-- CreateIndex
CREATE INDEX "move_replica_id_idx" ON "move"("replica_id");

-- CreateIndex
CREATE INDEX "replica_model_id_idx" ON "replica"("model_id");

-- CreateIndex
CREATE INDEX "replica_phase_idx" ON "replica"("phase");

-- CreateIndex
CREATE INDEX "shard_node_id_released_at_idx" ON "shard"("node_id", "released_at");

-- CreateIndex
CREATE INDEX "allocation_gpu_uuid_released_at_idx" ON "allocation"("gpu_uuid", "released_at");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_sha256_key" ON "api_key"("sha256");

-- CreateIndex
CREATE UNIQUE INDEX "access_token_sha256_key" ON "access_token"("sha256");

-- CreateIndex
CREATE INDEX "audit_target_seq_idx" ON "audit"("target", "seq");

-- CreateIndex
CREATE INDEX "audit_cause_seq_idx" ON "audit"("cause", "seq");

-- CreateIndex
CREATE INDEX "audit_denied_seq_idx" ON "audit_denied"("seq");

-- AddForeignKey
ALTER TABLE "gpu" ADD CONSTRAINT "gpu_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "node"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "cordon" ADD CONSTRAINT "cordon_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "node"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "drain" ADD CONSTRAINT "drain_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "node"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "move" ADD CONSTRAINT "move_drain_id_fkey" FOREIGN KEY ("drain_id") REFERENCES "drain"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "replica" ADD CONSTRAINT "replica_model_id_fkey" FOREIGN KEY ("model_id") REFERENCES "model"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "shard" ADD CONSTRAINT "shard_replica_id_fkey" FOREIGN KEY ("replica_id") REFERENCES "replica"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "shard" ADD CONSTRAINT "shard_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "node"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "allocation" ADD CONSTRAINT "allocation_replica_id_generation_rank_fkey" FOREIGN KEY ("replica_id", "generation", "rank") REFERENCES "shard"("replica_id", "generation", "rank") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "shard_failure" ADD CONSTRAINT "shard_failure_replica_id_fkey" FOREIGN KEY ("replica_id") REFERENCES "replica"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What follows is beyond the schema language.

-- A GPU that is not shared has one live tenant at most.
CREATE UNIQUE INDEX "allocation_exclusive_key" ON "allocation"("gpu_uuid") WHERE "released_at" IS NULL AND NOT "shared";

-- One drain of a node at a time.
CREATE UNIQUE INDEX "drain_open_key" ON "drain"("node_id") WHERE "ended_at" IS NULL;

-- The audit is append-only.
CREATE FUNCTION "audit_refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit is append-only: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER "audit_append_only" BEFORE UPDATE OR DELETE ON "audit"
  FOR EACH ROW EXECUTE FUNCTION "audit_refuse_change"();
CREATE TRIGGER "audit_no_truncate" BEFORE TRUNCATE ON "audit"
  FOR EACH STATEMENT EXECUTE FUNCTION "audit_refuse_change"();

ALTER TABLE "cluster" ADD CONSTRAINT "cluster_one_check" CHECK ("one" = 1);
ALTER TABLE "cordon" ADD CONSTRAINT "cordon_owner_check"
  CHECK ("owner" IN ('operator', 'drain', 'health', 'flapping'));
ALTER TABLE "drain" ADD CONSTRAINT "drain_result_check"
  CHECK (("ended_at" IS NULL) = ("result" IS NULL)
    AND ("result" IS NULL OR "result" IN ('complete', 'completeWithLosses', 'unconfirmed', 'cancelled', 'failed')));
ALTER TABLE "replica" ADD CONSTRAINT "replica_phase_check"
  CHECK ("phase" IN ('pending', 'starting', 'serving', 'moving', 'draining', 'stopping', 'stopped', 'failed', 'lost'));
ALTER TABLE "move" ADD CONSTRAINT "move_step_check"
  CHECK ("step" IN ('queued', 'placing', 'loading', 'replacementServing', 'draining', 'stopping', 'stopped'));
ALTER TABLE "shard_failure" ADD CONSTRAINT "shard_failure_which_check" CHECK ("which" IN ('first', 'latest'));
ALTER TABLE "access_token" ADD CONSTRAINT "access_token_kind_check"
  CHECK ("kind" IN ('operator', 'join', 'router') AND ("kind" = 'operator') = ("role" IS NOT NULL));
ALTER TABLE "audit" ADD CONSTRAINT "audit_outcome_check" CHECK ("outcome" IN ('ok', 'denied', 'failed'));
