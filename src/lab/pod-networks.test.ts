import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readLabDocument } from './document/read-document.ts';
import { podOverlaps } from './pod-networks.ts';

const TEXT = `lab: x
management: 10.9.0.0/24
switches:
  rack: { subnet: [10.244.7.0/24, 'fd00:244:0:7::/64'] }
  spine: { subnet: 192.168.0.0/24, vlans: { 20: 10.244.8.0/24 } }
hosts: [a, b]
links: [{ between: 'a:eth7 -- b:eth7', subnet: 10.9.1.0/30 }]
`;

function told(podCidrs: string | undefined) {
  const read = readLabDocument(TEXT);
  assert.ok('document' in read);
  const { faults, isCertain } = podOverlaps(read.document, podCidrs);
  return { isCertain, faults: faults.map(({ line, path, sentence }) => `${line} ${path}: ${sentence.split(':')[0]}`) };
}

describe('a network of a lab', () => {
  test('is none in which pods have their addresses', () => {
    assert.deepEqual(told('10.9.0.0/16,fd00:244::/56'), {
      isCertain: true,
      faults: [
        '2 management: 10.9.0.0/24 of the management network overlaps 10.9.0.0/16, which pods have their addresses from',
        '4 switches.rack: fd00',
        '7 links[0]: 10.9.1.0/30 of a link between hosts overlaps 10.9.0.0/16, which pods have their addresses from',
      ],
    });
    assert.deepEqual(told('10.0.0.0/24'), { isCertain: true, faults: [] });
  });

  test('may be one in which pods have theirs, where the API does not say', () => {
    const usual = 'overlaps 10.244.0.0/16, which pods usually have their addresses from';
    assert.deepEqual(told(undefined), {
      isCertain: false,
      faults: [
        `4 switches.rack: 10.244.7.0/24 of the switch rack ${usual}`,
        `5 switches.spine: 10.244.8.0/24 of the switch spine ${usual}`,
      ],
    });
  });
});
