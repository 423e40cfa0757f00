import { Namespace } from '../../api/core/namespace.ts';
import type { ApiObject, OwnerReference } from '../../api/object.ts';
import { ago } from './ago.ts';
import { called, conditionsOf, type Finding, type Named, named, note, problem, readyOf, statusOf } from './finding.ts';
import { OWN_FINALIZERS } from './own-finalizers.ts';

/** What is read of any object, whatever its kind. */
export interface GeneralFacts {
  readonly object: ApiObject;
  /** Its owners, and the owners of those. */
  readonly owners: readonly Owner[];
  /** Whether something must write a status for it, as nothing happens otherwise. */
  readonly needsController: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface Owner {
  readonly reference: OwnerReference;
  readonly namespace: string;
  /** Undefined when there is none of that name and UID. */
  readonly object: ApiObject | undefined;
  readonly owners: readonly Owner[];
}

/** Undefined for what is neither ready nor not, such as plain data. */
export function isReady({ object, needsController }: Pick<GeneralFacts, 'object' | 'needsController'>) {
  if (object.metadata.deletionTimestamp !== undefined) return false;
  const ready = readyOf(object) ?? conditionsOf(object).find(({ type }) => AS_GOOD_AS_READY.has(type));
  if (ready !== undefined) return ready.status === 'True' && !isBehind(object);
  return needsController ? false : undefined;
}

export const generalFindings = (facts: GeneralFacts): Finding[] => [
  ...deletion(facts),
  ...silence(facts),
  ...unwelcome(facts),
  ...facts.owners.flatMap((owner) => ownerFindings(owner, facts)),
];

/** What the object itself says is wrong. For where nobody knows better. */
export function saidByItself({ object }: GeneralFacts): Finding[] {
  const failing = conditionsOf(object).filter(
    ({ status, type }) => status === 'False' && type !== 'Ready' && !UNWELCOME.has(type),
  );
  const ready = readyOf(object);
  const told = failing.length > 0 ? failing : ready !== undefined && ready.status !== 'True' ? [ready] : [];
  return told.map(({ type, reason, message }) =>
    problem(named(object), `${type} does not hold: ${message ?? reason ?? 'without a reason'}`),
  );
}

/** An object that is going, and what it still waits for. */
export function deletion({ object, now }: Pick<GeneralFacts, 'object' | 'now'>): Finding[] {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined) return [];
  const about = named(object);
  const since = `${called(about)} is being deleted since ${deletionTimestamp} (${ago(deletionTimestamp, now)})`;
  const remaining = contentOf(object);
  if (remaining.length > 0) {
    return [problem(about, `${since}, and stays until everything in it is gone`, { because: remaining })];
  }
  if (finalizers.length === 0) return [problem(about, `${since}, and is about to go`)];
  return [
    problem(about, `${since}, and stays until its finalizers are gone: ${finalizers.join(', ')}`, {
      because: finalizers.map((finalizer, place) =>
        heldBy(about, finalizer, place, now - Date.parse(deletionTimestamp)),
      ),
    }),
  ];
}

/** What a namespace still has in it, in the words of who empties it. */
const contentOf = (object: ApiObject): Finding[] =>
  object.kind !== Namespace.kind
    ? []
    : conditionsOf(object)
        .filter(({ status, message }) => status === 'True' && message !== undefined)
        .map(({ message = '' }) =>
          problem(named(object), message, {
            remedies: [`see what holds the objects that remain: netloom explain KIND/NAME -n ${object.metadata.name}`],
          }),
        );

function heldBy(about: Named, finalizer: string, place: number, waited: number): Finding {
  const own = OWN_FINALIZERS.get(finalizer);
  if (own !== undefined) {
    const says = `${finalizer} goes once ${own.goesOnce}`;
    return own.isPatient || waited < PATIENCE
      ? note(about, says)
      : problem(about, `${says}; no controller seems to act`, { remedies: [START] });
  }
  const namespace = about.namespace === '' ? '' : ` -n ${about.namespace}`;
  return problem(about, `${finalizer} was set by somebody who has to clean up first`, {
    remedies: [
      `let whoever set ${finalizer} on ${called(about)} finish; if nobody ever will, take it away: kubectl patch ${about.kind.toLowerCase()} ${about.name}${namespace} --type=json -p '[{"op":"remove","path":"/metadata/finalizers/${place}"}]'`,
    ],
  });
}

