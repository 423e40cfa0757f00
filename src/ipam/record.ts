import { Address } from '../api/address.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import { sameName } from '../api/network.openstack.org/shapes.ts';
import { ApiError, modified } from '../api/status.ts';
import type { Client } from '../runtime/client.ts';
import { removeFinalizers } from '../runtime/finalizers.ts';
import { refOf } from '../runtime/ref.ts';
import type { Allotment } from './allocator.ts';
import type { Environment } from './environment.ts';
import { requireLoss } from './on-record.ts';
import { addressesIn, FINALIZERS, isFor, isWritten, reservationFor } from './reservation.ts';

/** What has been decided about an IPSet. */
export interface Decided extends Pick<Allotment, 'reserved' | 'undecided' | 'surplus'> {
  readonly ipSet: IPSet;
  /** The Reservation of its name. */
  readonly reservation: Reservation | undefined;
}

/** Writes what an IPSet has into its Reservation. Of two that try at once only one comes through: what it says counts. */
export async function record(decided: Decided, client: Client): Promise<void> {
  const { ipSet, reserved, reservation: before } = decided;
  if (before === undefined && reserved.length === 0) return;
  const draft = reservationFor(ipSet, decided, before);
  if (before === undefined) {
    try {
      await client.create(Reservation, draft);
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
      // Perhaps by ourselves, a moment ago.
      const found = await client.get(Reservation, draft.metadata.name, draft.metadata.namespace);
      if (found !== undefined && isWritten(reservationFor(ipSet, decided, found), found)) return;
      throw modified(Reservation, draft.metadata.name);
    }
  } else if (before.metadata.deletionTimestamp !== undefined) {
    // Somebody deleted it. Once it is gone we are woken, and write it anew from the ledger.
    await removeFinalizers(client, Reservation, before, FINALIZERS);
  } else if (!isWritten(draft, before)) {
    await requireNewest(ipSet, client);
    await client.update(Reservation, {
      ...before,
      metadata: { ...before.metadata, ...draft.metadata },
      spec: draft.spec,
    });
  }
}

/**
 * What is written down changes rarely, and only in the name of the newest version of the IPSet: somebody with an old one
 * would take out what others have just put in, and with it the promise of an address.
 */
async function requireNewest({ metadata: { name, namespace, uid, generation } }: IPSet, client: Client): Promise<void> {
  const newest = await client.get(IPSet, name, namespace);
  if (newest?.metadata.uid !== uid || newest.metadata.generation !== generation) throw modified(IPSet, name);
}

/** Before an IPSet is told that it lost something: what is promised to it is written down at the server, and must be somebody else's. */
export async function requireThatLost({ ipSet, reserved }: Decided, client: Client): Promise<void> {
  const { name, namespace } = ipSet.metadata;
  const found = await client.get(Reservation, name, namespace);
  if (found === undefined || !isFor(found, ipSet)) return;
  const lost = Object.values(found.spec.reservation).filter(
    (entry) =>
      !reserved.some(({ address }) => Address.parse(entry.address)?.equals(address)) &&
      ipSet.spec.networks.some((request) => sameName(request.name, entry.network)),
  );
  for (const { address: promised, network } of lost) {
    const kept = reserved.filter(({ subnet }) => sameName(network, subnet.network.name));
    await requireLoss({ promised, kept: kept.map(({ address }) => address) }, ipSet.metadata, client);
  }
}

/** Gives back what the IPSet does not ask for, having made sure with the server that this is so. */
export async function releaseSurplus(
  { ipSet, surplus }: Decided,
  { ledger, space, coolDown }: Environment,
  client: Client,
): Promise<void> {
  if (surplus.length === 0) return;
  const { name, namespace = '' } = ipSet.metadata;
  const [newest, reservation] = await Promise.all([
    client.get(IPSet, name, namespace),
    client.get(Reservation, name, namespace),
  ]);
  const { uid, generation } = ipSet.metadata;
  if (newest?.metadata.uid !== uid || newest.metadata.generation !== generation) return;
  const named = reservation === undefined ? new Set() : addressesIn(reservation);
  await ledger.release(
    space,
    surplus.filter(({ address }) => !named.has(address.toString())),
    { coolDown },
  );
}

/** Takes away everything that says that the IPSet has addresses; what they are freed by comes last. */
export async function releaseAll(
  ipSet: IPSet,
  reservation: Reservation | undefined,
  { ledger, space, coolDown }: Environment,
  client: Client,
): Promise<void> {
  const { name, namespace = '', uid } = ipSet.metadata;
  const found = reservation ?? (await client.get(Reservation, name, namespace));
  if (found !== undefined && isFor(found, ipSet)) {
    await removeFinalizers(client, Reservation, found, FINALIZERS);
    await client.delete(Reservation, refOf(found), { uid: found.metadata.uid });
  }
  await ledger.release(space, space.heldBy(uid), { coolDown });
}
