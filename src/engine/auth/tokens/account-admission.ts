import { setTimeout as pause } from 'node:timers/promises';
import type { Admission, LiveReader } from '../../../api/admission.ts';
import { cloneJson, type JsonObject } from '../../../api/json.ts';
import { builtinKind } from '../../../api/kind.ts';
import type { ApiObject } from '../../../api/object.ts';
import { forbidden } from '../../../api/status.ts';
import { isAbsent, membersAt, objectMadeAt, objectsAt, specOf, textAt } from '../../builtin/reading.ts';
import { generatedName } from '../../objects/generated-name.ts';
import { isMirror, referencesOf } from '../nodes/pod-references.ts';

const Pod = builtinKind('', 'v1', 'Pod', 'pods');
const ServiceAccount = builtinKind<ApiObject>('', 'v1', 'ServiceAccount', 'serviceaccounts');

const DEFAULT = 'default';
const VOLUME = 'kube-api-access-';
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Gives pods the account that they run as, and its token where they do not want to be without. */
export const accountAdmission: Admission = {
  kind: Pod,
  operations: ['CREATE'],
  async mutate({ namespace, object }, live) {
    const pod = asJson(object);
    // What a host shows is not changed, or it would not be what the host runs.
    if (isMirror(pod)) return;
    const spec = objectMadeAt(pod, 'spec');
    if (textAt(spec, 'serviceAccountName') === '') {
      spec['serviceAccountName'] = textAt(spec, 'serviceAccount') || DEFAULT;
    }
    const account = await accountOf(live, namespace, textAt(spec, 'serviceAccountName'));
    if (account === undefined) return;
    const wantsToken = spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken'] ?? true;
    if (wantsToken === true) mountToken(spec);
    const secrets = objectsAt(account, 'imagePullSecrets');
    if (secrets.length > 0 && objectsAt(spec, 'imagePullSecrets').length === 0) {
      spec['imagePullSecrets'] = cloneJson(secrets);
    }
  },
  async validate({ namespace, name, object }, live) {
    const pod = asJson(object);
    if (isMirror(pod)) {
      const fault = mirrorFault(pod);
      if (fault !== undefined) throw forbidden(Pod, name, fault);
      return [];
    }
    const account = textAt(specOf(pod), 'serviceAccountName');
    if ((await live.get(ServiceAccount, account, namespace)) !== undefined) return [];
    const why = `error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`;
    throw forbidden(Pod, name, why);
  },
};

/** A namespace that has just been made gets its account in a moment: whoever comes at once waits for it. */
async function accountOf(live: LiveReader, namespace: string, name: string): Promise<JsonObject | undefined> {
  for (let attempt = 0; ; attempt++) {
    const found = await live.get(ServiceAccount, name, namespace);
    if (found !== undefined || name !== DEFAULT || attempt === 20) return found && asJson(found);
    await pause(50);
  }
}

function mountToken(spec: JsonObject): void {
  const there = objectsAt(spec, 'volumes').map((volume) => textAt(volume, 'name'));
  const known = there.find((volume) => volume.startsWith(VOLUME));
  const name = known ?? generatedName(VOLUME);
  let isMounted = false;
  for (const list of ['initContainers', 'containers']) {
    for (const container of membersAt(spec, list)) {
      const mounts = objectsAt(container, 'volumeMounts');
      // Whoever puts something else there wants no token.
      if (mounts.some((mount) => textAt(mount, 'mountPath') === MOUNT_PATH)) continue;
      container['volumeMounts'] = [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }];
      isMounted = true;
    }
  }
  if (!isMounted || known !== undefined) return;
  const volumes = isAbsent(spec, 'volumes') ? [] : objectsAt(spec, 'volumes');
  spec['volumes'] = [...volumes, { name, projected: { defaultMode: 0o644, sources: cloneJson(SOURCES) } }];
}

const SOURCES: JsonObject[] = [
  { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
  { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
];

function mirrorFault(pod: JsonObject): string | undefined {
  const { serviceAccount, secrets } = referencesOf(pod);
  if (serviceAccount !== '') return 'a mirror pod may not reference service accounts';
  return secrets.size > 0 ? 'a mirror pod may not reference secrets' : undefined;
}

const asJson = (object: unknown): JsonObject => (object ?? {}) as JsonObject;
