/** Ends a process after a failure that leaves the state of the disk unknown (EX_IOERR of sysexits.h). */
export const exitStorageFailed = 74;
