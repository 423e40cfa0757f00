import { isJsonObject, type JsonObject } from '../../api/json.ts';
import { objectMadeAt, objectsAt } from '../builtin/reading.ts';

/** Sets one condition in the status of an object; its time changes only when its status does. */
export function setCondition(object: JsonObject, condition: JsonObject & { type: string }, now: string): void {
  const status = objectMadeAt(object, 'status');
  const conditions = objectsAt(status, 'conditions');
  const known = conditions.find((each) => each['type'] === condition.type);
  const isSame = isJsonObject(known) && known['status'] === condition['status'];
  const set = { ...condition, lastTransitionTime: (isSame ? known['lastTransitionTime'] : undefined) ?? now };
  status['conditions'] =
    known === undefined ? [...conditions, set] : conditions.map((each) => (each === known ? set : each));
}
