import type { Json, JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import { ApiError } from '../../api/status.ts';
import { sleep } from '../../runtime/clock.ts';
import { objectPath } from '../../runtime/paths.ts';
import { refusal } from '../../runtime/refusal.ts';
import { system } from '../../runtime/system.ts';
import type { Terminal } from '../command.ts';
import { UsageError } from '../command.ts';
import { type Api, type ConnectionOptions, connect } from './connection.ts';
import { readManifests } from './manifests.ts';
import { objectName, type ServedKind, ServedKinds } from './resources.ts';
import { placeOf, requireKind } from './run-apply.ts';

export interface DeleteOptions extends ConnectionOptions {
  readonly filename: readonly string[];
  readonly 'no-wait': boolean;
  readonly 'ignore-not-found': boolean;
}

interface Doomed {
  readonly kind: ServedKind;
  readonly name: string;
  readonly namespace: string;
}

/** Deletes everything, whatever becomes of a single object, and waits until all of it is gone. */
export async function deleteObjects(
  wanted: { resource: string | undefined; names: readonly string[] },
  options: DeleteOptions,
  terminal: Terminal,
): Promise<number> {
  const api = await connect(options);
  const kinds = await ServedKinds.discover(api.transport);
  let failures = 0;
  const waiting: { doomed: Doomed; uid: Json | undefined }[] = [];
  for (const doomed of await doomedBy(wanted, options, api, kinds)) {
    try {
      waiting.push({ doomed, uid: await begin(api, doomed) });
      if (options['no-wait']) terminal.print(`${objectName(doomed.kind, doomed.name)} deleted`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 404 && options['ignore-not-found']) continue;
      failures += 1;
      terminal.warn(error.message);
    }
  }
  if (!options['no-wait']) {
    for (const { doomed, uid } of waiting) {
      await waitUntilGone(api, doomed, uid, terminal);
      terminal.print(`${objectName(doomed.kind, doomed.name)} deleted`);
    }
  }
  return failures === 0 ? 0 : 1;
}

async function doomedBy(
  { resource, names }: { resource: string | undefined; names: readonly string[] },
  { filename }: DeleteOptions,
  { namespace }: Api,
  kinds: ServedKinds,
): Promise<Doomed[]> {
  if (filename.length > 0) {
    if (resource !== undefined) throw new UsageError('delete takes names or files, not both');
    // The last thing made is the first to go: what depends on others stands behind them in a file.
    const manifests = (await readManifests(filename)).reverse();
    return manifests.map((manifest) => {
      const kind = requireKind(kinds, manifest);
      return { kind, ...placeOf(kind, manifest, namespace) };
    });
  }
  if (resource === undefined) throw new UsageError('delete needs to know what: KIND NAME, KIND/NAME or -f FILE');
  const pairs = resource.includes('/')
    ? [resource, ...names].map((each) => each.split('/'))
    : names.map((name) => [resource, name]);
  if (pairs.length === 0) throw new UsageError(`delete needs the names of the ${resource} to delete`);
  return pairs.map(([word = '', name = '']) => {
    const kind = kinds.named(word);
    return { kind, name, namespace: kind.namespaced ? namespace : '' };
  });
}

/** Returns the uid of what is being deleted. */
async function begin({ transport }: Api, doomed: Doomed): Promise<Json | undefined> {
  const path = objectPath(doomed.kind, doomed);
  const before = await transport.request({ method: 'GET', path });
  const answer = await transport.request({ method: 'DELETE', path, body: { propagationPolicy: 'Background' } });
  if (answer.status >= 400) throw refusal(answer.status, answer.body);
  return metadataOf(before.body)['uid'];
}

/** Looks again ever less often; after a while it says what holds the object. */
async function waitUntilGone(
  { transport }: Api,
  doomed: Doomed,
  uid: Json | undefined,
  terminal: Terminal,
): Promise<void> {
  let hasSaid = false;
  for (let pause = 20, waited = 0; ; pause = Math.min(1_000, pause * 1.5)) {
    const { status, body } = await transport.request({ method: 'GET', path: objectPath(doomed.kind, doomed) });
    if (status === 404 || metadataOf(body)['uid'] !== uid) return;
    if (waited > 3_000 && !hasSaid) {
      hasSaid = true;
      terminal.warn(`waiting for ${objectName(doomed.kind, doomed.name)}: ${holders(body)} (--no-wait does not wait)`);
    }
    await sleep(system, pause);
    waited += pause;
  }
}

function holders(object: JsonObject): string {
  const { finalizers } = metadataOf(object);
  return Array.isArray(finalizers) && finalizers.length > 0
    ? `it is held by ${finalizers.join(', ')}`
    : 'it is about to end';
}