/** Nobody has looked at the object, or not at what it says now. */
function silence({ object, needsController, now }: GeneralFacts): Finding[] {
  if (object.metadata.deletionTimestamp !== undefined) return [];
  const about = named(object);
  const changed = lastChange(object);
  const waited = now - Date.parse(changed);
  const isNew = needsController && conditionsOf(object).length === 0;
  if (!isNew && !isBehind(object)) return [];
  const what = isNew
    ? `nothing has written a status for ${called(about)}`
    : `the status of ${called(about)} is about generation ${String(statusOf(object)['observedGeneration'])}, but it is at ${object.metadata.generation} by now`;
  const since = `${what}, which ${isNew ? 'was created' : 'was changed'} ${ago(changed, now)}`;
  if (waited < PATIENCE) return [problem(about, `${since}; it has not been looked at yet`, { remedies: [LOOK_AGAIN] })];
  return [problem(about, `${since}: no controller seems to act`, { remedies: [START] })];
}

function isBehind(object: ApiObject): boolean {
  const { observedGeneration } = statusOf(object);
  const { generation } = object.metadata;
  return typeof observedGeneration === 'number' && generation !== undefined && observedGeneration < generation;
}

/** When something other than the status was last written. */
function lastChange({ metadata: { creationTimestamp, managedFields = [] } }: ApiObject): string {
  const times = managedFields.flatMap(({ subresource, time }) => (subresource === undefined ? (time ?? []) : []));
  return [creationTimestamp, ...times].sort().at(-1) ?? creationTimestamp;
}

function ownerFindings({ reference, namespace, object, owners }: Owner, facts: GeneralFacts): Finding[] {
  const { kind, name } = reference;
  if (object === undefined) {
    const says = `it belongs to ${kind} ${name}, which does not exist any more: it will be collected`;
    return [problem({ kind, namespace, name }, says)];
  }
  const because = owners.flatMap((owner) => ownerFindings(owner, facts));
  const about = named(object);
  const going = deletion({ object, now: facts.now });
  if (going.length > 0) return [problem(about, `it belongs to ${called(about)}, which is going`, { because: going })];
  const ready = readyOf(object);
  if (ready === undefined || ready.status === 'True') {
    return [note(about, `it belongs to ${called(about)}${ready === undefined ? '' : ', which is Ready'}`, { because })];
  }
  return [
    problem(about, `it belongs to ${called(about)}, which is not Ready: ${ready.message ?? ready.reason ?? ''}`, {
      because,
      remedies: [
        `see why: netloom explain ${about.kind.toLowerCase()}/${about.name}${about.namespace === '' ? '' : ` -n ${about.namespace}`}`,
      ],
    }),
  ];
}

const unwelcome = ({ object }: GeneralFacts): Finding[] =>
  conditionsOf(object)
    .filter(({ type, status }) => status === 'True' && UNWELCOME.has(type))
    .map(({ type, reason, message }) => note(named(object), `${type}: ${message ?? reason ?? 'without a reason'}`));

/** What kinds that have no condition Ready have in its place. */
const AS_GOOD_AS_READY: ReadonlySet<string> = new Set(['Available', 'Established']);

/** Conditions that say that something is the matter when they hold. */
const UNWELCOME: ReadonlySet<string> = new Set(['Full', 'NearlyFull', 'Overlaps']);

/** How long a controller may take before it is taken for absent. */
export const PATIENCE = 5_000;

export const START =
  'start "netloom up": it runs the controllers together with the API, which "netloom engine" serves alone';
const LOOK_AGAIN = 'ask again in a few seconds';
