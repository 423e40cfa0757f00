import { DNSData } from '../api/network.openstack.org/dnsdata.ts';
import type { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import type { ApiObject } from '../api/object.ts';
import type { Context } from '../runtime/controller.ts';
import type { Ref } from '../runtime/ref.ts';
import { labelsOf } from './names.ts';

/**
 * Whose an object is that has the name of one we would write; undefined when there is none, or when it is ours. Without this, the
 * name of a DNSData could be chosen so that something else of its namespace is overwritten.
 */
export function somebodyElses(owner: ApiObject, found: ApiObject | undefined): string | undefined {
  if (found === undefined) return undefined;
  const controller = found.metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (controller?.uid === owner.metadata.uid) return undefined;
  if (controller !== undefined && !(controller.kind === owner.kind && controller.name === owner.metadata.name)) {
    return `belongs to ${controller.kind} ${controller.name}: give one of the two another name`;
  }
  // What a former object of the same name left behind may be taken over.
  const labels = found.metadata.labels ?? {};
  const { 'dnsmasq.openstack.org/name': name } = labelsOf(owner);
  if (controller !== undefined || labels['dnsmasq.openstack.org/name'] === name) return undefined;
  return 'is there already and is not ours: delete it, or choose another name';
}

/** Whether the DNSData that we would write for a DNSMasq is somebody else's, who is told so. */
export function isTaken(dnsMasq: DNSMasq, ref: Ref, { caches, events }: Pick<Context, 'caches' | 'events'>): boolean {
  const holder = somebodyElses(dnsMasq, caches.of(DNSData).get(ref));
  if (holder === undefined) return false;
  events.warning(dnsMasq, 'NamesNotServed', `DNSData ${ref.name} ${holder}`);
  return true;
}
