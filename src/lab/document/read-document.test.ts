import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { LabDocument } from './lab-document.ts';
import { readLabDocument } from './read-document.ts';

/** What is wrong with a text, as `line path: sentence`. */
function faultsIn(text: string): string[] {
  const read = readLabDocument(text);
  return 'faults' in read ? read.faults.map(({ line, path, sentence }) => `${line} ${path}: ${sentence}`) : [];
}

function read(text: string): LabDocument {
  const found = readLabDocument(text);
  if ('faults' in found) assert.fail(found.faults.map(({ sentence }) => sentence).join('\n'));
  return found.document;
}

describe('the document of a lab', () => {
  test('may be three lines long', () => {
    const { name, switches, hosts } = read('lab: small\nswitches: { rack: { subnet: 10.0.0.0/24 } }\nhosts: [a, b]\n');
    assert.equal(name, 'small');
    assert.deepEqual(
      switches.map((each) => [each.name, each.subnets.map(String), each.vlans]),
      [['rack', ['10.0.0.0/24'], undefined]],
    );
    assert.deepEqual(
      hosts.map((host) => [host.name, host.links, host.agent]),
      [
        ['a', undefined, true],
        ['b', undefined, true],
      ],
    );
  });

  test('says the links of a host by switch, by interface, with addresses or in full', () => {
    const links = (text: string) =>
      read(`lab: l\nswitches: { rack: , spine: }\nhosts: { a: { links: ${text} } }`).hosts[0]?.links?.map(
        ({ name, to, addresses }) =>
          `${name} ${to} ${typeof addresses === 'string' ? addresses : addresses.map((each) => each.text).join(' ')}`,
      );
    assert.deepEqual(links('[rack, spine]'), ['rack rack automatic', 'spine spine automatic']);
    assert.deepEqual(links('{ rack: }'), ['rack rack automatic']);
    assert.deepEqual(links('{ rack: 192.168.122.10/24 }'), ['rack rack 192.168.122.10/24']);
    assert.deepEqual(links('{ enp6s0: rack }'), ['enp6s0 rack automatic']);
    assert.deepEqual(links('{ enp6s0: rack 192.168.122.10 fd00::1/64 }'), ['enp6s0 rack 192.168.122.10 fd00::1/64']);
    assert.deepEqual(links('{ enp6s0: rack none }'), ['enp6s0 rack none']);
    assert.deepEqual(
      links('{ eth0: { switch: rack, address: [10.0.0.1, fd00::1] }, eth1: { switch: spine, address: none } }'),
      ['eth0 rack 10.0.0.1 fd00::1', 'eth1 spine none'],
    );
    assert.deepEqual(links('{ rack: { rate: 1gbit } }'), ['rack rack automatic']);
  });

  test('says what links are like', () => {
    const { cables } = read(
      'lab: l\nhosts: [a, b]\nlinks:\n- a:eth1 -- b:eth1\n- { between: a:eth2 -- b:eth2, subnet: 10.0.0.0/31, rate: 1.5Mbit, loss: 0.5%, delay: 20ms }\n',
    );
    assert.deepEqual(
      cables.map(({ ends, subnets, bitsPerSecond, loss, delayMs }) => ({
        ends: ends.map(({ host, link }) => `${host}:${link}`),
        subnets: subnets.map(String),
        quality: [bitsPerSecond, loss, delayMs],
      })),
      [
        { ends: ['a:eth1', 'b:eth1'], subnets: [], quality: [undefined, 0, undefined] },
        { ends: ['a:eth2', 'b:eth2'], subnets: ['10.0.0.0/31'], quality: [1_500_000, 0.005, 20] },
      ],
    );
  });

  test('says VLANs with or without their networks, and what a Node is like', () => {
    const { switches, hosts } = read(`
lab: l
switches:
  rack: { vlans: [20, 21] }
  spine: { vlans: { 20: 172.17.0.0/24, 21: }, mtu: 9000 }
hosts:
  a:
    labels: { role: compute, tier: 1 }
    taints: [role=compute:NoSchedule, lonely:NoExecute]
    resources: { cpu: 4, memory: 8Gi }
  b: { agent: false }
  c: &like { labels: { x: y } }
  d: *like
`);
    assert.deepEqual(
      switches.map(({ vlans, mtu }) => [vlans?.map(({ id, subnets }) => `${id} ${subnets.join(' ')}`), mtu]),
      [
        [['20 ', '21 '], undefined],
        [['20 172.17.0.0/24', '21 '], 9000],
      ],
    );
    const [a, b, , d] = hosts;
    assert.deepEqual(a?.labels, { role: 'compute', tier: '1' });
    assert.deepEqual(a?.taints, [
      { key: 'role', value: 'compute', effect: 'NoSchedule' },
      { key: 'lonely', effect: 'NoExecute' },
    ]);
    assert.deepEqual(a?.resources, { cpu: '4', memory: '8Gi' });
    assert.equal(b?.agent, false);
    assert.deepEqual(d?.labels, { x: 'y' });
  });
});

