import type { Admission, AdmissionRequest } from '../api/admission.ts';
import { Deployment, type PodTemplate, ReplicaSet, StatefulSet } from '../api/apps/workloads.ts';
import { Pod, type PodSpec, type Toleration } from '../api/core/pod.ts';
import type { ApiObject } from '../api/object.ts';
import { imageWarnings } from './images.ts';

const LOST_NODE = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/**
 * For how long a pod stays on a node that is lost, unless it says so itself. Kubernetes waits five minutes; where we run the pods
 * ourselves a lost host is replaced within seconds.
 */
export const podsAdmission = ({ evictAfterSeconds }: { evictAfterSeconds: number }): Admission[] => [
  {
    kind: Pod,
    operations: ['CREATE'],
    mutate: ({ object }) => {
      if (object === undefined || !isPod(object)) return;
      const tolerations = object.spec.tolerations ?? [];
      const missing = LOST_NODE.filter((key) => !tolerations.some((toleration) => speaksOf(toleration, key)));
      if (missing.length === 0) return;
      object.spec.tolerations = [
        ...tolerations,
        ...missing.map((key): Toleration => {
          return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: evictAfterSeconds };
        }),
      ];
    },
    // Controllers have no ears: who wrote the template has heard it.
    validate: ({ object }) =>
      object !== undefined && isPod(object) && !isControlled(object) ? imageWarnings(object.spec, 'spec') : [],
  },
  ...[Deployment, StatefulSet, ReplicaSet].map((kind): Admission => {
    return { kind, operations: ['CREATE', 'UPDATE'], validate: warnOfTemplate };
  }),
];

/** Once for each thing that is new: not each time that something else is changed. */
function warnOfTemplate({ object, oldObject }: AdmissionRequest): string[] {
  const [now = [], before = []] = [object, oldObject].map((each) => {
    const spec = templateOf(each);
    return spec === undefined ? [] : imageWarnings(spec, 'spec.template.spec');
  });
  return object !== undefined && isControlled(object) ? [] : now.filter((warning) => !before.includes(warning));
}

const isControlled = ({ metadata }: ApiObject): boolean =>
  metadata.ownerReferences?.some(({ controller }) => controller === true) ?? false;

function templateOf(object: object | undefined): PodSpec | undefined {
  if (object === undefined || !('spec' in object)) return undefined;
  const { template } = object.spec as { template?: PodTemplate };
  return template?.spec;
}

const isPod = (object: object): object is Pod => 'spec' in object && typeof object.spec === 'object';

const speaksOf = ({ key = '', effect = '' }: Toleration, taint: string): boolean =>
  (key === taint || key === '') && (effect === '' || effect === 'NoExecute');
