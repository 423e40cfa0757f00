import type { JsonObject } from '../../../api/json.ts';
import { metadataOf, objectAt, objectsAt, specOf, textAt, textMapAt } from '../../builtin/reading.ts';

/** What the host of a pod needs to run it, in the namespace of the pod. */
export interface PodReferences {
  readonly secrets: ReadonlySet<string>;
  readonly configMaps: ReadonlySet<string>;
  readonly serviceAccount: string;
}

/** A copy of a pod that a host runs by itself: as the host says what is in it, it is a reason for nothing. */
export const MIRROR = 'kubernetes.io/config.mirror';
export const isMirror = (pod: JsonObject): boolean => textMapAt(metadataOf(pod), 'annotations').has(MIRROR);

export function referencesOf(pod: JsonObject): PodReferences {
  const spec = specOf(pod);
  const secrets = new Set<string>();
  const configMaps = new Set<string>();
  for (const secret of objectsAt(spec, 'imagePullSecrets')) secrets.add(textAt(secret, 'name'));
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of objectsAt(spec, list)) {
      for (const source of objectsAt(container, 'envFrom')) {
        secrets.add(textAt(objectAt(source, 'secretRef'), 'name'));
        configMaps.add(textAt(objectAt(source, 'configMapRef'), 'name'));
      }
      for (const variable of objectsAt(container, 'env')) {
        const from = objectAt(variable, 'valueFrom');
        secrets.add(textAt(objectAt(from, 'secretKeyRef'), 'name'));
        configMaps.add(textAt(objectAt(from, 'configMapKeyRef'), 'name'));
      }
    }
  }
  for (const volume of objectsAt(spec, 'volumes')) {
    secrets.add(textAt(objectAt(volume, 'secret'), 'secretName'));
    configMaps.add(textAt(objectAt(volume, 'configMap'), 'name'));
    for (const source of objectsAt(objectAt(volume, 'projected'), 'sources')) {
      secrets.add(textAt(objectAt(source, 'secret'), 'name'));
      configMaps.add(textAt(objectAt(source, 'configMap'), 'name'));
    }
    // Drivers of storage each keep theirs in a place of their own.
    for (const kind of Object.keys(volume)) {
      for (const field of ['secretRef', 'nodePublishSecretRef']) {
        secrets.add(textAt(objectAt(objectAt(volume, kind), field), 'name'));
      }
    }
  }
  secrets.delete('');
  configMaps.delete('');
  return { secrets, configMaps, serviceAccount: textAt(spec, 'serviceAccountName') };
}
