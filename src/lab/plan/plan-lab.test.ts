import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Prefix } from '../../api/prefix.ts';
import { besideInIpv6, managementAddresses, underlaysOf } from './addressing.ts';
import { changesBetween, goneHosts, goneNodes, isSameForAgent } from './changes.ts';
import type { LabPlan } from './lab-plan.ts';
import { planned, planning } from './planned.fixture.ts';

const faultsIn = (text: string): string[] => {
  const result = planning(text);
  return 'faults' in result ? result.faults : [];
};

/** `HOST:LINK ADDRESSES` of all links. */
const addressesIn = ({ hosts }: LabPlan): string[] =>
  hosts.flatMap(({ name, links }) => links.map((link) => [`${name}:${link.name}`, ...link.addresses].join(' ')));

describe('the plan of a lab', () => {
  test('gives hosts the addresses from .10 on in their order, and makes room for those that are written', () => {
    assert.deepEqual(
      addressesIn(
        planned(`
lab: l
switches: { rack: { subnet: [192.168.122.0/24, 'fd00:122::/64'] } }
hosts: { a: , b: , c: { links: { enp6s0: rack 192.168.122.11 } }, d: , e: { links: { rack: none } } }
`),
      ),
      [
        'a:rack 192.168.122.10/24 fd00:122::a/64',
        'b:rack 192.168.122.12/24 fd00:122::b/64',
        'c:enp6s0 192.168.122.11/24',
        'd:rack 192.168.122.13/24 fd00:122::d/64',
        'e:rack',
      ],
    );
  });

  test('plugs a host that says nothing into every switch, and routes to it by its first address', () => {
    const { hosts } = planned(
      'lab: l\nswitches: { bare: , rack: { subnet: 10.0.0.0/24 }, spine: { subnet: 10.1.0.0/24 } }\nhosts: [a]',
    );
    assert.deepEqual(
      hosts[0]?.links.map(({ name }) => name),
      ['bare', 'rack', 'spine'],
    );
    assert.equal(hosts[0]?.underlay, '10.0.0.10');
  });

  test('where pods have IPv6 addresses, a host has one beside its own on the management network, and is routed to by its first of each family', () => {
    const { hosts } = planned(
      "lab: l\nswitches: { rack: { subnet: 10.0.0.0/24 }, spine: { subnet: [10.1.0.0/24, 'fd00:1::/64'] } }\nhosts: [a]",
    );
    const [host] = hosts;
    assert.ok(host);
    assert.deepEqual(managementAddresses(host, { ipv6: false }), ['198.18.0.10']);
    assert.deepEqual(managementAddresses(host, { ipv6: true }), ['198.18.0.10', 'fd4e:4c00:4d67::c612:a']);
    assert.equal(besideInIpv6('198.18.0.10/24'), 'fd4e:4c00:4d67::c612:a/120');
    assert.deepEqual(underlaysOf(host, { ipv6: false }), ['10.0.0.10']);
    assert.deepEqual(underlaysOf(host, { ipv6: true }), ['10.0.0.10', 'fd00:1::a']);
  });

  test('a port passes all VLANs of its switch and what has no tag, some of them, or is in one', () => {
    const { hosts, switches } = planned(`
lab: l
switches: { rack: { vlans: { 20: 172.17.0.0/24, 21: } }, dumb: }
hosts: { a: { links: { every: rack, some: { switch: rack, vlans: [21] }, one: { switch: rack, vlan: 20 }, none: { switch: dumb } } } }
`);
    assert.deepEqual(
      hosts[0]?.links.map(({ to, addresses }) => [to, ...addresses]),
      [
        [{ switch: 'rack', vlans: { untagged: 'native', tagged: [20, 21] } }],
        [{ switch: 'rack', vlans: { untagged: 'native', tagged: [21] } }],
        [{ switch: 'rack', vlans: { untagged: 20, tagged: [] } }, '172.17.0.10/24'],
        [{ switch: 'dumb' }],
      ],
    );
    assert.deepEqual(switches[0]?.vlans, [20, 21]);
  });

  test('the two ends of a cable know each other', () => {
    const { hosts } = planned(
      'lab: l\nhosts: [a, b]\nlinks: [ { between: a:eth1 -- b:eth2, subnet: 10.0.0.0/31, rate: 1gbit } ]',
    );
    const [one, other] = hosts.map(({ links }) => links[0]);
    assert.deepEqual(one?.to, { host: 'b', link: 'eth2', port: 'b.eth2' });
    assert.deepEqual(other?.to, { host: 'a', link: 'eth1', port: 'a.eth1' });
    assert.deepEqual([one?.addresses, other?.addresses], [['10.0.0.0/31'], ['10.0.0.1/31']]);
    assert.deepEqual([one?.bitsPerSecond, other?.bitsPerSecond], [1e9, 1e9]);
  });

  for (const [text, expected] of [
    [
      'switches: { rack: }\nhosts: { a: { links: [rck] } }',
      /^3 hosts.a.links\[0\]: there is no switch "rck"; switches are rack$/,
    ],
    ['hosts: { a: { links: [rack] } }', /there is no switch "rack"; the lab has none/],
    [
      'switches: { rack: }\nhosts: { a: { links: { rack: { vlan: 20 } } } }',
      /rack knows nothing of VLANs: list them there, such as vlans: \[20\]/,
    ],
    [
      'switches: { rack: { vlans: [20] } }\nhosts: { a: { links: { rack: { vlans: [20, 30] } } } }',
      /VLAN 30 is none of rack, which has 20/,
    ],
    [
      'switches: { rack: { subnet: 10.0.0.0/24 } }\nhosts: { a: { links: { rack: 10.0.1.1 } } }',
      /10.0.1.1 is not in 10.0.0.0\/24, the network of rack/,
    ],
    [
      'switches: { rack: { subnet: 10.0.0.0/24 } }\nhosts: { a: { links: { rack: 10.0.0.1/16 } } }',
      /leave its length out, or write 10.0.0.1\/24/,
    ],
    [
      'switches: { rack: }\nhosts: { a: { links: { rack: 10.0.0.1 } } }',
      /rack has no network for 10.0.0.1: write its length too, such as 10.0.0.1\/24/,
    ],
    [
      'switches: { rack: { subnet: 10.0.0.0/24 } }\nhosts: { a: { links: { rack: 10.0.0.1 } }, b: { links: { rack: 10.0.0.1 } } }',
      /10.0.0.1 is taken by a already/,
    ],
    ['switches: { rack: { subnet: 10.0.0.0/30 } }\nhosts: [a, b, c]', /10.0.0.0\/30 of rack has no address left for c/],
    [
      'switches: { rack: { subnet: 10.0.0.0/24 }, b: { subnet: 10.0.0.0/16 } }\nhosts: [a]',
      /a cannot have 10.0.0.0\/16 of b on b: it overlaps 10.0.0.0\/24, which it has on rack/,
    ],
    ['switches: { rack: { subnet: 198.18.0.0/16 } }\nhosts: [a]', /it overlaps 198.18.0.0\/24, the management network/],
    ['hosts: [a, b]\nlinks: [ a:eth1 -- c:eth1 ]', /there is no host "c"; hosts are a, b/],
    ['hosts: [a, b]\nlinks: [ a:eth1 -- a:eth2 ]', /both ends are at a/],
    ['hosts: [a, b, c]\nlinks: [ a:eth1 -- b:eth1, a:eth1 -- c:eth1 ]', /the host a has an interface eth1 already/],
  ] as const) {
    test(`${JSON.stringify(text)} does not fit together`, () => {
      const [first = ''] = faultsIn(`lab: l\n${text}`);
      assert.match(first, expected);
    });
  }

  test('has no room for more hosts than the management network', () => {
    const hosts = Array.from({ length: 14 }, (_, i) => `h${i}`).join(', ');
    const result = planning(`lab: l\nhosts: [${hosts}]`, '10.0.0.0/28');
    assert.ok(
      'faults' in result &&
        /the management network, has addresses for 13 hosts, and there are 14: say a larger one/.test(
          result.faults.join(),
        ),
    );
  });
});

