import type { JsonObject } from '../../../api/json.ts';
import { metadataOf, objectsAt, statusOf, textAt } from '../reading.ts';

/** `/approval` decides, and does nothing else: of what is sent only the conditions count. */
export function throughApproval(before: JsonObject, sent: JsonObject, now: string): JsonObject {
  const conditions = dated(objectsAt(statusOf(sent), 'conditions'), before, now);
  return written(before, sent, { ...statusOf(before), conditions });
}

/** `/status` reports, and does not decide: signers cannot approve what they sign. */
export function throughStatus(before: JsonObject, sent: JsonObject, now: string): JsonObject {
  const decided = objectsAt(statusOf(before), 'conditions').filter(isDecision);
  const reported = objectsAt(statusOf(sent), 'conditions').filter((condition) => !isDecision(condition));
  const conditions = [...decided, ...dated(reported, before, now)];
  const { conditions: _, ...status } = statusOf(sent);
  return written(before, sent, { ...status, ...(conditions.length === 0 ? {} : { conditions }) });
}

const isDecision = (condition: JsonObject): boolean => ['Approved', 'Denied'].includes(textAt(condition, 'type'));

function written(before: JsonObject, sent: JsonObject, status: JsonObject): JsonObject {
  const { managedFields } = metadataOf(sent);
  const metadata = { ...metadataOf(before), ...(managedFields === undefined ? {} : { managedFields }) };
  return { ...before, metadata, status };
}

/** Says of each condition when it was written, and when it came to be so. */
function dated(conditions: readonly JsonObject[], before: JsonObject, now: string): JsonObject[] {
  const known = objectsAt(statusOf(before), 'conditions');
  return conditions.map((condition) => {
    const old = known.find(({ type, status }) => type === condition['type'] && status === condition['status']);
    return {
      ...condition,
      lastUpdateTime: condition['lastUpdateTime'] ?? now,
      lastTransitionTime: condition['lastTransitionTime'] ?? old?.['lastTransitionTime'] ?? now,
    };
  });
}
