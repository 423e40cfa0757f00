import type { Admission } from '../api/admission.ts';
import { Pod, type Toleration } from '../api/core/pod.ts';

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
  },
];

const isPod = (object: object): object is Pod => 'spec' in object && typeof object.spec === 'object';

const speaksOf = ({ key = '', effect = '' }: Toleration, taint: string): boolean =>
  (key === taint || key === '') && (effect === '' || effect === 'NoExecute');
