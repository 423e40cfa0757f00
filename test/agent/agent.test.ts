import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isJsonObject, type Json, type JsonObject } from '../../src/api/json.ts';
import { agentFlags } from '../../src/cli/agent/process-flags.ts';
import { at, EngineInTest, eventually } from '../engine/engine-in-test.ts';
import { AgentProcess, ownMemory } from './agent-in-test.ts';

const isRoot = process.getuid?.() === 0;
/** Its groups in the kernel bear its name, so it is one that nobody else has. */
const NAME = `h${randomBytes(3).toString('hex')}`;
const NODE = `/api/v1/nodes/${NAME}`;
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${NAME}`;

describe('an agent', { skip: isRoot ? false : 'needs root' }, () => {
  let api: EngineInTest;
  let agent: AgentProcess;
  before(async () => {
    api = await EngineInTest.start();
    const words = ['--kubeconfig', join(api.directory, 'kubeconfig'), '--label', 'rack=a'];
    agent = await AgentProcess.start(NAME, { words });
  });
  after(async () => {
    await agent.stopAndRemove();
    await api.stop();
  });

  const ready = async () => conditionOf((await api.get(NODE)).body, 'Ready')?.['status'];
  const renewed = async () => at((await api.get(LEASE)).body, 'spec.renewTime');

  test('makes its host a node that says what it is', async () => {
    await eventually(ready, (status) => status === 'True');
    const { body } = await api.get(NODE);
    assert.equal(at(body, 'metadata.labels.rack'), 'a');
    assert.equal(labelOf(body, 'kubernetes.io/os'), 'linux');
    assert.equal(labelOf(body, 'kubernetes.io/hostname'), NAME);
    assert.deepEqual(at(body, 'status.addresses'), [
      { type: 'InternalIP', address: '127.0.0.1' },
      { type: 'Hostname', address: NAME },
    ]);
    assert.match(String(at(body, 'status.capacity.memory')), /^\d+Ki$/);
    assert.equal(at(body, 'status.allocatable.pods'), '110');
    for (const type of ['MemoryPressure', 'DiskPressure', 'PIDPressure']) assert.ok(conditionOf(body, type), type);
  });

  test('shows that it is alive, as the owner of nothing but what goes with its node', async () => {
    const first = await renewed();
    await eventually(renewed, (time) => time !== first);
    const { body } = await api.get(LEASE);
    assert.equal(at(body, 'spec.holderIdentity'), NAME);
    assert.equal(at(body, 'metadata.ownerReferences.0.name'), NAME);
  });

  test('takes little memory of its own, together with its supervisor', () => {
    assert.match(readFileSync(`/proc/${agent.pid}/cmdline`, 'utf8'), new RegExp(agentFlags.join('\0')));
    const taken = ownMemory(agent.pid) + ownMemory(agent.supervisorPid);
    assert.ok(taken < 100, `${taken} MiB`);
  });

  test('speaks as its host alone once it is enrolled, with keys for nobody else to see', async () => {
    const own = join(agent.folder, 'state/agent');
    const text = await readFile(join(own, 'kubeconfig'), 'utf8');
    assert.ok(!text.includes((await readFile(join(api.directory, 'pki/admin.token'), 'utf8')).trim()));
    for (const name of ['client.pem', 'serving.pem', 'kubeconfig']) {
      assert.equal((await stat(join(own, name))).mode & 0o777, 0o600, name);
    }
    const managers = at((await api.get(LEASE)).body, 'metadata.managedFields.0.manager');
    assert.equal(managers, 'netloom-agent');
  });

  test('is the only one of its host', async () => {
    await assert.rejects(
      AgentProcess.start(NAME, { folder: agent.folder }),
      /the agent of host \w+ runs already, as process \d+: stop that one/,
    );
  });

  test('comes back by what it was enrolled with, and says again what somebody took away', async () => {
    await agent.stop();
    agent = await AgentProcess.start(NAME, { folder: agent.folder });
    await api.patch(NODE, 'merge', { metadata: { labels: { rack: 'b', 'kubernetes.io/os': null, mine: 'x' } } });
    const { body } = await eventually(
      () => api.get(NODE),
      ({ body }) => labelOf(body, 'kubernetes.io/os') === 'linux',
    );
    assert.equal(labelOf(body, 'mine'), 'x', 'what others say stays');
  });

  test('comes back when somebody deletes its node', async () => {
    const { uid } = (await api.get(NODE)).body['metadata'] as JsonObject;
    await api.delete(NODE);
    await eventually(
      () => api.get(NODE),
      ({ body }) => at(body, 'metadata.uid') !== undefined && at(body, 'metadata.uid') !== uid,
    );
    await eventually(ready, (status) => status === 'True');
  });

  test('refuses what cannot be, before it does anything', async () => {
    for (const [words, why] of [
      [['--node-ip', 'here'], /"here" is no address/],
      [['--label', '=x'], /--label takes KEY=VALUE/],
    ] as const) {
      await assert.rejects(AgentProcess.start(NAME, { words }), why);
    }
    await assert.rejects(AgentProcess.start('Not_A_Name'), /cannot be the name of a host/);
    await assert.rejects(AgentProcess.start(`${NAME}x`), /nowhere/);
  });
});

const labelOf = (body: Json, key: string): Json | undefined => {
  const labels = at(body, 'metadata.labels');
  return isJsonObject(labels) ? labels[key] : undefined;
};

function conditionOf(body: Json, type: string): JsonObject | undefined {
  const conditions = at(body, 'status.conditions');
  if (!Array.isArray(conditions)) return undefined;
  return conditions.filter(isJsonObject).find((condition) => condition['type'] === type);
}
