-- AlterTable
ALTER TABLE "drain" ADD COLUMN     "gpu_uuid" TEXT,
ADD COLUMN     "replica_generation" INTEGER,
ADD COLUMN     "replica_id" TEXT;

-- AlterTable
ALTER TABLE "model" ADD COLUMN     "load_times" JSONB NOT NULL DEFAULT '[]',
ADD COLUMN     "rollout" JSONB;

-- AlterTable
ALTER TABLE "node" ADD COLUMN     "former_boots" JSONB NOT NULL DEFAULT '[]',
ADD COLUMN     "lost_confirmed_at" TIMESTAMPTZ(3),
ADD COLUMN     "returns" JSONB NOT NULL DEFAULT '[]';

-- AlterTable
ALTER TABLE "replica" ADD COLUMN     "url" TEXT;

-- CreateTable
CREATE TABLE "model_revision" (
    "model_id" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "spec" JSONB NOT NULL,
    "by" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "model_revision_pkey" PRIMARY KEY ("model_id","revision")
);

-- AddForeignKey
ALTER TABLE "model_revision" ADD CONSTRAINT "model_revision_model_id_fkey" FOREIGN KEY ("model_id") REFERENCES "model"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- One open drain at a time of a node, of a GPU, of a replica.
DROP INDEX "drain_open_key";
CREATE UNIQUE INDEX "drain_open_node_key" ON "drain"("node_id")
  WHERE "ended_at" IS NULL AND "gpu_uuid" IS NULL AND "replica_id" IS NULL;
CREATE UNIQUE INDEX "drain_open_gpu_key" ON "drain"("gpu_uuid") WHERE "ended_at" IS NULL AND "gpu_uuid" IS NOT NULL;
CREATE UNIQUE INDEX "drain_open_replica_key" ON "drain"("replica_id")
  WHERE "ended_at" IS NULL AND "replica_id" IS NOT NULL;

-- The present revision of every model is its history's first entry.
INSERT INTO "model_revision" ("model_id", "revision", "spec", "created_at")
  SELECT "id", "revision", "spec", "updated_at" FROM "model";

-- What routers were told so far came from the agents' latest reports.
UPDATE "replica" r SET "url" = seen."url"
FROM (
  SELECT o->>'replicaId' AS replica_id, (o->>'generation')::int AS generation, o->>'url' AS url
  FROM "node" n, jsonb_array_elements(n."observations") o
  WHERE (o->>'rank')::int = 0 AND o->>'url' IS NOT NULL
) seen
WHERE r."id" = seen.replica_id AND r."generation" = seen.generation AND r."offered_at" IS NOT NULL;
