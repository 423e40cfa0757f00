import type { JsonObject } from '../../../api/json.ts';
import { capUpdaters } from './cap.ts';
import { changedFields, compare, ignoring } from './compare.ts';
import { difference, type FieldSet, fieldSet, isEmpty, union } from './field-set.ts';
import { identityOf, type Managers, withFields, withManager } from './managers.ts';
import { fieldElement } from './path-element.ts';
import type { Shape } from './shape.ts';

/** A write, as far as ownership of fields is concerned. */
export interface Write {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly shape: Shape;
  /** Fields that this write cannot reach: nobody gains or loses them by it. */
  readonly unreachable: FieldSet;
  /** RFC 3339, to the second. */
  readonly now: string;
}

/** What names an object, or is the server's alone: nobody owns it. */
const unowned = fieldSet(
  ...['apiVersion', 'kind', 'metadata'].map((name) => [fieldElement(name)]),
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => [fieldElement('metadata'), fieldElement(name)]),
);

export const ownable = (fields: FieldSet): FieldSet => difference(fields, unowned);

/**
 * The managers after an ordinary write: whatever changed belongs to the writer now, and to nobody else; what is gone belongs to
 * nobody. Who changes nothing is no manager.
 */
export function ownedByUpdate(before: JsonObject, after: JsonObject, managers: Managers, write: Write): Managers {
  const comparison = ignoring(compare(before, after, write.shape), write.unreachable);
  const changed = changedFields(comparison);
  const lost = union(changed, comparison.removed);
  const left = withFields(managers, ({ fields }) => difference(fields, lost));
  const gained = ownable(changed);
  if (isEmpty(gained)) return capUpdaters(left);
  const { manager, apiVersion, subresource, now } = write;
  const who = { name: manager, operation: 'Update', apiVersion, subresource } as const;
  const previous = left.get(identityOf(who))?.fields;
  const fields = previous === undefined ? gained : union(gained, previous);
  return capUpdaters(withManager(left, { ...who, time: now, fields }));
}
