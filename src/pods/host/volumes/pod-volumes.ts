import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Container, Pod, Volume } from '../../../api/core/pod.ts';
import { NANOS_PER_ONE, parseQuantity } from '../../../api/quantity.ts';
import { mountTmpfs } from '../../../linux/tmpfs.ts';
import { asError } from '../../../runtime/log.ts';
import { absolute, ConfigError } from '../container-spec.ts';
import { expanded, namesIn } from '../env/expansion.ts';
import type { HostParts } from '../host-parts.ts';
import { podLimits } from '../limits.ts';
import { allContainersOf } from '../pod-facts.ts';
import type { Mount } from '../runtime.ts';
import { checkHostPath } from './host-path.ts';
import { isPayload, isSecretive, type Payload, payloadOf, tokensIn } from './payload.ts';
import { writePayload } from './payload-folder.ts';
import { foundToken, requestToken, type Token } from './tokens.ts';
import { VolumeFault } from './volume-fault.ts';
import { makeFolderWithin } from './within.ts';

/** Where a pod is, as its volumes may tell it. */
export interface Surroundings {
  readonly pod: Pod;
  readonly podIPs: readonly string[];
}

/** The volumes of one pod. */
export class PodVolumes {
  readonly #parts: HostParts;
  /** Volume and path in it → the token that is there. */
  readonly #tokens = new Map<string, Token>();

  constructor(parts: HostParts) {
    this.#parts = parts;
  }

