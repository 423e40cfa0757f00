import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { isJsonObject, type JsonObject } from '../../api/json.ts';
import { CommandError } from '../command.ts';

/** An object as somebody wrote it down, and where. */
export interface Manifest {
  readonly source: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Empty when the manifest names none. */
  readonly namespace: string;
  readonly object: JsonObject;
}

/** The objects in files, in folders (their .yaml, .yml and .json files by name) and, as `-`, on standard input. */
export async function readManifests(paths: readonly string[]): Promise<Manifest[]> {
  const manifests: Manifest[] = [];
  for (const path of paths) {
    for (const file of await filesAt(path)) manifests.push(...objectsIn(file.source, file.text));
  }
  if (manifests.length === 0) throw new CommandError(`there are no objects in ${paths.join(', ')}`);
  return manifests;
}

async function filesAt(path: string): Promise<{ source: string; text: string }[]> {
  if (path === '-') return [{ source: 'standard input', text: await standardInput() }];
  try {
    if (!(await stat(path)).isDirectory()) return [{ source: path, text: await readFile(path, 'utf8') }];
    const names = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
    return await Promise.all(
      names.map(async (name) => ({ source: join(path, name), text: await readFile(join(path, name), 'utf8') })),
    );
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function standardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function objectsIn(source: string, text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new CommandError(`${source}: ${error.message}`);
    const value: unknown = document.toJS();
    return value === null || value === undefined ? [] : flattened(source, value);
  });
}

/** A List stands for its items. */
function flattened(source: string, value: unknown): Manifest[] {
  if (!isJsonObject(value))
    throw new CommandError(`${source}: every document must be an object, with apiVersion and kind`);
  const { apiVersion, kind, metadata, items } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw new CommandError(`${source}: an object needs apiVersion and kind`);
  }
  if (kind.endsWith('List') && Array.isArray(items)) return items.flatMap((item) => flattened(source, item));
  const { name, namespace } = isJsonObject(metadata) ? metadata : {};
  if (typeof name !== 'string' || name === '') throw new CommandError(`${source}: ${kind} needs a metadata.name`);
  return [{ source, apiVersion, kind, name, namespace: typeof namespace === 'string' ? namespace : '', object: value }];
}
