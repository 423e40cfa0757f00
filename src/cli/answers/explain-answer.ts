import type { Condition } from '../../api/condition.ts';
import { Service } from '../../api/core/service.ts';
import type { ApiObject } from '../../api/object.ts';
import { called, conditionsOf, type Finding, type Named, named, remediesOf } from './finding.ts';
import { type GeneralFacts, generalFindings, isReady, saidByItself } from './general.ts';

/** What `netloom explain -o json` prints. Fields may be added; none changes its meaning. */
export interface ExplainAnswer {
  readonly object: Named & { readonly apiVersion: string };
  /** Null for what is neither ready nor not, such as plain data. */
  readonly ready: boolean | null;
  /** The answer in a sentence. */
  readonly says: string;
  readonly findings: readonly Finding[];
  /** Everything that the findings suggest, each once. */
  readonly remedies: readonly string[];
  /** Ready first. */
  readonly conditions: readonly Condition[];
  /** The newest first. */
  readonly events: readonly EventLine[];
}

export interface EventLine {
  readonly time: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

export interface ExplainFacts extends GeneralFacts {
  /** What is known of its kind in particular. */
  readonly special: readonly Finding[];
  /** Where readiness is not a matter of a condition alone. */
  readonly served?: boolean | undefined;
  readonly events: readonly EventLine[];
}

export function explainAnswer(facts: ExplainFacts): ExplainAnswer {
  const { object, special, served, events } = facts;
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const ready = deleting ? false : (served ?? isReady(facts));
  const known = [...generalFindings(facts), ...special];
  // What its controller says of it is second hand: it counts where nothing is known at first hand.
  const isExplained = ready !== false || known.some(({ severity }) => severity === 'problem');
  const findings = isExplained ? known : [...saidByItself(facts), ...known];
  return {
    object: { apiVersion: object.apiVersion, ...named(object) },
    ready: ready ?? null,
    says: sentence(object, ready, findings),
    findings,
    remedies: remediesOf(findings),
    conditions: conditionsOf(object).sort((a, b) => Number(b.type === 'Ready') - Number(a.type === 'Ready')),
    events,
  };
}

/** Whether there is nothing to be done about the object. */
export const isFine = ({ ready, findings }: ExplainAnswer): boolean =>
  ready ?? findings.every(({ severity }) => severity !== 'problem');

function sentence(object: ApiObject, ready: boolean | undefined, findings: readonly Finding[]): string {
  const { namespace = '' } = object.metadata;
  const what = `${called(named(object))}${namespace === '' ? '' : ` in namespace ${namespace}`}`;
  if (object.metadata.deletionTimestamp !== undefined) return `${what} is being deleted`;
  if (ready !== undefined)
    return `${what} is ${ready ? '' : 'not '}${object.kind === Service.kind ? 'served' : 'Ready'}`;
  const problems = findings.filter(({ severity }) => severity === 'problem').length;
  if (problems === 0) return `${what} has no readiness of its own, and nothing is wrong with it`;
  return `${what} has no readiness of its own, but ${problems === 1 ? 'something is' : `${problems} things are`} wrong with it`;
}
