import type { FieldError } from '../../api/status.ts';
import { NOWHERE } from './place.ts';

/** So many faults are a listing for nobody, and a hostile body has millions. */
const MAX_FAULTS = 500;

/** The faults found so far. `matches` counts what was found right, to tell which of several alternatives was meant. */
export class Faults {
  readonly list: FieldError[] = [];
  matches = 0;

  add(fault: FieldError): void {
    if (this.list.length > MAX_FAULTS) return;
    if (fault.field === '') fault.field = NOWHERE;
    this.list.push(fault);
  }

  get isFull(): boolean {
    return this.list.length > MAX_FAULTS;
  }

  /** Forgets what was found since there were `count` of them. */
  forgetSince(count: number): void {
    this.list.length = Math.min(this.list.length, count);
  }

  addEach(faults: Iterable<FieldError>): void {
    for (const fault of faults) this.add(fault);
  }

  merge(others: Faults): void {
    this.addEach(others.list);
    this.matches += others.matches;
  }
}

/** Each fault once, and a word about those that are not listed. */
export function listed(faults: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>();
  const distinct = faults.filter(({ type, field, detail, value }) => {
    const key = JSON.stringify([type, field, detail, typeof value === 'object' ? '' : value]);
    return !seen.has(key) && seen.add(key) !== undefined;
  });
  if (distinct.length <= MAX_FAULTS) return distinct;
  return [
    ...distinct.slice(0, MAX_FAULTS),
    {
      type: 'Invalid',
      field: NOWHERE,
      value: null,
      detail: `there are more faults than the ${MAX_FAULTS} listed; correct these first`,
    },
  ];
}
