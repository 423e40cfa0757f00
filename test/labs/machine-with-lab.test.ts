import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/api/json.ts';
import { MachineInTest, PROGRAM } from '../agent/machine-in-test.ts';
import { noLabs } from './lab-in-test.ts';

/** A pod of this node that tells its name to whoever asks. */
const webServer = (name: string, nodeName: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'web' } },
  spec: {
    nodeName,
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'web',
        image: 'none',
        command: ['sh', '-c', 'cd /tmp && hostname > index.html && exec python3 -m http.server 8080 --bind ::'],
        readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
      },
    ],
  },
});

const service: JsonObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: {
    selector: { app: 'web' },
    ipFamilyPolicy: 'PreferDualStack',
    ports: [{ port: 80, targetPort: 8080 }],
  },
};

const CASES = [
  { family: 'IPv4', nth: 0, more: [] },
  {
    family: 'IPv6',
    nth: 1,
    more: ['--service-cidr', '10.96.0.0/16,fd00:96::/112', '--pod-cidr', '10.244.0.0/16,fd00:244::/56'],
  },
];

for (const { family, nth, more } of CASES)
  describe(`a machine that is a host and has a lab, by ${family}`, { skip: noLabs }, () => {
    let machine: MachineInTest;
    let lab: string;
    const hostOfLab = (): string => `${lab}-host`;
    const nthOf = async (what: string, path: string): Promise<string> => {
      const address = await machine.kubectl(`get ${what} -o jsonpath={${path.replace('@', String(nth))}}`);
      return address.includes(':') ? `[${address}]` : address;
    };
    const addressOf = (pod: string) => nthOf(`pod ${pod}`, '.status.podIPs[@].ip');
    const onLab = (words: readonly string[]) => machine.netloom(['lab', 'exec', hostOfLab(), '--', ...words]);
    const ask = (address: string): string[] => ['-gsS', '-m', '10', `http://${address}/`];
    const fromMachine = (address: string) => machine.run('curl', ask(address));
    const fromLab = (address: string) => onLab(['curl', ...ask(address)]);

    before(async () => {
      machine = await MachineInTest.make();
      lab = machine.name;
      // The way out that every machine has; labs tell their hosts about the machine's address there.
      for (const words of [
        'link add eth0 type veth peer name out',
        'address add 192.0.2.2/24 dev eth0',
        'address add 2001:db8::2/64 dev eth0 nodad',
        'link set out up',
        'link set eth0 up',
        'route add default via 192.0.2.1',
      ]) {
        await machine.run('ip', words.split(' '));
      }
      await machine.startUp('on', [], more);
      const document = `lab: ${lab}\nhosts:\n  ${hostOfLab()}:\n    links: { eth0: rack 192.168.122.10 }\nswitches:\n  rack:\n    subnet: 192.168.122.0/24\n`;
      await machine.run(PROGRAM, ['lab', 'up', '-'], document);
      for (const node of [machine.name, hostOfLab()]) {
        await machine.kubectl(['wait', `node/${node}`, '--for=condition=Ready', '--timeout=60s']);
      }
      await machine.kubectl('apply -f -', {
        apiVersion: 'v1',
        kind: 'List',
        items: [webServer('here', machine.name), webServer('there', hostOfLab()), service],
      });
      await machine.kubectl('wait pod/here pod/there --for=condition=Ready --timeout=60s');
    });
    after(async () => {
      await machine.attempt(PROGRAM, ['lab', 'down', lab]);
      await machine.end('up', 'SIGKILL');
      await machine.attempt('sh', ['-c', 'sleep 1']);
      await machine.removeUsual();
      await machine.destroy();
    });

    test('pods on the machine answer hosts of the lab, and the other way round', async () => {
      assert.equal(await fromLab(`${await addressOf('here')}:8080`), 'here\n');
      assert.equal(await fromMachine(`${await addressOf('there')}:8080`), 'there\n');
    });

    test('a Service leads from both to both', async () => {
      const address = await nthOf('service web', '.spec.clusterIPs[@]');
      for (const from of [fromLab, fromMachine]) {
        const answers = new Set<string>();
        for (let tries = 0; tries < 200 && answers.size < 2; tries += 1) answers.add(await from(address));
        assert.deepEqual([...answers].sort(), ['here\n', 'there\n']);
      }
    });

    test('neither Node has anything to say against it', async () => {
      const reasons = await machine.kubectl(
        'get nodes -o jsonpath={.items[*].status.conditions[?(@.type=="Ready")].reason}',
      );
      assert.doesNotMatch(reasons, /PodRoutesIncomplete/);
    });
  });
