import { parseFieldSelector } from '../../api/field-selector.ts';
import type { JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import { parseLabelSelector } from '../../api/selector.ts';
import { badRequest } from '../../api/status.ts';
import { type Endpoint, nameOf, namespaceOf } from '../resources/resource.ts';

/** Which objects of a list or watch a client wants. */
export interface Selection {
  /** True where everything is wanted, so that nobody needs to look into the objects. */
  readonly isEverything: boolean;
  /** Set where only one name can match. */
  readonly name?: string;
  matches(object: JsonObject): boolean;
}

export function selection(endpoint: Endpoint, query: URLSearchParams): Selection {
  const labels = query.get('labelSelector') ?? '';
  const fields = query.get('fieldSelector') ?? '';
  if (labels === '' && fields === '') return { isEverything: true, matches: () => true };
  const byLabel = labels === '' ? undefined : parseLabelSelector(labels);
  const byField = parseFieldSelector(fields).map(({ field, op, value }) => {
    const read = readerOf(endpoint, field);
    return (object: JsonObject) => (read(object) === value) === (op === '=');
  });
  const named = parseFieldSelector(fields).find(({ field, op }) => field === 'metadata.name' && op === '=');
  return {
    isEverything: false,
    ...(named === undefined ? {} : { name: named.value }),
    matches: (object) =>
      byField.every((matches) => matches(object)) && (byLabel === undefined || byLabel.matches(labelsOf(object))),
  };
}

function readerOf(endpoint: Endpoint, field: string): (object: JsonObject) => string {
  if (field === 'metadata.name') return nameOf;
  if (field === 'metadata.namespace') return namespaceOf;
  const read = Object.hasOwn(endpoint.selectableFields, field) ? endpoint.selectableFields[field] : undefined;
  if (read === undefined) throw badRequest(`field label not supported: ${field}`);
  return read;
}

function labelsOf(object: JsonObject): Record<string, string> {
  const labels = metadataOf(object)['labels'];
  return typeof labels === 'object' && labels !== null ? (labels as Record<string, string>) : {};
}
