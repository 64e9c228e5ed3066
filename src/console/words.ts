// How times, numbers and states are said to the viewer, in the viewer's language and zone.

const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const numbers = new Intl.NumberFormat();

export function timeText(time: string | null | undefined): string {
  return time === null || time === undefined ? '–' : times.format(new Date(time));
}

export function countText(count: number | null | undefined): string {
  return numbers.format(count ?? 0);
}

export function bytesText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const step = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1_024 ** step;
  return `${numbers.format(Math.round(value * 10) / 10)} ${units[step]}`;
}

export type Tone = 'gray' | 'green' | 'yellow' | 'red' | 'blue';

const runStatuses: Readonly<Record<string, readonly [string, Tone]>> = {
  queued: ['Queued', 'gray'],
  planning: ['Planning', 'blue'],
  'awaiting-approval': ['Waits for approval', 'yellow'],
  applying: ['Applying', 'blue'],
  completed: ['Completed', 'green'],
  'completed-with-errors': ['Completed with errors', 'yellow'],
  failed: ['Failed', 'red'],
  cancelled: ['Cancelled', 'gray'],
  rejected: ['Rejected', 'gray'],
  superseded: ['Superseded', 'gray'],
};

export function runStatus(status: string): readonly [string, Tone] {
  return runStatuses[status] ?? [status, 'gray'];
}

const stateTones: Readonly<Record<string, Tone>> = { active: 'green', inactive: 'yellow', archived: 'gray' };

export function stateTone(state: string): Tone {
  return stateTones[state] ?? 'gray';
}

export function statusTone(status: number): Tone {
  if (status < 300) return 'green';
  return status < 500 ? 'yellow' : 'red';
}

/** `guardPercent` as `Guard percent`. */
export function spaced(name: string): string {
  const words = name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
