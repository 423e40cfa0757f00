import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '../../../api/json.ts';
import { fieldMessage } from '../../../api/status.ts';
import { applyDefaults } from '../../schema/defaults.ts';
import type { BuiltinKind } from '../builtin-kind.ts';
import { endpoints } from '../core/endpoints.ts';
import { endpointSlices } from '../discovery/endpoint-slice.ts';
import { podDisruptionBudgets } from '../policy/pod-disruption-budget.ts';
import { metadataOf, objectMadeAt, specOf, statusOf } from '../reading.ts';
import { priorityClasses } from '../scheduling/priority-class.ts';
import { controllerRevisions } from './controller-revision.ts';
import { daemonSets } from './daemon-set.ts';
import { replicaSets } from './replica-set.ts';
import { statefulSets } from './stateful-set.ts';

const workload = (spec: JsonObject = {}): JsonObject => ({
  metadata: { name: 'w' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x:1' }] } },
    ...spec,
  },
});

/** A new object as it would be stored. */
function made(kind: BuiltinKind, object: JsonObject): JsonObject {
  applyDefaults(object, kind.schema);
  kind.defaults(object);
  kind.prepare(object, undefined);
  return object;
}

const faults = (kind: BuiltinKind, object: JsonObject, old?: JsonObject): string[] =>
  kind.validate(made(kind, object), old).map((fault) => `${fault.field}: ${fieldMessage(fault)}`);

const cells = (kind: BuiltinKind, object: JsonObject): Record<string, Json> =>
  Object.fromEntries(kind.columns.map((column) => [column.name, column.cell(object, new Date(0))]));

describe('ReplicaSets', () => {
  it('have one pod and a status from the start', () => {
    const set = made(replicaSets, workload());
    assert.equal(specOf(set)['replicas'], 1);
    assert.deepEqual(set['status'], { replicas: 0 });
    assert.deepEqual(replicaSets.validate(set, undefined), []);
  });

  it('keep their selector, and report no more ready pods than there are', () => {
    const set = made(replicaSets, workload());
    assert.deepEqual(faults(replicaSets, workload({ selector: { matchLabels: { a: 'c' } } }), set), [
      'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
      'spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable',
    ]);
    const wrong = structuredClone(set);
    wrong['status'] = { replicas: 1, readyReplicas: 2 };
    assert.deepEqual(
      replicaSets.validate(wrong, set).map(({ field, detail }) => `${field} ${detail}`),
      ['status.readyReplicas cannot be greater than status.replicas'],
    );
  });

  it('are shown with their numbers', () => {
    const set = made(replicaSets, workload({ replicas: 3 }));
    set['status'] = { replicas: 2, readyReplicas: 1 };
    const { Desired, Current, Ready, Containers, Images, Selector } = cells(replicaSets, set);
    assert.deepEqual([Desired, Current, Ready, Containers, Images, Selector], [3, 2, 1, 'c', 'x:1', 'a=b']);
  });
});

describe('StatefulSets', () => {
  it('are ordered and updated one by one, unless they say otherwise', () => {
    const set = made(statefulSets, workload({ serviceName: 's' }));
    const { podManagementPolicy, updateStrategy, replicas, revisionHistoryLimit } = specOf(set);
    assert.deepEqual(updateStrategy, { type: 'RollingUpdate', rollingUpdate: { partition: 0 } });
    assert.deepEqual([podManagementPolicy, replicas, revisionHistoryLimit], ['OrderedReady', 1, 10]);
    assert.deepEqual(set['status'], { replicas: 0, availableReplicas: 0 });
    assert.deepEqual(statefulSets.validate(set, undefined), []);
    assert.equal(cells(statefulSets, set)['Ready'], '0/1');
  });

  it('keep what their pods are known by', () => {
    const set = made(statefulSets, workload({ serviceName: 's' }));
    assert.deepEqual(faults(statefulSets, workload({ serviceName: 's', replicas: 5, minReadySeconds: 3 }), set), []);
    assert.deepEqual(faults(statefulSets, workload({ serviceName: 'other' }), set), [
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ]);
  });

  it('refuse policies that nobody knows', () => {
    assert.deepEqual(
      faults(
        statefulSets,
        workload({ podManagementPolicy: 'Any', updateStrategy: { type: 'OnDelete', rollingUpdate: {} } }),
      ),
      [
        "spec.podManagementPolicy: Invalid value: \"Any\": must be 'OrderedReady' or 'Parallel'",
        "spec.updateStrategy.rollingUpdate: Invalid value: {}: only allowed for updateStrategy 'RollingUpdate'",
      ],
    );
  });
});

describe('DaemonSets', () => {
  it('count their templates in an annotation', () => {
    const set = made(daemonSets, workload());
    const generation = (of: JsonObject) => objectMadeAt(metadataOf(of), 'annotations');
    assert.deepEqual(generation(set), { 'deprecated.daemonset.template.generation': '1' });
    const same = structuredClone(set);
    daemonSets.prepare(same, set);
    assert.deepEqual(generation(same), generation(set));
    const other = structuredClone(set);
    objectMadeAt(specOf(other), 'template')['metadata'] = { labels: { a: 'b', c: 'd' } };
    daemonSets.prepare(other, set);
    assert.deepEqual(generation(other), { 'deprecated.daemonset.template.generation': '2' });
  });

  it('are updated one node at a time, with a pod too few or one too many', () => {
    const set = made(daemonSets, workload());
    assert.deepEqual(specOf(set)['updateStrategy'], {
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
    });
    const rolling = (rollingUpdate: JsonObject) =>
      faults(daemonSets, workload({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } }));
    assert.deepEqual(rolling({ maxUnavailable: 0, maxSurge: '25%' }), []);
    assert.match(rolling({ maxSurge: 1 }).join(), /maxSurge: .* may not be set when maxUnavailable is non-zero/);
    assert.match(
      rolling({ maxUnavailable: 0 }).join(),
      /maxUnavailable: Required value: cannot be 0 when maxSurge is 0/,
    );
  });
});

