import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Address } from '../api/address.ts';
import type { NetworkRequest } from '../api/network.openstack.org/ipset.ts';
import type { NetConfigNetwork } from '../api/network.openstack.org/netconfig.ts';
import { network, subnet } from './environment.fixture.ts';
import { Networks } from './networks.ts';
import { reservationsOf } from './status.ts';

/** What the status says of addresses given like this; the networks are read as a NetConfig has them. */
function said(
  networks: readonly NetConfigNetwork[],
  ...given: [text: string, name: string, request?: Partial<NetworkRequest>][]
) {
  const known = new Networks({
    apiVersion: 'network.openstack.org/v1beta1',
    kind: 'NetConfig',
    metadata: { name: 'netconfig', uid: '1', resourceVersion: '1', creationTimestamp: '' },
    spec: { networks: [...networks] },
  });
  const reserved = given.map(([text, name, request]) => {
    const subnetName = text.includes(':') ? 'subnet6' : 'subnet1';
    const [found, address] = [known.find(name, subnetName), Address.parse(text)];
    if (typeof found === 'string' || address === undefined) throw new Error(`${text} ${found}`);
    return { subnet: found, address, request: { name, subnetName, ...request } };
  });
  return reservationsOf({ reserved, undecided: [] });
}

const six = subnet({ name: 'subnet6', cidr: 'fd00::/64', gateway: 'fd00::1', allocationRanges: [] });

describe('the status of an IPSet', () => {
  it('leaves out what nobody said, and calls a network for services by its name in lower case', () => {
    const { reservations } = said([network()], ['172.18.0.10', 'storage']);
    assert.deepEqual(reservations, [
      {
        network: 'Storage',
        subnet: 'subnet1',
        address: '172.18.0.10',
        mtu: 1500,
        cidr: '172.18.0.0/24',
        serviceNetwork: 'storage',
      },
    ]);
  });

  it('says everything that a host must know, the domain of the subnet before the one of the network', () => {
    const own = subnet({
      dnsDomain: 'one.example.com',
      vlan: 21,
      gateway: '172.18.0.1',
      routes: [{ destination: '10.0.0.0/8', nexthop: '172.18.0.2' }],
    });
    const storage = network({ mtu: 9000, dnsDomain: 'example.com', serviceNetwork: 'disks', subnets: [own, six] });
    const { reservation, reservations } = said(
      [storage],
      ['172.18.0.10', 'Storage', { defaultRoute: true }],
      ['fd00::5', 'Storage', { defaultRoute: true }],
    );
    assert.equal(reservation, '172.18.0.10, fd00::5');
    const [four, other] = reservations;
    assert.deepEqual(
      [four?.dnsDomain, four?.vlan, four?.gateway, four?.mtu, four?.serviceNetwork],
      ['one.example.com', 21, '172.18.0.1', 9000, 'disks'],
    );
    assert.deepEqual(four?.routes, [
      { destination: '10.0.0.0/8', nexthop: '172.18.0.2' },
      { destination: '0.0.0.0/0', nexthop: '172.18.0.1' },
    ]);
    assert.deepEqual([other?.dnsDomain, other?.routes], ['example.com', [{ destination: '::/0', nexthop: 'fd00::1' }]]);
  });

  it('names the control plane first, by its name or its name for services, then the others by name, IPv4 before IPv6', () => {
    const both = (name: string, change: Partial<NetConfigNetwork> = {}) =>
      network({ name, subnets: [subnet(), six], ...change });
    const order = (networks: NetConfigNetwork[], ...given: [string, string][]) =>
      said(networks, ...given).reservations.map(({ network: name, address }) => `${name} ${address}`);
    const [a, c, z] = [both('Alpha'), both('CtlPlane'), both('Zeta')];
    assert.deepEqual(
      order(
        [a, c, z],
        ['172.18.0.9', 'Zeta'],
        ['fd00::5', 'Alpha'],
        ['172.18.0.7', 'Alpha'],
        ['172.18.0.8', 'CtlPlane'],
      ),
      ['CtlPlane 172.18.0.8', 'Alpha 172.18.0.7', 'Alpha fd00::5', 'Zeta 172.18.0.9'],
    );
    const renamed = both('Zeta', { serviceNetwork: 'ctlplane' });
    assert.deepEqual(order([a, renamed], ['172.18.0.7', 'Alpha'], ['172.18.0.9', 'Zeta']), [
      'Zeta 172.18.0.9',
      'Alpha 172.18.0.7',
    ]);
  });
});
