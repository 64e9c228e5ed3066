/** Starts a throw-away PostgreSQL; throws with the reason why there can be none. */
export function startPostgres(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }>;
