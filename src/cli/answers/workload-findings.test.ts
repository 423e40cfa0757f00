import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '../../api/condition.ts';
import type { EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import type { L2Advertisement } from '../../api/metallb.io/l2-advertisement.ts';
import type { DNSMasq } from '../../api/network.openstack.org/dnsmasq.ts';
import type { ApiObject } from '../../api/object.ts';
import { metadata, notReady, pod, pool, service, told } from './answers.fixture.ts';
import { type BackendFacts, backendFindings } from './backend-findings.ts';
import { dnsDataFindings } from './dns-findings.ts';
import { named, problem } from './finding.ts';
import { advertisementFindings, poolFindings } from './pool-findings.ts';
import { type WorkloadFacts, workloadFindings, workloadServes } from './workload-findings.ts';

const deployment = (
  ...conditions: Partial<Condition>[]
): ApiObject & { status: { conditions: Partial<Condition>[] } } => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: metadata('web'),
  status: { conditions },
});
const facts = (change: Partial<WorkloadFacts> = {}): WorkloadFacts => ({
  object: deployment(),
  wanted: 2,
  pods: [pod('a'), pod('b')],
  reasons: new Map(),
  warning: undefined,
  paused: false,
  ...change,
});
const waiting = (name: string) => pod(name, { status: notReady({}) });
const because = (name: string, says: string) => [`uid-${name}`, [problem(named(pod(name)), says)]] as const;

test('a workload whose pods are all Ready has nothing to say', () => {
  assert.deepEqual(workloadFindings(facts()), []);
  assert.equal(workloadServes(facts()), true);
  assert.equal(workloadServes(facts({ wanted: 3 })), false);
});

test('pods that are held up by the same are told of once, others by themselves', () => {
  const pods = [pod('a'), waiting('b'), waiting('c'), waiting('d')];
  const reasons = new Map([
    because('b', 'no node takes it'),
    because('c', 'no node takes it'),
    because('d', 'crashes'),
  ]);
  assert.deepEqual(told(workloadFindings(facts({ wanted: 4, pods, reasons }))), [
    'problem: 1 of 4 pods is Ready',
    '  problem: Pod b and another one are not Ready',
    '    problem: no node takes it',
    '  problem: Pod d is not Ready',
    '    problem: crashes',
  ]);
});

test('pods that are not even there are explained by what hindered their making', () => {
  const warning = 'Error creating: exceeded quota';
  assert.deepEqual(told(workloadFindings(facts({ pods: [pod('a')], warning }))), [
    'problem: 1 of 2 pods is Ready',
    '  problem: there is only one yet: Error creating: exceeded quota',
  ]);
});

test('a rollout that is stuck or paused says so, also while enough old pods are Ready', () => {
  const stuck = deployment(
    { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'timed out' },
    { type: 'ReplicaFailure', status: 'True', message: 'forbidden' },
  );
  assert.deepEqual(told(workloadFindings(facts({ object: stuck, paused: true }))), [
    'note: it is paused: changes of its template wait for kubectl rollout resume',
    'problem: timed out',
    'problem: forbidden',
  ]);
});

const slice = (...ready: (boolean | undefined)[]): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: metadata('web-x'),
  addressType: 'IPv4',
  endpoints: ready.map((one) => ({ addresses: ['10.1.0.1'], conditions: one === undefined ? {} : { ready: one } })),
});
const web = { ...service(), spec: { selector: { app: 'web' } } };
const behind = (change: Partial<BackendFacts>) =>
  told(backendFindings({ service: web, pods: [], slices: [], reasons: new Map(), ...change }));

test('a Service that nobody answers for says whether pods are missing, not Ready, or not led to', () => {
  assert.deepEqual(behind({ pods: [pod('a')], slices: [slice(undefined)] }), []);
  assert.deepEqual(behind({ pods: [pod('other', { meta: { labels: {} } })] }), [
    'problem: nobody answers: no pod in namespace openstack has the labels app=web',
  ]);
  const reasons = new Map([because('a', 'it crashes')]);
  assert.deepEqual(behind({ pods: [waiting('a'), waiting('b')], slices: [slice(false)], reasons }), [
    'problem: nobody answers: none of its 2 pods is Ready',
    '  problem: Pod a is not Ready',
    '    problem: it crashes',
  ]);
  assert.deepEqual(behind({ pods: [pod('a')], slices: [slice(false)] }), [
    'problem: nobody answers: there are Ready pods with its labels, but no EndpointSlice leads to them',
  ]);
});

test('a Service without a selector leads to where somebody else says', () => {
  assert.deepEqual(behind({ service: service() }), []);
  assert.deepEqual(behind({ service: { ...web, spec: { ...web.spec, type: 'ExternalName' } } }), []);
});

const advertisement = (spec: L2Advertisement['spec']): L2Advertisement => ({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'L2Advertisement',
  metadata: metadata('l2', { namespace: 'metallb-system' }),
  spec,
});

test('a pool tells who uses it, that nobody announces it, and who keeps it from going', () => {
  const [user, vips] = [service({ 'metallb.io/ip-allocated-from-pool': 'vips' }), pool('vips', ['10.0.0.0/28'])];
  const one = { pool: vips, services: [user, service()], advertisements: [advertisement({})] };
  assert.deepEqual(told(poolFindings(one)), ['note: one Service has addresses of it']);
  const alone = { ...one, services: [], advertisements: [advertisement({ ipAddressPools: ['other'] })] };
  assert.deepEqual(told(poolFindings(alone)), [
    'problem: no L2Advertisement announces its addresses, so nobody outside finds the Services that have them',
    'note: no Service has an address of it',
  ]);
  const going = { ...vips, metadata: { ...vips.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  assert.deepEqual(told(poolFindings({ ...one, pool: going })), [
    'problem: a Service has addresses of it: openstack/keystone',
  ]);
});

test('a DNSData says who serves its names, or that nobody does', () => {
  const meta = (kind: string) => ({ apiVersion: 'network.openstack.org/v1beta1', kind, metadata: metadata('dns') });
  const dnsData = { ...meta('DNSData'), spec: { dnsDataLabelSelectorValue: 'Mine' } };
  const dnsMasq = (dnsDataLabelSelectorValue: string): DNSMasq => ({
    ...meta('DNSMasq'),
    spec: { replicas: 1, containerImage: '', dnsDataLabelSelectorValue },
  });
  assert.deepEqual(told(dnsDataFindings({ dnsData, dnsMasqs: [dnsMasq('mine'), dnsMasq('other')] })), [
    'note: its names are served by DNSMasq dns',
  ]);
  assert.deepEqual(told(dnsDataFindings({ dnsData, dnsMasqs: [dnsMasq('dnsdata')] })), [
    'problem: nobody serves its names: no DNSMasq in namespace openstack has dnsDataLabelSelectorValue "mine"',
  ]);
});

test('an advertisement names the pools that it is for, and those that are not there', () => {
  const pools = [pool('vips', ['10.0.0.0/28']), pool('other', ['10.1.0.0/28'])];
  const about = (spec: L2Advertisement['spec'], known = pools) =>
    told(advertisementFindings({ advertisement: advertisement(spec), pools: known }));
  assert.deepEqual(about({}), ['note: it announces the addresses of the pools vips, other']);
  assert.deepEqual(about({ ipAddressPools: ['vipz', 'other'] }), [
    'problem: it names pool "vipz", which does not exist in namespace metallb-system. Did you mean "vips"?',
    'note: it announces the addresses of pool other',
  ]);
  assert.deepEqual(about({}, []), ['problem: there is no pool that it is for']);
});
