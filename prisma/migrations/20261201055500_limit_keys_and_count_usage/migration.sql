-- Limits of inference keys, and what they used.
ALTER TABLE "api_key"
  ADD COLUMN "limits" JSONB NOT NULL DEFAULT '{}',
  ADD COLUMN "may_explain" BOOLEAN NOT NULL DEFAULT false;

CREATE TABLE "usage_hour" (
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "key_id" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "requests" BIGINT NOT NULL,
    "estimated_requests" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,

    CONSTRAINT "usage_hour_pkey" PRIMARY KEY ("hour", "key_id", "model")
);

CREATE TABLE "usage_cursor" (
    "router_id" TEXT NOT NULL,
    "boot" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "usage_cursor_pkey" PRIMARY KEY ("router_id", "boot")
);
