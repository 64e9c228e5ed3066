const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d{1,12})?(Z|[+-]\d\d:\d\d)?$/;

/** Milliseconds since 1970 of an xsd:dateTime (RFC 7643 §2.3.5), or undefined when it is not one. Without a zone: UTC. */
export function parseDateTime(text: string): number | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = match;
  const date = { year: Number(year), month: Number(month), day: Number(day) };
  const offset = zoneMinutes(zone);
  if (!isCalendarDate(date) || offset === undefined) return undefined;
  const time = { hour: Number(hour), minute: Number(minute), second: Number(second) };
  if (time.hour > 23 || time.minute > 59 || time.second > 59) return undefined;
  const milliseconds = fraction === '' ? 0 : Math.floor(Number(fraction) * 1000);
  return dayStart(date) + ((time.hour * 60 + time.minute - offset) * 60 + time.second) * 1000 + milliseconds;
}

interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Date.UTC takes the years 0 to 99 for 1900 to 1999, so the year is set apart. */
function dayStart({ year, month, day }: CalendarDate): number {
  return new Date(0).setUTCFullYear(year, month - 1, day);
}

function isCalendarDate({ year, month, day }: CalendarDate): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day <= days;
}

/** xsd:dateTime allows zones up to fourteen hours away. */
function zoneMinutes(zone: string): number | undefined {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  if (minutes > 14 * 60 || Number(zone.slice(4, 6)) > 59) return undefined;
  return zone.startsWith('-') ? -minutes : minutes;
}
