import { equalJson, type JsonObject } from '../../../api/json.ts';
import { defineBuiltin, type Subresource, statusSubresource } from '../builtin-kind.ts';
import { flagAt, objectMadeAt, objectsAt, optionalNumberAt, specOf, statusOf, textAt } from '../reading.ts';
import { podColumns } from './pod-columns.ts';
import { defaultPod, matchPodIps } from './pod-defaults.ts';
import { qosClassOf } from './pod-qos.ts';
import { validatePod } from './pod-rules.ts';

const of = { group: '', version: 'v1', kind: 'Pod' };

/** A way into a running pod. */
const tunnel = (name: string, options: string): Subresource => ({
  name,
  verbs: ['create', 'get'],
  responseKind: { group: '', version: 'v1', kind: options },
});

export const pods = defineBuiltin({
  ...of,
  plural: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  subresources: [
    tunnel('attach', 'PodAttachOptions'),
    { name: 'binding', verbs: ['create'], responseKind: { group: '', version: 'v1', kind: 'Binding' } },
    { name: 'eviction', verbs: ['create'], responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' } },
    tunnel('exec', 'PodExecOptions'),
    { name: 'log', verbs: ['get'], responseKind: of },
    tunnel('portforward', 'PodPortForwardOptions'),
    statusSubresource(of),
  ],
  qualifiedFinalizers: true,
  columns: podColumns,
  selectableFields: {
    'spec.nodeName': (pod) => textAt(specOf(pod), 'nodeName'),
    'spec.restartPolicy': (pod) => textAt(specOf(pod), 'restartPolicy'),
    'spec.schedulerName': (pod) => textAt(specOf(pod), 'schedulerName'),
    'spec.serviceAccountName': (pod) => textAt(specOf(pod), 'serviceAccountName'),
    'spec.hostNetwork': (pod) => String(flagAt(specOf(pod), 'hostNetwork')),
    'status.phase': (pod) => textAt(statusOf(pod), 'phase'),
    'status.podIP': firstIp,
    'status.podIPs': firstIp,
    'status.nominatedNodeName': (pod) => textAt(statusOf(pod), 'nominatedNodeName'),
  },
  hasGeneration: true,

  defaults(pod) {
    defaultPod(pod);
    matchPodIps(objectMadeAt(pod, 'status'));
  },

  prepare(pod, old) {
    if (old !== undefined) return;
    pod['status'] = { phase: 'Pending', qosClass: qosClassOf(pod) };
    if (objectsAt(specOf(pod), 'schedulingGates').length > 0) pod['status']['conditions'] = [GATED];
  },

  validate: validatePod,
  generationChangesWith: (pod, old) => !equalJson(specOf(pod), specOf(old)),

  gracefulDeletionSeconds(pod) {
    // Nobody runs what is on no node, and what has ended needs no time.
    const phase = textAt(statusOf(pod), 'phase');
    if (textAt(specOf(pod), 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return undefined;
    return optionalNumberAt(specOf(pod), 'terminationGracePeriodSeconds') ?? 0;
  },
});

const GATED = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
};

function firstIp(pod: JsonObject): string {
  return textAt(objectsAt(statusOf(pod), 'podIPs')[0], 'ip');
}
