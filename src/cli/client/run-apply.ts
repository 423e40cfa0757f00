import { equalJson, type JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import { ApiError } from '../../api/status.ts';
import { objectPath, query } from '../../runtime/paths.ts';
import { refusal } from '../../runtime/refusal.ts';
import type { Terminal } from '../command.ts';
import { UsageError } from '../command.ts';
import { type Api, type ConnectionOptions, connect } from './connection.ts';
import { type Manifest, readManifests } from './manifests.ts';
import { objectName, type ServedKind, ServedKinds } from './resources.ts';

export interface ApplyOptions extends ConnectionOptions {
  readonly filename: readonly string[];
  readonly force: boolean;
  readonly 'dry-run': boolean;
}

/** Applies everything, whatever becomes of a single object; the exit code says whether all went well. */
export async function applyManifests(options: ApplyOptions, terminal: Terminal): Promise<number> {
  if (options.filename.length === 0)
    throw new UsageError('apply needs to know what to apply: -f FILE, -f FOLDER or -f -');
  const manifests = await readManifests(options.filename);
  const api = await connect(options);
  let kinds = await ServedKinds.discover(api.transport);
  let failures = 0;
  for (const manifest of manifests) {
    try {
      // A definition a few documents earlier may have brought the kind.
      if (kinds.of(manifest.apiVersion, manifest.kind) === undefined) kinds = await ServedKinds.discover(api.transport);
      const kind = requireKind(kinds, manifest);
      const result = await applyOne(api, kind, manifest, options, terminal);
      terminal.print(`${objectName(kind, manifest.name)} ${result}${options['dry-run'] ? ' (dry run)' : ''}`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failures += 1;
      terminal.warn(`${manifest.source}: ${error.message}${advice(error)}`);
    }
  }
  return failures === 0 ? 0 : 1;
}

async function applyOne(
  { transport, namespace }: Api,
  kind: ServedKind,
  manifest: Manifest,
  options: ApplyOptions,
  terminal: Terminal,
): Promise<string> {
  const place = placeOf(kind, manifest, namespace);
  const before = await transport.request({ method: 'GET', path: objectPath(kind, place) });
  const parameters = query({
    fieldManager: 'netloom-cli',
    fieldValidation: 'Strict',
    force: options.force,
    dryRun: options['dry-run'] ? 'All' : undefined,
  });
  const answer = await transport.request({
    method: 'PATCH',
    path: objectPath(kind, place) + parameters,
    body: cleaned(manifest.object),
    contentType: 'application/apply-patch+yaml',
  });
  for (const warning of answer.warnings) terminal.warn(`Warning: ${warning}`);
  if (answer.status >= 400) throw refusal(answer.status, answer.body);
  if (answer.status === 201) return 'created';
  return equalJson(substance(before.body), substance(answer.body)) ? 'unchanged' : 'changed';
}

/** What only servers write does not belong into what is applied; exported objects carry it. */
function cleaned(object: JsonObject): JsonObject {
  const { status: _, ...rest } = object;
  const metadata = { ...metadataOf(object) };
  for (const field of ['managedFields', 'resourceVersion', 'uid', 'creationTimestamp', 'generation'])
    delete metadata[field];
  return { ...rest, metadata };
}

export function requireKind(kinds: ServedKinds, { apiVersion, kind }: Manifest): ServedKind {
  const found = kinds.of(apiVersion, kind);
  if (found !== undefined) return found;
  throw new ApiError(404, 'NotFound', `the server knows no ${kind} of ${apiVersion}`);
}

export const placeOf = (
  kind: ServedKind,
  manifest: Manifest,
  namespace: string,
): { namespace: string; name: string } => ({
  namespace: kind.namespaced ? manifest.namespace || namespace : '',
  name: manifest.name,
});

/** What an object says, without its status: controllers write that at any moment, and with it the version. */
function substance(object: JsonObject): JsonObject {
  const { status: _, ...rest } = object;
  const { resourceVersion: __, managedFields: ___, ...metadata } = metadataOf(object);
  return { ...rest, metadata };
}

const advice = (error: ApiError): string =>
  error.status.details?.causes?.some(({ reason }) => reason === 'FieldManagerConflict')
    ? '\nLeave those fields out, or take them over with --force.'
    : '';
