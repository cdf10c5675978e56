/** The instant at which built clusters stand, ms since the epoch (2026-01-01T12:00:00Z). */
export const testNowMs = 1_767_268_800_000;
