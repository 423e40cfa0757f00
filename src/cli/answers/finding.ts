import type { Condition } from '../../api/condition.ts';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import type { ApiObject } from '../../api/object.ts';

/** One link of the chain between an object and what keeps it from being Ready. Printed as it is by `-o json`. */
export interface Finding {
  readonly about: Named;
  /** `note`: worth knowing, but nothing that has to change. */
  readonly severity: 'problem' | 'note';
  readonly says: string;
  readonly because: readonly Finding[];
  /** What somebody can do about it; one of them is enough. */
  readonly remedies: readonly string[];
}

export interface Named {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

type Parts = Partial<Pick<Finding, 'because' | 'remedies'>>;

export const problem = (about: Named, says: string, parts: Parts = {}): Finding =>
  finding('problem', about, says, parts);
export const note = (about: Named, says: string, parts: Parts = {}): Finding => finding('note', about, says, parts);

function finding(
  severity: Finding['severity'],
  { kind, namespace, name }: Named,
  says: string,
  { because = [], remedies = [] }: Parts,
): Finding {
  return { about: { kind, namespace, name }, severity, says, because, remedies };
}

export const named = ({ kind, metadata: { namespace = '', name } }: ApiObject): Named => ({ kind, namespace, name });

export const called = ({ kind, name }: Named): string => `${kind} ${name}`;

/** What to do, in the order of the chain, each once. */
export const remediesOf = (findings: readonly Finding[]): string[] => [
  ...new Set(findings.flatMap(({ remedies, because }) => [...remedies, ...remediesOf(because)])),
];

/** The status of any object, whatever its kind. */
export const statusOf = (object: ApiObject): JsonObject =>
  'status' in object && isJsonObject(object.status) ? object.status : {};

export function conditionsOf(object: ApiObject): Condition[] {
  const { conditions } = statusOf(object);
  return Array.isArray(conditions) ? conditions.filter(isJsonObject).map(conditionOf) : [];
}

export const readyOf = (object: ApiObject): Condition | undefined =>
  conditionsOf(object).find(({ type }) => type === 'Ready');

const conditionOf = ({ type, status, severity, reason, message, lastTransitionTime }: JsonObject): Condition => ({
  type: text(type),
  status: status === 'True' || status === 'False' ? status : 'Unknown',
  lastTransitionTime: text(lastTransitionTime),
  ...(severity === 'Error' || severity === 'Warning' || severity === 'Info' ? { severity } : {}),
  ...(typeof reason === 'string' ? { reason } : {}),
  ...(typeof message === 'string' ? { message } : {}),
});

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
