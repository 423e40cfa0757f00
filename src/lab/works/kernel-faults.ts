import type { KernelFeature } from '../../linux/kernel-features.ts';
import type { LabDocument } from '../document/lab-document.ts';
import type { Fault } from '../document/written.ts';

/** What a document asks for that this kernel cannot do, and nothing of ours can do in its place. */
export function kernelFaults(document: LabDocument, features: ReadonlyMap<KernelFeature, boolean>): Fault[] {
  const links = [...document.hosts.flatMap(({ links: own = [] }) => own), ...document.cables];
  if (features.get('netem') !== false) return [];
  return links
    .filter(({ delayMs }) => delayMs !== undefined)
    .map(({ at, delayMs }) => ({
      ...at,
      sentence: `a delay of ${delayMs} ms is not to be had: this kernel was built without netem (CONFIG_NET_SCH_NETEM), which holds frames back; leave the delay out`,
    }));
}
