import type { Condition } from '../api/condition.ts';
import { timestamp } from './timestamp.ts';

export interface ConditionsOptions {
  /** Every condition of the kind except Ready, with what it says before anything is known. */
  about: Readonly<Record<string, string>>;
  /** What the object says now: what stays as it is keeps its time. */
  before: readonly Condition[] | undefined;
  /** Milliseconds since 1970. */
  now: number;
}

type Statement = Omit<Condition, 'type' | 'lastTransitionTime'>;

/**
 * The conditions of an object, made anew in every pass: all Unknown at first, then what the pass finds out. `Ready`
 * follows from the others: True when all are, else a copy of the one that matters most.
 */
export class Conditions {
  readonly #statements = new Map<string, Statement>();
  readonly #before: readonly Condition[];
  readonly #now: string;

  constructor({ about, before = [], now }: ConditionsOptions) {
    this.#before = before;
    this.#now = timestamp(now);
    for (const [type, message] of Object.entries(about)) this.unknown(type, message);
  }

  /** It holds. */
  met(type: string, message: string): void {
    this.set(type, { status: 'True', reason: 'Ready', message });
  }

  /** It does not hold yet, and nothing is wrong. */
  waiting(type: string, message: string, reason = 'Requested'): void {
    this.set(type, { status: 'False', severity: 'Info', reason, message });
  }

  /** It does not hold. `Warning`: we try on; `Error`: it stays so until somebody changes something. */
  failed(
    type: string,
    message: string,
    { severity = 'Warning', reason = 'Error' }: { severity?: 'Warning' | 'Error'; reason?: string } = {},
  ): void {
    this.set(type, { status: 'False', severity, reason, message });
  }

  unknown(type: string, message: string, reason = 'Init'): void {
    this.set(type, { status: 'Unknown', reason, message });
  }

  /** As a condition of another object, such as the Ready of a child. Nothing is said where the child says nothing. */
  mirror(type: string, other: Condition | undefined): void {
    if (other !== undefined) this.set(type, other);
  }

  /** For what has words of its own. Setting `Ready` keeps it from following the others. */
  set(type: string, { status, severity, reason, message }: Statement): void {
    this.#statements.set(type, {
      status,
      ...(status === 'False' && severity !== undefined && severity !== '' ? { severity } : {}),
      ...(status === 'True' ? { reason: 'Ready' } : reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
    });
  }

  /** Whether every condition except Ready is met. */
  get allMet(): boolean {
    return [...this.#statements].every(([type, { status }]) => type === 'Ready' || status === 'True');
  }

  /** Ready first, the others by name. */
  list(): Condition[] {
    const others = [...this.#statements]
      .filter(([type]) => type !== 'Ready')
      .map(([type, statement]) => this.#dated(type, statement))
      .sort((a, b) => (a.type < b.type ? -1 : 1));
    const ready = this.#statements.get('Ready') ?? this.#fromOthers(others);
    return [this.#dated('Ready', ready), ...others];
  }

  #fromOthers(others: readonly Condition[]): Statement {
    if (this.allMet) return { status: 'True', reason: 'Ready', message: 'Setup complete' };
    const [first, ...rest] = others;
    const { type: _, lastTransitionTime: __, ...statement } = rest.reduce(weightier, first ?? UNKNOWN);
    return statement;
  }

  #dated(type: string, statement: Statement): Condition {
    const before = this.#before.find((condition) => condition.type === type);
    const same = before !== undefined && says(before) === says({ ...statement });
    return { type, ...statement, lastTransitionTime: same ? before.lastTransitionTime : this.#now };
  }
}

export const readyOf = (conditions: readonly Condition[] | undefined): Condition | undefined =>
  conditions?.find(({ type }) => type === 'Ready');

const UNKNOWN: Condition = { type: '', status: 'Unknown', lastTransitionTime: '' };

const says = ({ status, reason, severity, message }: Statement): string =>
  JSON.stringify([status, reason ?? '', severity ?? '', message ?? '']);

/** Errors before warnings before waiting before unknown; among equals, what happened last. */
function weightier(a: Condition, b: Condition): Condition {
  const difference = weight(a) - weight(b);
  if (difference !== 0) return difference < 0 ? a : b;
  return b.lastTransitionTime > a.lastTransitionTime ? b : a;
}

function weight({ status, severity }: Condition): number {
  if (status !== 'False') return status === 'Unknown' ? 3 : 4;
  return severity === 'Error' ? 0 : severity === 'Warning' ? 1 : 2;
}