/** Labs of all shapes that fit together. */
const anyLab = fc
  .record({
    lab: fc.constantFrom('a', 'cloud', 'a-name-of-20-letters'),
    switches: fc.array(fc.record({ subnet: fc.boolean(), vlans: fc.boolean() }), { maxLength: 3 }),
    hosts: fc.array(
      fc.record({
        name: fc.constantFrom('h', 'edpm-compute', 'a-host-whose-name-is-much-too-long-x'),
        links: fc.array(
          fc.record({ to: fc.nat(2), name: fc.constantFrom('eth', 'enp6s0f1np1-'), vlan: fc.boolean() }),
          {
            maxLength: 3,
          },
        ),
        cable: fc.option(fc.nat(20)),
      }),
      { minLength: 1, maxLength: 20 },
    ),
  })
  .map(({ lab, switches, hosts }) => {
    const names = hosts.map(({ name }, i) => `${name}${i}`);
    const document = {
      lab,
      switches: Object.fromEntries(
        switches.map(({ subnet, vlans }, i) => [
          `h0.eth${i}`,
          { ...(subnet ? { subnet: `10.${i}.0.0/24` } : {}), ...(vlans ? { vlans: { 20: `10.${i}.1.0/24` } } : {}) },
        ]),
      ),
      hosts: Object.fromEntries(
        hosts.map(({ links }, i) => [
          names[i],
          {
            links: Object.fromEntries(
              links
                .filter(({ to }, j) => to < switches.length && links.findIndex((other) => other.to === to) === j)
                .map(({ to, name, vlan }, j) => [
                  `${name}${j}`,
                  { switch: `h0.eth${to}`, ...(vlan && switches[to]?.vlans === true ? { vlan: 20 } : {}) },
                ]),
            ),
          },
        ]),
      ),
      links: hosts.flatMap(({ cable }, i) =>
        cable === null || cable % hosts.length === i
          ? []
          : [`${names[i]}:out${i} -- ${names[cable % hosts.length]}:in${i}`],
      ),
    };
    return JSON.stringify(document);
  });

