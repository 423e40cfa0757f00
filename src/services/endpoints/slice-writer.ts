import { createHash } from 'node:crypto';
import {
  type EndpointPort,
  EndpointSlice,
  MANAGED_BY,
  SERVICE_NAME,
} from '../../api/discovery.k8s.io/endpoint-slice.ts';
import type { ApiObject } from '../../api/object.ts';
import { ApiError } from '../../api/status.ts';
import type { Cache } from '../../runtime/cache.ts';
import { index } from '../../runtime/cache.ts';
import type { Client } from '../../runtime/client.ts';
import { ownedBy } from '../../runtime/owner.ts';
import { refOf } from '../../runtime/ref.ts';
import type { Group } from './groups.ts';
import { planSlices, type SliceUpdate } from './slice-plan.ts';

export interface SliceOwner {
  /** With it the slices go. */
  readonly owner: ApiObject;
  readonly service: string;
  /** In whose name, so that everybody leaves the slices of others alone. */
  readonly managedBy: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Makes the slices of an owner tell what they should. What is known of them may be old: nothing that somebody changed since is
 * overwritten, and a slice is not made twice, because its name says which one it is.
 * @returns whether everything was as it was known to be
 */
export async function writeSlices(
  about: SliceOwner,
  groups: readonly Group[],
  { client, slices }: { client: Client; slices: Cache<EndpointSlice> },
): Promise<boolean> {
  const found = slicesOf(about, slices);
  const labels = labelsOf(about);
  const plan = planSlices(found, groups);
  const changed = new Set(plan.update.map(({ slice }) => slice));
  const relabelled = found.filter(
    (slice) => !changed.has(slice) && !plan.remove.includes(slice) && !isSame(slice.metadata.labels, labels),
  );
  for (const slice of relabelled)
    await update(client, { slice, ports: slice.ports ?? [], endpoints: slice.endpoints }, labels);
  // What comes is told before what goes: an endpoint that moves is never in none.
  const names = namesOf(about, slices);
  for (const group of plan.create) {
    if (!(await create(client, about, group, labels, names))) return false;
  }
  for (const change of plan.update) await update(client, change, labels);
  for (const { metadata } of plan.remove) {
    const { uid, resourceVersion } = metadata;
    await client.delete(EndpointSlice, refOf({ metadata }), { uid, resourceVersion });
  }
  return true;
}

export const slicesOf = ({ owner, managedBy }: Pick<SliceOwner, 'owner' | 'managedBy'>, slices: Cache<EndpointSlice>) =>
  slices.by(byKeeper, `${managedBy} ${owner.metadata.uid}`);

const byKeeper = index(EndpointSlice, ({ metadata }) => {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  const keeper = metadata.labels?.[MANAGED_BY];
  return owner === undefined || keeper === undefined ? [] : [`${keeper} ${owner.uid}`];
});

const labelsOf = ({ service, managedBy, labels }: SliceOwner): Record<string, string> => ({
  ...labels,
  [SERVICE_NAME]: service,
  [MANAGED_BY]: managedBy,
});

async function update(
  client: Client,
  { slice, ports, endpoints }: SliceUpdate,
  labels: Record<string, string>,
): Promise<void> {
  const metadata = { ...slice.metadata, labels };
  await client.update(EndpointSlice, { ...slice, metadata, ports: [...ports], endpoints: [...endpoints] });
}

/** False when it is there already: news of it are on their way. */
async function create(
  client: Client,
  { owner }: SliceOwner,
  { family, ports, endpoints }: Group,
  labels: Record<string, string>,
  names: Iterator<string, never>,
): Promise<boolean> {
  const namespace = owner.metadata.namespace ?? '';
  const metadata = { name: names.next().value, namespace, labels, ownerReferences: [ownedBy(owner)] };
  const slice = { metadata, addressType: family, ports: [...ports] as EndpointPort[], endpoints: [...endpoints] };
  try {
    await client.create(EndpointSlice, slice);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'AlreadyExists') return false;
    throw error;
  }
}

/** The names that slices of this owner have, one after the other, without those that are taken. */
function* namesOf({ owner, managedBy, service }: SliceOwner, slices: Cache<EndpointSlice>): Generator<string, never> {
  const namespace = owner.metadata.namespace ?? '';
  for (let i = 0; ; i += 1) {
    const digest = createHash('sha256').update(`${owner.metadata.uid} ${managedBy} ${i}`).digest();
    const suffix = [...digest.subarray(0, 5)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
    const name = `${service}-${suffix}`;
    if (slices.get({ namespace, name }) === undefined) yield name;
  }
}

const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

const isSame = (a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>>): boolean =>
  textOf(a) === textOf(b);
const textOf = (labels: Readonly<Record<string, string>>): string => JSON.stringify(Object.entries(labels).sort());
