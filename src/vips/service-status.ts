import { Service } from '../api/core/service.ts';
import { equalJson, type JsonObject } from '../api/json.ts';
import type { Client } from '../runtime/client.ts';
import { refOf } from '../runtime/ref.ts';
import { microTimestamp } from '../runtime/timestamp.ts';
import { poolAnnotation } from './applicant.ts';
import { POOL_OF_ADDRESSES } from './wishes.ts';

/** What a Service is told about its addresses. */
export interface Told {
  readonly addresses: readonly string[];
  readonly pool: string;
}

/**
 * Writes the addresses and the pool that they are from, if they are not there yet: under the version of the Service that was
 * looked at, so that nothing is concluded from an old one. Answers whether something was written.
 */
export async function tell(service: Service, { addresses, pool }: Told, client: Client): Promise<boolean> {
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  const said = ingress.map(({ ip, hostname }) => ip ?? hostname ?? '');
  const isSaid = equalJson(said, [...addresses]);
  const annotation = addresses.length === 0 ? undefined : pool;
  if (isSaid && poolAnnotation(service) === annotation) return false;
  const loadBalancer = { ingress: addresses.length === 0 ? null : addresses.map((ip) => ({ ip })) };
  const patch: JsonObject = {
    metadata: {
      resourceVersion: service.metadata.resourceVersion,
      annotations: { [POOL_OF_ADDRESSES]: annotation ?? null },
    },
    ...(isSaid ? {} : { status: { loadBalancer } }),
  };
  const written = await client.patch(Service, refOf(service), { merge: patch }, 'status');
  if (poolAnnotation(written) === annotation) return true;
  // Servers may keep metadata out of writes of the status.
  const { resourceVersion } = written.metadata;
  const annotations = { [POOL_OF_ADDRESSES]: annotation ?? null };
  await client.patch(Service, refOf(service), { merge: { metadata: { resourceVersion, annotations } } });
  return true;
}

/**
 * Changes the Service and nothing that anybody acts on: whoever is about to tell it an address has seen an older version of it then, is
 * refused, and must look again.
 */
export async function withdraw(service: Service, now: number, client: Client): Promise<void> {
  const { resourceVersion } = service.metadata;
  const annotations = { [WITHDRAWN]: microTimestamp(now) };
  await client.patch(Service, refOf(service), { merge: { metadata: { resourceVersion, annotations } } });
}

/** When an address was last withdrawn that was on its way to the Service. */
const WITHDRAWN = 'netloom.io/withdrawn';