describe('every plan', () => {
  test('has names that the kernel takes, each once', () => {
    fc.assert(
      fc.property(anyLab, (text) => {
        const { hosts, switches, management } = planned(text);
        const among = [
          ...switches.map(({ name }) => name),
          ...hosts.flatMap(({ links }) => links.map(({ port }) => port)),
        ];
        const outside = [management.bridge, ...hosts.map((host) => host.management.port)];
        const macs = [
          management.mac,
          ...hosts.flatMap(({ management: own, links }) => [own.mac, ...links.map(({ mac }) => mac)]),
        ];
        for (const all of [among, outside, macs, hosts.map(({ namespace }) => namespace)]) {
          assert.equal(new Set(all).size, all.length);
        }
        for (const name of [...among, ...outside]) assert.ok(name.length > 0 && name.length <= 15, name);
        for (const name of outside) assert.match(name, /^nl/);
        for (const mac of macs) assert.match(mac, /^02(:[0-9a-f]{2}){5}$/);
      }),
    );
  });

  test('gives an address once in a segment, and only addresses that hosts can have', () => {
    fc.assert(
      fc.property(anyLab, (text) => {
        const { hosts, management } = planned(text);
        const given = [
          management.address,
          ...hosts.flatMap((host) => [host.management.address, ...host.links.flatMap(({ addresses }) => addresses)]),
        ];
        assert.equal(new Set(given).size, given.length);
        for (const each of given) {
          const network = Prefix.parse(each) as Prefix;
          const [own] = each.split('/');
          assert.ok(own !== `${network.first}` && own !== `${network.last}`, each);
        }
      }),
    );
  });

  test('is the same when it is made again, and after it was kept', () => {
    fc.assert(
      fc.property(anyLab, (text) => {
        const plan = planned(text);
        const kept = JSON.parse(JSON.stringify(plan));
        assert.deepStrictEqual(planned(text), kept);
        assert.deepEqual(changesBetween(kept, plan), NOTHING);
      }),
    );
  });

  test('stays as it is for those that were there when a host is added at the end', () => {
    fc.assert(
      fc.property(anyLab, (text) => {
        const before = planned(text);
        const document = JSON.parse(text);
        document.hosts['one-more'] = { links: {} };
        const after = planned(JSON.stringify(document));
        assert.deepEqual(changesBetween(before, after), NOTHING);
        assert.deepEqual(
          goneHosts(after, before).map(({ name }) => name),
          ['one-more'],
        );
      }),
    );
  });

  test('has two ends to each cable', () => {
    fc.assert(
      fc.property(anyLab, (text) => {
        const { hosts } = planned(text);
        for (const host of hosts) {
          for (const { name, port, to } of host.links) {
            if (!('host' in to)) continue;
            const other = hosts.find((each) => each.name === to.host)?.links.find((each) => each.name === to.link);
            assert.equal(other?.port, to.port);
            assert.deepEqual(other?.to, { host: host.name, link: name, port });
          }
        }
      }),
    );
  });
});

