import type { JsonObject } from '../../api/json.ts';
import { type ApiError, badRequest } from '../../api/status.ts';
import { metadataOf, nameOf, objectAt, objectsAt, specOf, textAt } from '../builtin/reading.ts';

/** The container of which somebody speaks; without a name the only one, or the one that the pod says is the main one. */
export function containerOf(pod: JsonObject, asked: string): string {
  const names = namesIn(pod, 'containers');
  const all = [...names, ...namesIn(pod, 'initContainers'), ...namesIn(pod, 'ephemeralContainers')];
  if (asked !== '') {
    if (all.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${nameOf(pod)}`);
  }
  const main = textAt(objectAt(metadataOf(pod), 'annotations'), DEFAULT_CONTAINER);
  if (all.includes(main)) return main;
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  throw mustChoose(pod, names);
}

/** By which a pod says which of its containers is meant when none is named. */
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

function mustChoose(pod: JsonObject, names: readonly string[]): ApiError {
  const also = (list: string, what: string): string => {
    const found = namesIn(pod, list);
    return found.length === 0 ? '' : ` or one of the ${what} containers: [${found.join(' ')}]`;
  };
  const choice = names.length === 0 ? '' : `, choose one of: [${names.join(' ')}]`;
  const more = `${also('initContainers', 'init')}${also('ephemeralContainers', 'ephemeral')}`;
  return badRequest(`a container name must be specified for pod ${nameOf(pod)}${choice}${more}`);
}

const namesIn = (pod: JsonObject, list: string): string[] =>
  objectsAt(specOf(pod), list).map((container) => textAt(container, 'name'));
