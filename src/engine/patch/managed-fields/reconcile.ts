import { type FieldSet, leaf } from './field-set.ts';
import { type Managers, withFields } from './managers.ts';
import type { Shape } from './shape.ts';

/**
 * The managers as they would be had the schema always been this one: who owned parts of what has become atomic owns the whole
 * of it. What has become granular stays with its owner until somebody changes a part.
 */
export const reconcileWithSchema = (managers: Managers, shape: Shape): Managers =>
  withFields(managers, ({ fields }) => reconcile(fields, shape));

function reconcile(set: FieldSet, shape: Shape): FieldSet {
  let below: Map<string, FieldSet> | undefined;
  for (const [element, child] of set.below) {
    if (child.below.size === 0) continue;
    const isField = element.startsWith('f:');
    const field = isField ? shape.field(element.slice(2)) : undefined;
    const inner = isField ? (field?.shape ?? shape.others) : shape.item;
    const reconciled = isAtomic(child, inner) ? leaf : reconcile(child, inner);
    if (reconciled === child) continue;
    below ??= new Map(set.below);
    below.set(element, reconciled);
  }
  return below === undefined ? set : { owned: set.owned, below };
}

/** Whether the schema knows no parts where the set has some. */
function isAtomic({ below }: FieldSet, shape: Shape): boolean {
  const [first] = below.keys();
  return first?.startsWith('f:') ? shape.isAtomicObject : shape.list === 'atomic' && !shape.isUntyped;
}
