import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LabError } from '../lab-error.ts';
import { possibleDocument } from './bring-up.ts';

const TEXT = `lab: x
hosts:
  a: { links: { eth0: { switch: rack, delay: 10ms } } }
  b: { links: { eth0: nowhere } }
  c: { links: { eth0: { switch: rack, vlan: 33 } } }
switches: { rack: { subnet: 10.1.1.0/24, vlans: [20] } }
`;

test('what a document asks for and cannot have is told at once, from the top down', async () => {
  const error = await possibleDocument('x.yaml', TEXT).catch((error: unknown) => error);
  assert.ok(error instanceof LabError);
  const lines = error.message.split('\n');
  const ofKernel = lines.filter((line) => line.includes('netem'));
  assert.deepEqual(lines, [
    ...ofKernel,
    'x.yaml:4: hosts.b.links.eth0: there is no switch "nowhere"; switches are rack',
    'x.yaml:5: hosts.c.links.eth0: VLAN 33 is none of rack, which has 20',
  ]);
  for (const line of ofKernel)
    assert.match(line, /^x\.yaml:3: hosts\.a\.links\.eth0: a delay of 10 ms is not to be had/);
});
