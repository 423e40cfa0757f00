import { UsageError } from './command.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `10m`, `1h30m` in milliseconds. `option`: who is told what is wrong with the text. */
export function readDuration(text: string, option: string): number {
  if (!/^(\d+[smhd])+$/.test(text)) {
    throw new UsageError(`${option} takes a time such as 90s, 10m or 1h30m, not "${text}"`);
  }
  const parts = text.match(/\d+[smhd]/g) ?? [];
  return parts.reduce((sum, part) => sum + Number(part.slice(0, -1)) * (UNITS[part.slice(-1)] ?? 0), 0);
}
