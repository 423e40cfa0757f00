import type { Kind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';
import { type Client, isConflict, isMissing } from './client.ts';
import { refOf } from './ref.ts';

const ATTEMPTS = 5;

/** Puts the finalizer on the object in place of its former names. Refused when the object was changed since it was read. */
export async function addFinalizer<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  object: T,
  { name, former = [] }: { name: string; former?: readonly string[] },
): Promise<T> {
  const present = object.metadata.finalizers ?? [];
  const wanted = [...present.filter((finalizer) => finalizer !== name && !former.includes(finalizer)), name];
  if (present.includes(name) && wanted.length === present.length) return object;
  return setFinalizers(client, kind, object, wanted);
}

/** Takes these finalizers off, whatever else happens to the object meanwhile. An object that is gone has none. */
export async function removeFinalizers<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  object: T,
  names: readonly string[],
): Promise<void> {
  let current = object;
  for (let attempt = 1; ; attempt += 1) {
    const present = current.metadata.finalizers ?? [];
    const kept = present.filter((finalizer) => !names.includes(finalizer));
    if (kept.length === present.length) return;
    try {
      await setFinalizers(client, kind, current, kept);
      return;
    } catch (error) {
      if (isMissing(error)) return;
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
    }
    const { name, namespace } = refOf(object);
    const fresh = await client.get(kind, name, namespace);
    if (fresh === undefined || fresh.metadata.uid !== object.metadata.uid) return;
    current = fresh;
  }
}

/** The list is replaced as a whole, so the version makes sure that nobody else's entry is lost. */
const setFinalizers = <T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  object: T,
  finalizers: string[],
): Promise<T> => {
  const { resourceVersion } = object.metadata;
  return client.patch(kind, refOf(object), { merge: { metadata: { resourceVersion, finalizers } } });
};