describe('what is wrong with a document', () => {
  test('is told with line, field, value and what would be right, all at once', () => {
    assert.deepEqual(
      faultsIn(`lab: Cloud
switches:
  rack: { subnet: 192.168.122.5/24, vlans: [20, 1, 5000], mtu: huge }
  a-very-long-switch-name:
hosts:
  worker_0:
  b:
    links: { enp6s0: { switch: rack, rate: fast, loss: 1, delay: 5 } }
    taints: [x=y:Never]
    resources: { cpu: -1 }
    agent: maybe
    lables: {}
`),
      [
        '1 lab: "Cloud" cannot be the name of a lab: it must have small letters, digits and dashes only, and begin and end with a letter or digit',
        '3 switches.rack.subnet: "192.168.122.5/24" is an address in a network: the network is 192.168.122.0/24',
        '3 switches.rack.vlans[1]: "1" is no VLAN: it is a whole number from 2 to 4094',
        '3 switches.rack.vlans[2]: "5000" is no VLAN: it is a whole number from 2 to 4094',
        '3 switches.rack.mtu: "huge" is no MTU: it is a whole number from 576 to 9216',
        '4 switches.a-very-long-switch-name: "a-very-long-switch-name" cannot be the name of a switch: it has 23 characters, and the kernel takes 15',
        '6 hosts.worker_0: "worker_0" cannot be the name of a host: it must have small letters, digits and dashes only, and begin and end with a letter or digit',
        '12 hosts.b.lables: there is no field "lables" here; a host has links, labels, taints, resources, agent',
        '11 hosts.b.agent: "maybe" is neither true nor false',
        '8 hosts.b.links.enp6s0.rate: "fast" is no rate: write a number and bit, kbit, mbit or gbit, such as 100mbit',
        '8 hosts.b.links.enp6s0.loss: "1" is no loss: write how many of a hundred frames get lost, such as 1%',
        '8 hosts.b.links.enp6s0.delay: "5" is no delay: write a number and us, ms or s, such as 10ms',
        '9 hosts.b.taints[0]: "x=y:Never" is no taint: write KEY=VALUE:EFFECT or KEY:EFFECT, where EFFECT is NoSchedule, PreferNoSchedule, NoExecute',
        '10 hosts.b.resources.cpu: "-1" is no amount of cpu: write one such as 4, 500m or 8Gi',
      ],
    );
  });

  for (const [text, expected] of [
    ['', /^1 : nothing is not a lab: write a mapping with some of lab, management, switches, hosts, links/],
    ['lab: x\nhosts: [a\n', /^\d : this is not YAML: /],
    ['hosts: [a]', /^1 : a lab needs a name: write lab: NAME/],
    ['lab: x', /^1 : a lab needs hosts: write their names, such as hosts: \[a, b\]/],
    ['lab: x\nhosts: 7', /^2 hosts: "7" are no hosts: /],
    ['lab: x\nhosts: [a, a]', /^2 hosts: the host a is listed twice/],
    ['lab: x\nhosts: [a]\nmanagement: 10.0.0.0/30', /^3 management: 10.0.0.0\/30 cannot be the management network/],
    [
      'lab: x\nhosts: { a: { links: { lo: rack } } }',
      /"lo" cannot be the name of an interface: it means something else/,
    ],
    ['lab: x\nhosts: { a: { links: { management: rack } } }', /it is the link to the API, which every host has/],
    ['lab: x\nhosts: { a: { links: { eth0: rack 10.0.0.300 } } }', /"10.0.0.300" is not an IP address/],
    ['lab: x\nhosts: { a: { links: { eth0: rack spine } } }', /"spine" is neither an address nor "none"/],
    ['lab: x\nhosts: { a: { links: { eth0: { vlan: 20, vlans: [21] } } } }', /not both/],
    ['lab: x\nhosts: [a]\nlinks: [ a-b ]', /"a-b" does not say two ends: write HOST:INTERFACE -- HOST:INTERFACE/],
    ['lab: x\nhosts: [a]\nlinks: [ { rate: 1gbit } ]', /it is not said between whom/],
    ['lab: x\nhosts: [a]\nswitches: { rack: { subnet: [10.0.0.0/24, 10.1.0.0/24] } }', /not two of a kind/],
    ['lab: x\nlab: y\nhosts: [a]', /^2 lab: "lab" is in line 1 already: write it once/],
    ['lab: x\nhosts:\n  a:\n  a:', /^4 hosts.a: "a" is in line 3 already/],
    [
      'lab: x\nhosts: [a]\n---\nlab: y\nhosts: [a]',
      /^3 : a file has one lab: put what is behind --- into a file of its own/,
    ],
    ['lab: x\nhosts: [a]\nswitches: [rack, rack]', /^3 switches: the switch rack is listed twice/],
    ['lab: x\nhosts: [a]\nswitches: [{ rack: }]', /"" cannot be the name of a switch: it is empty/],
    ['lab: x\nhosts: [a]\nswitches: rack', /"rack" are no switches: write their names, such as \[rack\]/],
    [
      `lab: x\nhosts: [${Array.from({ length: 1001 }, (_, i) => `h${i}`)}]`,
      /^1 : there are 1001 hosts: a lab has up to 1000/,
    ],
  ] as const) {
    test(`${JSON.stringify(text)} is refused`, () => {
      const [first = ''] = faultsIn(text);
      assert.match(first, expected);
    });
  }

  test('is found in any text, without an exception', () => {
    const word = fc.constantFrom(
      'lab',
      'hosts',
      'links',
      'switches',
      'a',
      'rack',
      '10.0.0.0/24',
      '*x',
      '&x',
      '20',
      'none',
      '1%',
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        word,
        fc.constant(null),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(word, tie('any'), { maxKeys: 3 }),
      ),
    })).any;
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          value.map((each) => JSON.stringify(each)),
        ),
        (text) => {
          const found = readLabDocument(text);
          assert.ok('document' in found || found.faults.length > 0);
        },
      ),
      { numRuns: 500 },
    );
  });
});
