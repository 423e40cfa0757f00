/** How long ago a time of the API was, in words. Clocks of machines differ, so what seems to come is `just now`. */
export function ago(time: string, now: number): string {
  const passed = now - Date.parse(time);
  return Number.isNaN(passed) ? 'at an unknown time' : passed < 1_000 ? 'just now' : `${duration(passed)} ago`;
}

/** In the largest unit of which there are two or more. */
export function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000);
  const [unit, size] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ['second', 1];
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

const UNITS: readonly (readonly [string, number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
