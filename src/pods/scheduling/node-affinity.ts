import type { Node } from '../../api/core/node.ts';
import type { NodeSelectorRequirement, NodeSelectorTerm, Pod } from '../../api/core/pod.ts';

export const NO_SUCH_NODE = "node(s) didn't match Pod's node affinity/selector";

/** Whether the pod's nodeSelector and required node affinity allow the node. */
export function fitsNodeAffinity({ spec }: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) if (labels[key] !== value) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(term, node));
}

/** The sum of the weights of what the pod prefers and the node has. */
export function nodePreference({ spec }: Pod, node: Node): number {
  const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred.reduce((sum, { weight, preference }) => sum + (matchesTerm(preference, node) ? weight : 0), 0);
}

/** A term that says nothing matches nothing. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, { metadata }: Node): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  const fields: Record<string, string> = { 'metadata.name': metadata.name };
  return (
    matchExpressions.every((requirement) => holds(requirement, metadata.labels ?? {})) &&
    matchFields.every((requirement) => holds(requirement, fields))
  );
}

function holds(
  { key, operator, values = [] }: NodeSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default: {
      const bound = Number(values[0]);
      const number = value === undefined || value === '' ? Number.NaN : Number(value);
      if (!Number.isInteger(number) || !Number.isInteger(bound)) return false;
      return operator === 'Gt' ? number > bound : number < bound;
    }
  }
}
