import { ReplicaSet } from '../../api/apps/workloads.ts';
import { Pod } from '../../api/core/pod.ts';
import { byController } from './selecting.ts';

export const podsByController = byController(Pod);
export const replicaSetsByController = byController(ReplicaSet);
