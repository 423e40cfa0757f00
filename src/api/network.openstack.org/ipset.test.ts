import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invalid } from '../status.ts';
import { ipSetFaults } from './ipset.faults.ts';
import { IPSet, type NetworkRequest } from './ipset.ts';

const ipSet = (networks: NetworkRequest[], { immutable = false } = {}): IPSet => ({
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'IPSet',
  metadata: {
    name: 'edpm-compute-0',
    namespace: 'openstack',
    uid: '1',
    resourceVersion: '1',
    creationTimestamp: '',
  },
  spec: { immutable, networks },
});

/** What a person reads; empty when all is fine. */
function refusal(object: IPSet, old?: IPSet): string {
  const faults = ipSetFaults(object, old);
  if (faults.length === 0) return '';
  const { message } = invalid(IPSet, 'edpm-compute-0', faults);
  const prefix = 'IPSet.network.openstack.org "edpm-compute-0" is invalid: ';
  assert.ok(message.startsWith(prefix), message);
  return message.slice(prefix.length);
}

const ctlplane: NetworkRequest = { name: 'CtlPlane', subnetName: 'subnet1', defaultRoute: true };
const storage: NetworkRequest = { name: 'Storage', subnetName: 'subnet1', fixedIP: '172.18.0.50' };

test('one request per network is fine', () => {
  assert.equal(refusal(ipSet([ctlplane, storage])), '');
});

test('a network may occur twice with different subnets, for the two IP families', () => {
  assert.equal(refusal(ipSet([storage, { name: 'storage', subnetName: 'subnet6' }])), '');
});

test('the same subnet of a network twice is refused', () => {
  assert.equal(
    refusal(ipSet([storage, ctlplane, { name: 'storage', subnetName: 'Subnet1' }])),
    'spec.networks[2].name: Invalid value: "storage": network "storage" with subnet "Subnet1" is already in use at spec.networks[0].name',
  );
});

test('a network three times is refused', () => {
  const requests = ['a1', 'a2', 'a3'].map((subnetName) => ({ name: 'Storage', subnetName }));
  assert.equal(
    refusal(ipSet(requests)),
    'spec.networks[2].name: Invalid value: "Storage": network "Storage" is already in use at spec.networks[0].name and spec.networks[1].name: once for IPv4 and once for IPv6 is the most',
  );
});

test('a fixed address must be an address', () => {
  assert.equal(
    refusal(ipSet([{ ...storage, fixedIP: '172.18.0.500' }])),
    'spec.networks[0].fixedIP: Invalid value: "172.18.0.500": "172.18.0.500" is not an IP address',
  );
});

test('an address is asked for once, however it is written', () => {
  const first = { name: 'Storage', subnetName: 'subnet6', fixedIP: 'fd00::5' };
  assert.equal(
    refusal(ipSet([storage, first, { ...first, name: 'Tenant', fixedIP: 'FD00:0::5' }])),
    'spec.networks[2].fixedIP: Invalid value: "FD00:0::5": address fd00::5 is already asked for at spec.networks[1].fixedIP: an address is given only once',
  );
});

test('networks may be added', () => {
  assert.equal(refusal(ipSet([storage, ctlplane]), ipSet([ctlplane])), '');
});

test('networks may not be removed', () => {
  assert.equal(
    refusal(ipSet([ctlplane]), ipSet([ctlplane, storage])),
    'spec.networks[1].name: Invalid value: "Storage": network "Storage" was removed: networks may only be added',
  );
});

test('the subnet of a request may not change', () => {
  assert.equal(
    refusal(ipSet([{ ...ctlplane, subnetName: 'subnet2' }]), ipSet([ctlplane])),
    'spec.networks[0].subnetName: Invalid value: "subnet2": parameter subnetName must not change, it was subnet1',
  );
});

test('a fixed address may not change, appear or go, and each is told', () => {
  const { fixedIP: _, ...anyStorage } = storage;
  assert.equal(
    refusal(ipSet([{ ...storage, fixedIP: '172.18.0.51' }]), ipSet([storage])),
    'spec.networks[0].fixedIP: Invalid value: "172.18.0.51": parameter fixedIP must not change, it was 172.18.0.50',
  );
  assert.equal(
    refusal(ipSet([anyStorage]), ipSet([storage])),
    'spec.networks[0].fixedIP: Invalid value: "": parameter fixedIP must not change, it was 172.18.0.50',
  );
  assert.equal(
    refusal(ipSet([storage]), ipSet([anyStorage])),
    'spec.networks[0].fixedIP: Invalid value: "172.18.0.50": parameter fixedIP must not change, it was not set',
  );
});

test('another spelling of the same address, name or route is no change', () => {
  const before = { name: 'Storage', subnetName: 'subnet6', fixedIP: 'fd00::a' };
  const after = { name: 'storage', subnetName: 'Subnet6', fixedIP: 'FD00:0::A', defaultRoute: false };
  assert.equal(refusal(ipSet([after]), ipSet([before])), '');
});

test('the default route may not move', () => {
  assert.equal(
    refusal(ipSet([{ ...ctlplane, defaultRoute: false }]), ipSet([ctlplane])),
    'spec.networks[0].defaultRoute: Invalid value: false: parameter defaultRoute must not change, it was true',
  );
});

test('several faults are told together', () => {
  assert.equal(
    refusal(ipSet([{ name: 'CtlPlane', subnetName: 'subnet2' }]), ipSet([ctlplane, storage])),
    '[spec.networks[0].subnetName: Invalid value: "subnet2": parameter subnetName must not change, it was subnet1, ' +
      'spec.networks[1].name: Invalid value: "Storage": network "Storage" was removed: networks may only be added]',
  );
});
