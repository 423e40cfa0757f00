import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Container, Pod } from '../../api/core/pod.ts';
import { absolute } from './container-spec.ts';
import type { Places } from './places.ts';
import { ETC_FILES } from './pod-sandbox.ts';
import type { Mount } from './runtime.ts';

/** What every container finds in its place that comes from no volume. What a volume has there goes first. */
export function ownMounts(
  places: Places,
  pod: Pod,
  container: Container,
  attempt: number,
  taken: ReadonlySet<string>,
): Mount[] {
  const { uid } = pod.metadata;
  const { terminationMessagePath = '/dev/termination-log' } = container;
  const message = places.terminationMessage(uid, container.name, attempt);
  const files = ETC_FILES.map(([target, name]) => ({ target, source: places.file(uid, name) }));
  return [...files, { target: absolute(terminationMessagePath), source: message }]
    .filter(({ target }) => !taken.has(target))
    .map(({ target, source }) => ({ source, target, kind: 'bind', readOnly: false }));
}

/** Every user that the container may run as can write it. */
export function makeTerminationMessage(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
  writeFileSync(file, '', { flag: 'a' });
  chmodSync(file, 0o666);
}
