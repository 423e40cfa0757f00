import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Computer, type RunningHere } from './computer.ts';
import { noLabs } from './lab-in-test.ts';
import { differences, everythingOn, networkOf } from './machine-view.ts';

const document = (lab: string): string => `
lab: ${lab}
switches:
  rack: { subnet: 10.77.0.0/24, vlans: { 20: 10.77.20.0/24 } }
hosts:
  a: { links: { eth0: { switch: rack, rate: 100mbit, loss: 0.1% } } }
  b: { links: { eth0: rack } }
  c: { links: { eth0: { switch: rack, vlan: 20 } }, agent: false }
links: [ a:x -- b:x ]
`;

const WEB = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        replicas: 4,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: {
            terminationGracePeriodSeconds: 1,
            containers: [
              {
                name: 'web',
                image: 'none',
                command: ['python3', '-m', 'http.server', '8080'],
                readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
                volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
                resources: { limits: { memory: '64Mi' } },
              },
            ],
            volumes: [{ name: 'scratch', emptyDir: {} }],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    },
  ],
});

describe('a lab on a computer of its own', { skip: noLabs }, () => {
  let computer: Computer;
  let netloom: RunningHere;
  let lab: string;
  let file: string;
  before(async () => {
    computer = await Computer.make();
    lab = `${computer.name}-1`;
    file = computer.write('lab.yaml', document(lab));
  });
  after(() => computer?.remove());

  const up = () => computer.run(['netloom', 'lab', 'up', file]);
  const down = () => computer.run(['netloom', 'lab', 'down', lab]);
  const webRuns = async (): Promise<void> => {
    await computer.run('kubectl apply -f -', WEB);
    await computer.run('kubectl rollout status deployment/web --timeout=60s');
    const address = await computer.run('kubectl get service web -o jsonpath={.spec.clusterIP}');
    const page = await computer.run(`netloom lab exec a -- curl -sS -m 10 http://${address}/`);
    assert.match(page, /Directory listing/);
  };
  /** Whoever is called ready is there, and not only on record. */
  const everyReadyPodAnswers = async (): Promise<void> => {
    const ready = '{range .items[*]}{.status.podIP}{" "}{.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
    const pods = await computer.run(['kubectl', 'get', 'pods', '-o', `jsonpath=${ready}`]);
    assert.match(pods, /^10\.244\./);
    for (const [, address] of pods.matchAll(/^(\S+) True$/gm)) {
      await computer.run(`netloom lab exec a -- curl -sS -m 10 -o /dev/null http://${address}:8080/`);
    }
  };
  /** Of the API, too. */
  const everything = async () => ({
    ...(await everythingOn(computer)),
    nodes: [await computer.run('kubectl get nodes,leases -A -o name')],
  });

  test('is not there yet: the machine is what it was, while Netloom runs and nobody asks for anything', async () => {
    const was = await networkOf(computer);
    netloom = await computer.startNetloom();
    await computer.becomesReady(computer.name);
    assert.deepEqual(differences(was, await networkOf(computer)), []);
    await netloom.stop();
    assert.deepEqual(differences(was, await networkOf(computer)), []);
  });

  test('leaves nothing when it is taken down: no process, mount, link, group or file', async () => {
    netloom = await computer.startNetloom('--agent', 'off');
    await computer.run(`kubectl delete node ${computer.name}`);
    const was = await everything();
    await up();
    // Before there is any pod, or any Service but this one.
    await computer.run('netloom lab exec a -- curl -sSk -m 10 -o /dev/null https://kubernetes.default.svc/version');
    await webRuns();
    const then = await everything();
    for (const [what, lines] of Object.entries(then)) {
      // Services are in the networks of its hosts, and so are rules.
      if (['rules', 'rules6', 'firewall', 'routes6'].includes(what)) continue;
      assert.ok(
        lines.join().length > (was[what as keyof typeof was] ?? []).join().length,
        `nothing is seen of ${what}`,
      );
    }
    await down();
    assert.deepEqual(differences(was, await everything()), []);
  });

  test('is finished by whoever comes next, whenever those who made it or took it down were killed', async () => {
    const was = await everything();
    const rounds = process.env['NETLOOM_SOAK'] === '1' ? 60 : 6;
    for (let round = 0; round < rounds; round += 1) {
      // Starting takes a while; what comes then is over soon.
      await killedAfter(['netloom', 'lab', 'up', file], 150 + (1_200 * round) / rounds);
      if (round % 2 === 1) await killedAfter(['netloom', 'lab', 'down', lab], 150 + (700 * round) / rounds);
    }
    await up();
    await webRuns();
    await killedAfter(['netloom', 'lab', 'down', lab], 300);
    await computer.attempt(['netloom', 'lab', 'down', lab]);
    assert.deepEqual(differences(was, await everything()), []);
  });

  const killedAfter = async (words: readonly string[], ms: number): Promise<void> => {
    const signal = AbortSignal.timeout(Math.round(ms));
    await computer.attempt(words, '', signal);
  };

  test('leaves nobody who would have followed its keeper, when that was killed just before', async () => {
    const was = await everything();
    await up();
    const { keeper } = JSON.parse(await computer.run('netloom lab status -o json'));
    await computer.run(`kill -KILL ${keeper}`);
    await down();
    assert.deepEqual(differences(was, await everything()), []);
  });

  test('is made once, however many make it at the same time', async () => {
    const all = await Promise.all(
      Array.from({ length: 4 }, () => computer.attempt(['netloom', 'lab', 'up', file, '-o', 'json'])),
    );
    for (const { code, stderr } of all) assert.equal(code, 0, stderr);
    const agents = new Set(all.flatMap(({ stdout }) => JSON.parse(stdout).hosts.map(({ agent = 0 }) => agent)));
    assert.equal(agents.size, 3, 'two hosts with an agent, and one without');
    assert.equal(JSON.parse(await computer.run('netloom lab status -o json')).complete, true);
  });

  test('belongs to another API when the one it had was begun anew', async () => {
    await netloom.stop();
    computer.erase('data');
    netloom = await computer.startNetloom('--agent', 'off');
    await up();
    await webRuns();
  });

  test('comes back by the command that its status tells when the machine was off, with what ran there', async () => {
    await computer.run('netloom lab up -', document(lab));
    const addresses = 'kubectl get nodes -o jsonpath={.items[*].status.addresses[0].address}';
    const were = await computer.run(addresses);
    await computer.switchOff();
    await computer.switchOn();
    netloom = await computer.startNetloom('--agent', 'off');
    const status = await computer.run('netloom lab status');
    const [, command = ''] = /^! nothing of it is there, as after a reboot: "(.*)" brings it back$/m.exec(status) ?? [];
    assert.match(status, /^a +Gone /m);
    const { code, stderr } = await computer.attempt('netloom lab heal');
    assert.equal(code, 1);
    assert.ok(stderr.includes(`"${command}" brings it back`), stderr);
    await computer.run(command);
    assert.equal(await computer.run(addresses), were);
    await everyReadyPodAnswers();
    await webRuns();
    await computer.eventually(
      () => computer.run('kubectl get pods -o jsonpath={.items[*].status.phase}'),
      (phases) => phases === 'Running Running Running Running',
    );
  });

  test('may have any name', async () => {
    // As that which all labs share might have.
    await computer.run('netloom lab up --no-agents -', 'lab: all\nhosts: [z]\n');
    await computer.run('netloom lab down all');
  });

  test('can be taken down after the machine was off, without being made again', async () => {
    await computer.switchOff();
    await computer.switchOn();
    const was = await everythingOn(computer);
    netloom = await computer.startNetloom('--agent', 'off');
    await down();
    await netloom.stop();
    const left = differences(was, await everythingOn(computer));
    assert.deepEqual(
      left.filter((line) => line.startsWith('+')),
      [],
    );
    assert.ok(
      left.every((line) => line.startsWith('- files: /var/lib/netloom/labs')),
      left.join('\n'),
    );
  });
});
