// The build puts these in; a program that runs from its sources has none.
declare const ROLLCALL_VERSION: string | undefined;
declare const ROLLCALL_COMMIT: string | undefined;

/** The release that runs. */
export const version = typeof ROLLCALL_VERSION === 'string' ? ROLLCALL_VERSION : 'development';

/** The commit that it was built from. */
export const commit = typeof ROLLCALL_COMMIT === 'string' ? ROLLCALL_COMMIT : 'unknown';
