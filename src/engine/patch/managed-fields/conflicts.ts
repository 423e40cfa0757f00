import { ApiError, type StatusCause } from '../../../api/status.ts';
import { difference, type FieldSet, intersection, isEmpty, pathsOf } from './field-set.ts';
import { compareText, type Manager, type Managers } from './managers.ts';
import { shownElements } from './path-element.ts';

/** Fields that a write would take from another manager. */
export interface Conflict {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

/** Where `changed` touches what others own; the manager of `identity` is in nobody's way. */
export function conflictsWith(managers: Managers, identity: string, changed: FieldSet): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const [other, manager] of managers) {
    if (other === identity) continue;
    const fields = intersection(manager.fields, changed);
    if (!isEmpty(fields)) conflicts.push({ manager, fields });
  }
  return conflicts;
}

/** The conflicts that are left when some fields may be taken. */
export const exceptFor = (conflicts: readonly Conflict[], allowed: FieldSet): Conflict[] =>
  conflicts
    .map(({ manager, fields }) => ({ manager, fields: difference(fields, allowed) }))
    .filter(({ fields }) => !isEmpty(fields));

/** 409, worded as kubectl's users know it, with a cause for every field. */
export function conflictError(conflicts: readonly Conflict[]): ApiError {
  const sorted = conflicts
    .map(({ manager, fields }) => ({
      who: shownManager(manager),
      paths: [...pathsOf(fields)].map(shownElements),
    }))
    .sort((a, b) => compareText(a.who, b.who));
  const causes: StatusCause[] = sorted.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  const [only] = causes;
  const message =
    causes.length === 1 && only !== undefined
      ? `Apply failed with 1 conflict: ${only.message}: ${only.field}`
      : `Apply failed with ${causes.length} conflicts: ${sorted
          .flatMap(({ who, paths }) => [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)])
          .join('\n')}`;
  return new ApiError(409, 'Conflict', message, { causes });
}

function shownManager({ name, operation, apiVersion, subresource }: Manager): string {
  const where = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  const version = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${JSON.stringify(name)}${where}${version}`;
}