describe('what has to go before a lab becomes what another plan says', () => {
  const text = (hosts: string, switches = 'rack: { subnet: 10.0.0.0/24 }') =>
    planned(`lab: l\nswitches: { ${switches} }\nhosts: ${hosts}`);
  const names = (things: readonly { name: string }[]) => things.map(({ name }) => name);
  const told = (before: LabPlan, after: LabPlan) => {
    const { hosts, links, switches, isWhole } = changesBetween(before, after);
    assert.equal(isWhole, false);
    const plugs = links.map(({ host, link }) => `${host.name}:${link.name}`);
    return { hosts: names(hosts), links: plugs, switches: names(switches) };
  };

  test('is each host that is gone, is no Node any more, or to which others route by another address', () => {
    const before = text('{ a: , b: , c: , d: }');
    const after = text('{ a: , b: { links: { rack: 10.0.0.50 } }, c: { agent: false } }');
    assert.deepEqual(told(before, after), { hosts: ['b', 'c', 'd'], links: [], switches: [] });
    assert.deepEqual(names(goneHosts(before, after)), ['d']);
    assert.deepEqual(names(goneNodes(before, after)), ['c', 'd']);
  });

  test('is nothing of a host whose labels, taints, resources or rates are others, though its agent may have to know', () => {
    const before = text('{ a: { links: { eth0: { switch: rack, loss: 1% } } }, b: }');
    const slow = text(
      '{ a: { links: { eth0: { switch: rack, rate: 1mbit } }, labels: { x: y }, taints: [z:NoSchedule] }, b: }',
    );
    const small = text('{ a: { links: { eth0: rack }, resources: { cpu: 1 } }, b: }');
    for (const after of [slow, small]) assert.deepEqual(told(before, after), { hosts: [], links: [], switches: [] });
    const [was, isSlow, isSmall] = [before, slow, small].map(({ hosts }) => hosts[0]);
    assert.ok(was !== undefined && isSlow !== undefined && isSmall !== undefined);
    assert.equal(isSameForAgent(was, isSlow), true);
    assert.equal(isSameForAgent(was, isSmall), false);
  });

  test('is a link that is gone or is plugged in elsewhere, and not the host', () => {
    const switches = 'rack: { subnet: 10.0.0.0/24 }, one: , two: ';
    const before = text('{ a: { links: { e: rack, f: one, g: one } } }', switches);
    const after = text('{ a: { links: { e: rack, f: two, h: one } } }', switches);
    assert.deepEqual(told(before, after), { hosts: [], links: ['a:f', 'a:g'], switches: [] });
  });

  test('is a switch that is gone or knows of VLANs now, with what is plugged into it, and nothing for one that is new', () => {
    const before = text('{ a: , b: { links: [rack] } }', 'rack: { subnet: 10.0.0.0/24 }, spare: , old: ');
    const after = text('{ a: , b: { links: [rack] } }', 'rack: { subnet: 10.0.0.0/24 }, spare: { vlans: [5] }, new: ');
    assert.deepEqual(told(before, after), { hosts: [], links: ['a:spare', 'a:old'], switches: ['spare', 'old'] });
  });

  test('is everything when the network to the API is another', () => {
    const before = text('[a, b]');
    const moved = planned('lab: l\nswitches: { rack: { subnet: 10.0.0.0/24 } }\nhosts: [a, b]', '198.19.0.0/24');
    const { hosts, switches, isWhole } = changesBetween(before, moved);
    assert.deepEqual([names(hosts), names(switches), isWhole], [['a', 'b'], ['rack'], true]);
  });
});

const NOTHING = { hosts: [], links: [], switches: [], isWhole: false };
