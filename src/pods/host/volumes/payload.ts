import type { ConfigMap, Secret } from '../../../api/core/config.ts';
import type { DownwardFile, KeyToPath, ProjectedSource, Volume } from '../../../api/core/pod.ts';
import { type DownwardSource, fieldValue, resourceValue } from '../env/downward.ts';
import { VolumeFault } from './volume-fault.ts';

/** Path in the volume → what is there. */
export type Payload = ReadonlyMap<string, PayloadFile>;

export interface PayloadFile {
  readonly data: Buffer;
  readonly mode: number;
}

export interface TokenWish {
  readonly path: string;
  readonly audience: string | undefined;
  readonly expirationSeconds: number;
}

export interface PayloadSource extends DownwardSource {
  readonly configMap: (name: string) => ConfigMap | undefined;
  readonly secret: (name: string) => Secret | undefined;
  /** By where they are in the volume. */
  readonly tokens: ReadonlyMap<string, string>;
  /** What tokens are made readable to when it is not everybody. */
  readonly tokenMode: number | undefined;
}

const USUAL_MODE = 0o644;
const HOUR = 3600;

/** Whether a volume is made of objects of the API. */
export const isPayload = ({ configMap, secret, projected, downwardAPI }: Volume): boolean =>
  configMap !== undefined || secret !== undefined || projected !== undefined || downwardAPI !== undefined;

export const isSecretive = ({ secret, projected }: Volume): boolean =>
  secret !== undefined ||
  (projected?.sources ?? []).some((source) => source.secret !== undefined || source.serviceAccountToken !== undefined);

export const tokensIn = ({ projected }: Volume): TokenWish[] =>
  (projected?.sources ?? []).flatMap(({ serviceAccountToken }) => {
    if (serviceAccountToken === undefined) return [];
    const { path, audience, expirationSeconds = HOUR } = serviceAccountToken;
    return [{ path, audience: audience === '' ? undefined : audience, expirationSeconds }];
  });

/** The files of a volume; throws a VolumeFault that says what is missing or may not be. */
export function payloadOf(source: PayloadSource, volume: Volume): Payload {
  const { configMap, secret, downwardAPI, projected } = volume;
  const defaultMode = (configMap ?? secret ?? downwardAPI ?? projected)?.defaultMode ?? USUAL_MODE;
  const payload = new Map<string, PayloadFile>();
  const add = (files: readonly (readonly [string, PayloadFile])[]): void => {
    for (const [path, file] of files) payload.set(checked(path), file);
  };
  if (configMap !== undefined) add(ofConfigMap(source, configMap, defaultMode));
  if (secret !== undefined) add(ofSecret(source, { ...secret, name: secret.secretName ?? '' }, defaultMode));
  if (downwardAPI !== undefined) add(ofPod(source, downwardAPI.items, defaultMode));
  for (const each of projected?.sources ?? []) add(projectedFiles(source, each, defaultMode));
  return payload;
}

type Files = (readonly [path: string, file: PayloadFile])[];

function projectedFiles(source: PayloadSource, projection: ProjectedSource, mode: number): Files {
  const { configMap, secret, downwardAPI, serviceAccountToken } = projection;
  if (configMap !== undefined) return ofConfigMap(source, configMap, mode);
  if (secret !== undefined) return ofSecret(source, secret, mode);
  if (downwardAPI !== undefined) return ofPod(source, downwardAPI.items, mode);
  if (serviceAccountToken === undefined) {
    const [kind = 'nothing'] = Object.keys(projection);
    throw new VolumeFault(`a projected volume cannot be made of ${kind} here`);
  }
  const { path } = serviceAccountToken;
  const token = source.tokens.get(path);
  if (token === undefined) throw new VolumeFault(`there is no token for ${path} yet`);
  return [[path, { data: Buffer.from(token), mode: source.tokenMode ?? mode }]];
}

interface ObjectRef {
  readonly name?: string;
  readonly optional?: boolean;
  readonly items?: readonly KeyToPath[];
}

function ofConfigMap(source: PayloadSource, ref: ObjectRef, mode: number): Files {
  const found = source.configMap(ref.name ?? '');
  if (found === undefined) return absent('configmap', ref);
  const contents = new Map([
    ...Object.entries(found.data ?? {}).map(([key, text]) => [key, Buffer.from(text)] as const),
    ...Object.entries(found.binaryData ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const),
  ]);
  return chosen(contents, ref, mode, 'config');
}

function ofSecret(source: PayloadSource, ref: ObjectRef, mode: number): Files {
  const found = source.secret(ref.name ?? '');
  if (found === undefined) return absent('secret', ref);
  const entries = Object.entries(found.data ?? {});
  return chosen(new Map(entries.map(([key, text]) => [key, Buffer.from(text, 'base64')])), ref, mode, 'secret');
}

function absent(kind: string, { name = '', optional = false }: ObjectRef): Files {
  if (optional) return [];
  throw new VolumeFault(`${kind} "${name}" not found`);
}

/** All keys, or those that are listed, where the list says. */
function chosen(
  contents: ReadonlyMap<string, Buffer>,
  { items = [], optional = false }: ObjectRef,
  mode: number,
  kind: string,
): Files {
  if (items.length === 0) return [...contents].map(([key, data]) => [key, { data, mode }]);
  return items.flatMap(({ key, path, mode: own = mode }): Files => {
    const data = contents.get(key);
    if (data !== undefined) return [[path, { data, mode: own }]];
    if (optional) return [];
    throw new VolumeFault(`references non-existent ${kind} key: ${key}`);
  });
}

function ofPod(source: PayloadSource, items: readonly DownwardFile[] = [], mode: number): Files {
  return items.map(({ path, fieldRef, resourceFieldRef, mode: own = mode }) => {
    const value =
      fieldRef === undefined
        ? resourceFieldRef && resourceValue(source, undefined, resourceFieldRef)
        : fieldValue(source, fieldRef.fieldPath);
    if (value === undefined) {
      throw new VolumeFault(`there is no ${fieldRef?.fieldPath ?? resourceFieldRef?.resource ?? 'field'} for ${path}`);
    }
    return [path, { data: Buffer.from(value), mode: own }];
  });
}

/** The API lets no such path through; what it would do here is too bad to rely on that. */
function checked(path: string): string {
  const parts = path.split('/');
  const isOutside = parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'));
  if (isOutside || path.startsWith('..')) {
    throw new VolumeFault(`"${path}" is no path in a volume: it must stay inside and not begin with ".."`);
  }
  return path;
}