describe('ControllerRevisions', () => {
  it('never change what they remember, and name whose they are', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true };
    const revision = { metadata: { name: 'r', ownerReferences: [owner] }, revision: 3, data: { a: 1 } };
    assert.deepEqual(faults(controllerRevisions, revision, structuredClone(revision)), []);
    assert.deepEqual(faults(controllerRevisions, { ...revision, data: { a: 2 } }, revision), [
      'data: Invalid value: {"a":2}: field is immutable',
    ]);
    const { Controller, Revision } = cells(controllerRevisions, revision);
    assert.deepEqual([Controller, Revision], ['statefulset.apps/web', '3']);
  });
});

describe('EndpointSlices', () => {
  const slice = (fields: JsonObject = {}): JsonObject => ({
    metadata: { name: 's' },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }],
    ports: [{ port: 80 }],
    ...fields,
  });

  it('have TCP ports without a name by default', () => {
    assert.deepEqual(made(endpointSlices, slice())['ports'], [{ port: 80, name: '', protocol: 'TCP' }]);
    assert.deepEqual(faults(endpointSlices, slice()), []);
  });

  it('refuse addresses of another family, that stay at home, or none', () => {
    assert.match(faults(endpointSlices, slice({ endpoints: [{ addresses: ['fd00::1'] }] })).join(), /IPv4 address/);
    assert.match(faults(endpointSlices, slice({ endpoints: [{ addresses: ['127.0.0.1'] }] })).join(), /loopback/);
    assert.match(faults(endpointSlices, slice({ endpoints: [{ addresses: [] }] })).join(), /at least 1 address/);
    assert.deepEqual(faults(endpointSlices, slice({ addressType: 'FQDN', endpoints: [] }), slice()), [
      'addressType: Invalid value: "FQDN": field is immutable',
    ]);
  });

  it('show the first few endpoints and how many more there are', () => {
    const endpoints = [1, 2, 3, 4, 5].map((i) => ({ addresses: [`10.0.0.${i}`] }));
    const { AddressType, Ports, Endpoints } = cells(endpointSlices, slice({ endpoints, ports: [{ name: 'x' }, {}] }));
    assert.deepEqual([AddressType, Ports, Endpoints], ['IPv4', 'x,*', '10.0.0.1,10.0.0.2,10.0.0.3 + 2 more...']);
    assert.equal(cells(endpointSlices, slice({ endpoints: [], ports: [] }))['Ports'], '<unset>');
  });

  it('count a generation for what they say, and none for annotations', () => {
    const annotated = slice({ metadata: { name: 's', annotations: { a: 'b' } } });
    assert.equal(endpointSlices.generationChangesWith(annotated, slice()), false);
    assert.equal(endpointSlices.generationChangesWith(slice({ endpoints: [] }), slice()), true);
    const labelled = slice({ metadata: { name: 's', labels: { a: 'b' } } });
    assert.equal(endpointSlices.generationChangesWith(labelled, slice()), true);
  });
});

describe('Endpoints', () => {
  it('show every ready address with every port', () => {
    const subsets = [{ addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], ports: [{ port: 80 }] }];
    assert.equal(cells(endpoints, { subsets })['Endpoints'], '10.0.0.1:80,[fd00::1]:80');
    assert.equal(cells(endpoints, {})['Endpoints'], '<none>');
  });

  it('say that they are deprecated', () => {
    assert.match(endpoints.deprecation ?? '', /v1 Endpoints is deprecated in v1\.33\+/);
  });
});

describe('PodDisruptionBudgets', () => {
  it('say either how many must stay or how many may go', () => {
    const budget = (spec: JsonObject) => faults(podDisruptionBudgets, { metadata: { name: 'b' }, spec });
    assert.deepEqual(budget({ minAvailable: 1, selector: {} }), []);
    assert.match(budget({ minAvailable: 1, maxUnavailable: 1 }).join(), /cannot be both set/);
    assert.match(budget({ minAvailable: '101%' }).join(), /must not be greater than 100%/);
    assert.match(budget({ unhealthyPodEvictionPolicy: 'X' }).join(), /Unsupported value: "X"/);
  });

  it('allow nothing until somebody has counted', () => {
    const budget = made(podDisruptionBudgets, { metadata: { name: 'b' }, spec: { maxUnavailable: '50%' } });
    assert.deepEqual(Object.values(statusOf(budget)), [0, 0, 0, 0]);
    const shown = cells(podDisruptionBudgets, budget);
    assert.deepEqual(
      [shown['Min Available'], shown['Max Unavailable'], shown['Allowed Disruptions']],
      ['N/A', '50%', 0],
    );
  });
});

describe('PriorityClasses', () => {
  it('keep their value, and leave the highest ones to the system', () => {
    const of = (name: string, value: number) => ({ metadata: { name }, value });
    assert.deepEqual(faults(priorityClasses, of('mine', 1_000_000_000)), []);
    assert.match(faults(priorityClasses, of('mine', 1_000_000_001)).join(), /maximum allowed value .* is 1000000000/);
    assert.match(faults(priorityClasses, of('system-x', 1)).join(), /system-x is not a known system priority class/);
    const old = made(priorityClasses, of('mine', 1));
    assert.deepEqual(faults(priorityClasses, of('mine', 2), old), [
      'value: Forbidden: may not be changed in an update.',
    ]);
  });
});