  /** When some token is to be replaced, in milliseconds since 1970. */
  get renewAt(): number | undefined {
    const moments = [...this.#tokens.values()].map(({ renewAt }) => renewAt);
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  /** Makes them as they are to be now; rejects with a VolumeFault that names the volume, after all others have been made. */
  async bring(around: Surroundings): Promise<void> {
    const faults: Error[] = [];
    for (const volume of around.pod.spec.volumes ?? []) {
      try {
        await this.#make(around, volume);
      } catch (error) {
        const { message } = asError(error);
        const words = `MountVolume.SetUp failed for volume "${volume.name}" : ${message}`;
        faults.push(error instanceof VolumeFault ? new VolumeFault(words) : new Error(words, { cause: error }));
      }
    }
    // One that may go away by itself is worth trying again soon, whatever the others wait for.
    const worst = faults.find((fault) => !(fault instanceof VolumeFault)) ?? faults[0];
    if (worst !== undefined) throw worst;
  }

  /** Where the volumes are in a container, the upper ones first. */
  mountsOf(pod: Pod, container: Container, lookUp: (name: string) => string | undefined): Mount[] {
    const mounts = (container.volumeMounts ?? []).map((mount): Mount => {
      const volume = pod.spec.volumes?.find(({ name }) => name === mount.name);
      if (volume === undefined) throw new ConfigError(`there is no volume "${mount.name}" in this pod`);
      const source = this.#sourceOf(pod, volume);
      const subPath = subPathOf(mount, lookUp);
      if (subPath !== undefined && !isPayload(volume)) this.#makeSubPath(source, subPath);
      return {
        source,
        ...(subPath === undefined ? {} : { subPath }),
        target: absolute(mount.mountPath),
        kind: 'bind',
        readOnly: mount.readOnly === true || isPayload(volume),
      };
    });
    return mounts.sort((a, b) => depth(a.target) - depth(b.target));
  }

  async #make(around: Surroundings, volume: Volume): Promise<void> {
    const { places } = this.#parts;
    const { uid } = around.pod.metadata;
    const { emptyDir, hostPath, name } = volume;
    if (hostPath !== undefined) return checkHostPath(hostPath);
    const folder = places.volume(uid, name);
    if (emptyDir !== undefined) {
      return makeEmptyDir(folder, emptyDir, groupOf(around.pod), podLimits(around.pod).memoryBytes);
    }
    if (!isPayload(volume)) throw new VolumeFault(unsupported(volume));
    await this.#fetchTokens(around.pod, volume, folder);
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    if (isSecretive(volume)) mountTmpfs(folder, { mode: 0o755, stayInMemory: true });
    const version = new Date(this.#parts.system.now()).toISOString().replace(/[-:.TZ]/g, '_');
    const payload = this.#payloadOf(around, volume);
    writePayload({ folder, payload, version, group: groupOf(around.pod), user: tokenUserOf(around.pod, volume) });
  }

  #payloadOf({ pod, podIPs }: Surroundings, volume: Volume): Payload {
    const { references, hostAddresses, capacity } = this.#parts;
    const namespace = pod.metadata.namespace ?? '';
    const wishes = tokensIn(volume).map(({ path }) => path);
    return payloadOf(
      {
        ...{ pod, podIPs, capacity },
        hostIPs: hostAddresses(),
        configMap: (name) => references.configMap(namespace, name),
        secret: (name) => references.secret(namespace, name),
        tokens: new Map(wishes.map((path) => [path, this.#tokens.get(tokenKey(volume, path))?.text ?? ''])),
        tokenMode: tokenModeOf(pod),
      },
      volume,
    );
  }

  async #fetchTokens(pod: Pod, volume: Volume, folder: string): Promise<void> {
    const { client, system, log } = this.#parts;
    for (const wish of tokensIn(volume)) {
      const key = tokenKey(volume, wish.path);
      const known = this.#tokens.get(key) ?? foundToken(textOf(path.join(folder, wish.path)), pod, wish, system.now());
      if (known !== undefined && known.renewAt > system.now()) {
        this.#tokens.set(key, known);
        continue;
      }
      try {
        this.#tokens.set(key, await requestToken(client, pod, wish, system.now()));
      } catch (error) {
        if (known === undefined) throw error;
        // It is good for a while yet; the API will be there again.
        this.#tokens.set(key, { ...known, renewAt: system.now() + AGAIN });
        log.warn('cannot renew a token; will try again', { volume: volume.name, error: asError(error) });
      }
    }
  }

  #sourceOf(pod: Pod, { name, hostPath }: Volume): string {
    return hostPath?.path ?? this.#parts.places.volume(pod.metadata.uid, name);
  }

  #makeSubPath(source: string, subPath: string): void {
    try {
      makeFolderWithin(source, subPath, statSync(source).mode & 0o7777);
    } catch (error) {
      throw new ConfigError(`failed to prepare subPath "${subPath}": ${asError(error).message}`);
    }
  }
}

/** As it was made it stays: what containers have done to it since is theirs. */
function makeEmptyDir(
  folder: string,
  { medium = '', sizeLimit }: NonNullable<Volume['emptyDir']>,
  group: number | undefined,
  /** What the pod may have of memory: it could not have more of it in a volume. */
  memoryBytes = Number.POSITIVE_INFINITY,
): void {
  const mode = group === undefined ? 0o777 : 0o2777;
  const limit = parseQuantity(sizeLimit)?.nanos ?? 0n;
  if (medium === 'Memory') {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    const sizeBytes = Math.min(memoryBytes, limit > 0n ? Number(limit / NANOS_PER_ONE) : Number.POSITIVE_INFINITY);
    const size = Number.isFinite(sizeBytes) ? { sizeBytes } : {};
    mountTmpfs(folder, { mode, ...size, ...(group === undefined ? {} : { group }) });
    return;
  }
  if (medium !== '') {
    throw new VolumeFault(`an emptyDir of medium "${medium}" cannot be had here: leave it out, or use "Memory"`);
  }
  if (existsSync(folder)) return;
  const unfinished = `${folder}~`;
  mkdirSync(unfinished, { recursive: true });
  if (group !== undefined) chownSync(unfinished, 0, group);
  chmodSync(unfinished, mode);
  renameSync(unfinished, folder);
}

function unsupported(volume: Volume): string {
  const kind = Object.keys(volume).find((key) => key !== 'name') ?? 'nothing';
  return `this host has no volumes of kind ${kind}: use emptyDir, hostPath, configMap, secret, projected or downwardAPI`;
}

function subPathOf(
  { name, subPath = '', subPathExpr = '' }: NonNullable<Container['volumeMounts']>[number],
  lookUp: (name: string) => string | undefined,
): string | undefined {
  const missing = namesIn(subPathExpr).find((each) => lookUp(each) === undefined);
  if (missing !== undefined) throw new ConfigError(`subPathExpr of volume ${name}: there is no variable ${missing}`);
  const wanted = subPathExpr === '' ? subPath : expanded(subPathExpr, lookUp);
  if (wanted === '') return undefined;
  if (wanted.startsWith('/')) throw new ConfigError(`subPath "${wanted}" must not be an absolute path`);
  if (wanted.split('/').includes('..')) throw new ConfigError(`subPath "${wanted}" must not contain '..'`);
  return wanted;
}

const AGAIN = 30_000;
const depth = (target: string): number => target.split('/').filter(Boolean).length;
const tokenKey = ({ name }: Volume, file: string): string => `${name}/${file}`;
const groupOf = ({ spec }: Pod): number | undefined => spec.securityContext?.fsGroup;

/** Where all containers run as one user, a token is readable to that user alone. */
function onlyUserOf(pod: Pod): number | undefined {
  const users = new Set(
    allContainersOf(pod).map(
      ({ securityContext }) => securityContext?.runAsUser ?? pod.spec.securityContext?.runAsUser,
    ),
  );
  const [user] = users;
  return users.size === 1 && groupOf(pod) === undefined ? user : undefined;
}

const tokenUserOf = (pod: Pod, volume: Volume): number | undefined =>
  tokensIn(volume).length === 0 ? undefined : onlyUserOf(pod);

const tokenModeOf = (pod: Pod): number | undefined =>
  groupOf(pod) !== undefined || onlyUserOf(pod) !== undefined ? 0o600 : undefined;

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
