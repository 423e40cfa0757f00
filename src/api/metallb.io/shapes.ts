import { labelSelector, type Selector } from '../selector.ts';
import { type Infer, list, map, object, optional, string } from '../shape.ts';
import { ApiError, type FieldError } from '../status.ts';

/** What the kinds of this group have in common. */
export const GROUP = 'metallb.io';
export const VERSION = 'v1beta1';

const requirementShape = object({
  key: string({ description: 'The label.' }),
  operator: string({ description: 'In, NotIn, Exists or DoesNotExist.' }),
  values: optional(
    list(string(), { 'x-kubernetes-list-type': 'atomic', description: 'What In and NotIn compare with.' }),
  ),
});

export const selectorShape = (description: string) =>
  object(
    {
      matchLabels: optional(map(string(), { description: 'Labels, each with the value that it must have.' })),
      matchExpressions: optional(
        list(requirementShape, {
          'x-kubernetes-list-type': 'atomic',
          description: 'Further requirements; all of them must hold.',
        }),
      ),
    },
    { 'x-kubernetes-map-type': 'atomic', description },
  );
export type LabelSelector = Infer<ReturnType<typeof selectorShape>>;

export const selectors = (description: string) =>
  optional(list(selectorShape('Objects by their labels; an empty one means all.'), { description }));

export const selectorOf = (selector: LabelSelector): Selector => labelSelector(selector);

/** Faults of a list of selectors: what cannot be understood, and what is there twice. */
export function selectorFaults(found: readonly LabelSelector[] | undefined, field: string): FieldError[] {
  const faults: FieldError[] = [];
  const seen = new Map<string, string>();
  for (const [i, selector] of (found ?? []).entries()) {
    const at = `${field}[${i}]`;
    faults.push(...unreadable(selector, at), ...repeatedExpressions(selector, at));
    const meaning = meaningOf(selector);
    const first = seen.get(meaning);
    if (first === undefined) seen.set(meaning, at);
    else
      faults.push(duplicate(at, selector, `duplicate definition of ${field.split('.').at(-1)}: the same as ${first}`));
  }
  return faults;
}

/** Names that occur twice in a list. */
export function nameFaults(names: readonly string[] | undefined, field: string, detail: string): FieldError[] {
  const seen = new Set<string>();
  return (names ?? []).flatMap((name, i) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [duplicate(`${field}[${i}]`, name, detail)];
  });
}

function unreadable(selector: LabelSelector, field: string): FieldError[] {
  try {
    selectorOf(selector);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [{ type: 'Invalid', field, value: selector, detail: error.message }];
  }
}

function repeatedExpressions({ matchExpressions = [] }: LabelSelector, field: string): FieldError[] {
  const faults: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, expression] of matchExpressions.entries()) {
    const at = `${field}.matchExpressions[${i}]`;
    const meaning = meaningOf({ matchExpressions: [expression] });
    if (seen.has(meaning)) faults.push(duplicate(at, expression, 'duplicate definition of match expression'));
    seen.add(meaning);
    faults.push(...nameFaults(expression.values, `${at}.values`, 'duplicate definition of value in match expression'));
  }
  return faults;
}

/** Two selectors that say the same have the same meaning, in whatever order they say it. */
function meaningOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.entries(matchLabels).sort(([a], [b]) => (a < b ? -1 : 1));
  const expressions = matchExpressions
    .map(({ key, operator, values = [] }) => JSON.stringify([key, operator, [...values].sort()]))
    .sort();
  return JSON.stringify([labels, expressions]);
}

const duplicate = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'Duplicate',
  field,
  value,
  detail,
});
