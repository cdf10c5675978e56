-- Wishes for log lines, which the admin that an agent polls may have to answer for another.
CREATE TABLE "log_request" (
    "id" TEXT NOT NULL,
    "node_id" TEXT NOT NULL,
    "wanted" JSONB NOT NULL,
    "answer" JSONB,
    "asked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "log_request_pkey" PRIMARY KEY ("id")
);
