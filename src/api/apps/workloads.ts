import type { Condition } from '../condition.ts';
import type { PodSpec } from '../core/pod.ts';
import type { JsonObject } from '../json.ts';
import { builtinKind } from '../kind.ts';
import type { ApiObject } from '../object.ts';
import type { LabelSelector } from '../selector.ts';

/** What Netloom reads and writes of the workload kinds of `apps/v1`. */
export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: PodSpec;
}

export const Deployment = builtinKind<Deployment>('apps', 'v1', 'Deployment', 'deployments');
export interface Deployment extends ApiObject {
  spec: {
    replicas?: number;
    selector: LabelSelector;
    template: PodTemplate;
    strategy?: {
      type?: 'RollingUpdate' | 'Recreate';
      rollingUpdate?: { maxSurge?: number | string; maxUnavailable?: number | string };
    };
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
    progressDeadlineSeconds?: number;
    paused?: boolean;
  };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    updatedReplicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    unavailableReplicas?: number;
    conditions?: (Condition & { lastUpdateTime?: string })[];
    collisionCount?: number;
  };
}

export const ReplicaSet = builtinKind<ReplicaSet>('apps', 'v1', 'ReplicaSet', 'replicasets');
export interface ReplicaSet extends ApiObject {
  spec: { replicas?: number; selector: LabelSelector; template?: PodTemplate; minReadySeconds?: number };
  status?: {
    replicas: number;
    fullyLabeledReplicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    observedGeneration?: number;
    conditions?: Condition[];
  };
}

export const StatefulSet = builtinKind<StatefulSet>('apps', 'v1', 'StatefulSet', 'statefulsets');
export interface StatefulSet extends ApiObject {
  spec: {
    replicas?: number;
    selector: LabelSelector;
    template: PodTemplate;
    serviceName?: string;
    volumeClaimTemplates?: { metadata?: { name?: string } }[];
    podManagementPolicy?: 'OrderedReady' | 'Parallel';
    updateStrategy?: { type?: 'RollingUpdate' | 'OnDelete'; rollingUpdate?: { partition?: number } };
    revisionHistoryLimit?: number;
    minReadySeconds?: number;
    ordinals?: { start?: number };
  };
  status?: {
    observedGeneration?: number;
    replicas: number;
    readyReplicas?: number;
    currentReplicas?: number;
    updatedReplicas?: number;
    availableReplicas?: number;
    currentRevision?: string;
    updateRevision?: string;
    collisionCount?: number;
    conditions?: Condition[];
  };
}

/** A former or present template of a StatefulSet or DaemonSet, as a patch that brings it back. */
export const ControllerRevision = builtinKind<ControllerRevision>(
  'apps',
  'v1',
  'ControllerRevision',
  'controllerrevisions',
);
export interface ControllerRevision extends ApiObject {
  data: JsonObject;
  revision: number;
}
