/** RFC 3339 in UTC with whole seconds, as `metav1.Time` is written. */
export function timestamp(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== last.second) last = { second, text: `${new Date(ms).toISOString().slice(0, 19)}Z` };
  return last.text;
}

/** Nearly all times that are written are now: the same second, a thousand times over. */
let last = { second: Number.NaN, text: '' };

/** RFC 3339 in UTC with six decimals, as `metav1.MicroTime` is written. */
export const microTimestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 23)}000Z`;

/** As `microTimestamp`, and in any case later than what was written before: whoever compares the two sees the difference. */
export function renewedTimestamp(ms: number, before: string | undefined): string {
  const last = before === undefined ? Number.NEGATIVE_INFINITY : microsecondsOf(before);
  const micros = Math.max(ms * 1000, last + 1);
  const rest = String(micros % 1000).padStart(3, '0');
  return `${new Date(Math.floor(micros / 1000)).toISOString().slice(0, 23)}${rest}Z`;
}

const microsecondsOf = (text: string): number =>
  Date.parse(text) * 1000 + Number(/\.\d{3}(\d{3})/.exec(text)?.[1] ?? 0);
