/** The time of day, handed in so that tests can set it. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

/** RFC 7643 §2.3.5 dateTime in UTC with milliseconds: sorts as text in the order of time. */
export function timestamp(clock: Clock): string {
  return clock().toISOString();
}
