import type { Admission } from '../api/admission.ts';
import { isJsonObject } from '../api/json.ts';
import { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import { invalid } from '../api/status.ts';
import { localServices } from './options.ts';

export const dnsMasqAdmission: Admission = {
  kind: DNSMasq,
  operations: ['CREATE', 'UPDATE'],

  /** What would be so anyway is written down, for people to see. */
  mutate({ object, namespace }) {
    const spec: unknown = object !== undefined && 'spec' in object ? object.spec : undefined;
    if (!isJsonObject(spec) || object?.metadata.deletionTimestamp !== undefined) return;
    const options = spec['options'] ?? [];
    if (!Array.isArray(options)) return;
    const isSet = options.some((option) => isJsonObject(option) && option['key'] === 'local');
    if (!isSet) spec['options'] = [...options, { ...localServices(namespace) }];
  },

  validate({ object, namespace, name }) {
    const spec: unknown = object !== undefined && 'spec' in object ? object.spec : undefined;
    const topology =
      isJsonObject(spec) && isJsonObject(spec['topologyRef']) ? spec['topologyRef']['namespace'] : undefined;
    if (typeof topology === 'string' && topology !== '' && topology !== namespace) {
      throw invalid(DNSMasq, name, [
        {
          type: 'Invalid',
          field: 'spec.topologyRef.namespace',
          value: topology,
          detail: `a Topology of another namespace cannot be used: leave it out or write ${namespace}`,
        },
      ]);
    }
    return undefined;
  },
};
