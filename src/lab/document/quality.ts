import type { Quality } from './lab-document.ts';
import type { WrittenValue } from './written.ts';

/** The fields that say what a link is like. */
export const qualityFields = ['rate', 'loss', 'delay'] as const;

export function readQuality(fields: ReadonlyMap<string, WrittenValue>): Quality {
  return {
    bitsPerSecond: readRate(fields.get('rate')),
    loss: readLoss(fields.get('loss')) ?? 0,
    delayMs: readDelay(fields.get('delay')),
  };
}

function readRate(value: WrittenValue | undefined): number | undefined {
  return measured(value, RATES, 'no rate: write a number and bit, kbit, mbit or gbit, such as 100mbit', (rate) =>
    rate >= 8_000 && rate <= 400e9 ? undefined : 'out of reach: a rate is from 8kbit to 400gbit',
  );
}

function readLoss(value: WrittenValue | undefined): number | undefined {
  return measured(value, { '%': 0.01 }, 'no loss: write how many of a hundred frames get lost, such as 1%', (loss) =>
    loss <= 1 ? undefined : 'more than all frames: a loss is from 0% to 100%',
  );
}

function readDelay(value: WrittenValue | undefined): number | undefined {
  return measured(value, DELAYS, 'no delay: write a number and us, ms or s, such as 10ms', (delay) =>
    delay <= 60_000 ? undefined : 'longer than a link can hold frames back: a delay is up to 60s',
  );
}

const RATES = { bit: 1, kbit: 1e3, mbit: 1e6, gbit: 1e9 };
const DELAYS = { us: 0.001, ms: 1, s: 1000 };

/** A number and a unit. */
function measured(
  value: WrittenValue | undefined,
  units: Readonly<Record<string, number>>,
  wrong: string,
  faultOf: (amount: number) => string | undefined,
): number | undefined {
  if (value === undefined || value.isNothing) return undefined;
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z%]+)$/i.exec(value.text?.trim() ?? '') ?? [];
  const factor = Object.hasOwn(units, unit.toLowerCase()) ? units[unit.toLowerCase()] : undefined;
  if (digits === undefined || factor === undefined) {
    value.fault(`${value.shown} is ${wrong}`);
    return undefined;
  }
  const amount = Number(digits) * factor;
  const fault = faultOf(amount);
  if (fault !== undefined) value.fault(`${value.shown} is ${fault}`);
  return amount;
}
