import type { Environment } from '@marcbachmann/cel-js';
import type { Duration } from '@marcbachmann/cel-js/evaluator';
import { definer } from './define.ts';
import { shown } from './format-text.ts';

const TIMESTAMP = 'google.protobuf.Timestamp';
const DURATION = 'google.protobuf.Duration';

/** Conversions of the CEL standard that the evaluator lacks. */
export function registerConversions(env: Environment): void {
  const define = definer(env);
  define(`string(${TIMESTAMP}): string`, (at: Date) => shown(at));
  define(`string(${DURATION}): string`, (duration: Duration) => shown(duration));
  define(`timestamp(${TIMESTAMP}): ${TIMESTAMP}`, (at: Date) => at);
  define(`duration(${DURATION}): ${DURATION}`, (duration: Duration) => duration);
  define(`int(${TIMESTAMP}): int`, (at: Date) => BigInt(Math.floor(at.getTime() / 1000)));
}
