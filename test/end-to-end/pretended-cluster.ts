import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Admission } from '../../src/api/admission.ts';
import { Pod } from '../../src/api/core/pod.ts';
import { customResourceDefinition } from '../../src/api/crd.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { allKinds } from '../../src/api/kinds.ts';
import { Prefix } from '../../src/api/prefix.ts';
import { forbidden } from '../../src/api/status.ts';
import { FakeHost } from '../../src/pods/host.fixture.ts';
import { podsAdmission, podsControllers } from '../../src/pods/index.ts';
import { CustomResourceDefinition } from '../../src/runtime/builtin.ts';
import { Client } from '../../src/runtime/client.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Manager } from '../../src/runtime/manager.ts';
import { system } from '../../src/runtime/system.ts';
import { servicesControllers } from '../../src/services/index.ts';
import { EngineInTest } from '../engine/engine-in-test.ts';
import { kubectlFor, type Result } from '../kubectl/kubectl.ts';

/** Some pods are refused, as by a quota. */
const refusal: Admission = {
  kind: Pod,
  operations: ['CREATE'],
  validate({ object, name }) {
    if (object?.metadata.annotations?.['test/refused'] === undefined) return [];
    throw forbidden(Pod, name, 'exceeded quota: test');
  },
};

/** A real engine, the real controllers, a real kubectl, and hosts that only pretend to run pods. */
export class PretendedCluster {
  readonly engine: EngineInTest;
  readonly client: Client;
  readonly #manager: Manager;
  readonly #hosts: readonly FakeHost[];
  readonly #kubectl: Awaited<ReturnType<typeof kubectlFor>>;

  private constructor(parts: {
    engine: EngineInTest;
    client: Client;
    manager: Manager;
    hosts: readonly FakeHost[];
    kubectl: Awaited<ReturnType<typeof kubectlFor>>;
  }) {
    this.engine = parts.engine;
    this.client = parts.client;
    this.#manager = parts.manager;
    this.#hosts = parts.hosts;
    this.#kubectl = parts.kubectl;
  }

  static async start(hosts: readonly string[] = ['a', 'b']): Promise<PretendedCluster> {
    const admission = [...podsAdmission({ evictAfterSeconds: 5 }), refusal];
    const engine = await EngineInTest.start({ kinds: allKinds, admission });
    const { transport } = engine;
    const client = new Client({ transport, fieldManager: 'test' });
    const definitions = allKinds.map((kind) => ({ ...customResourceDefinition(kind) }) as never);
    await Promise.all(definitions.map((each) => client.apply(CustomResourceDefinition, each, { force: true })));
    const podCidr = Prefix.parse('10.244.0.0/16');
    assert.ok(podCidr);
    const common = { transport, system, log: silentLog };
    const manager = new Manager({
      ...common,
      controllers: [...podsControllers({ podCidrs: [podCidr] }), ...servicesControllers()],
      fieldManager: 'netloom',
      instance: 'test',
    });
    manager.start();
    const pretenders = hosts.map((name) => new FakeHost({ ...common, name }));
    for (const host of pretenders) host.start();
    const kubectl = await kubectlFor({ kubeconfig: join(engine.directory, 'kubeconfig') });
    return new PretendedCluster({ engine, client, manager, hosts: pretenders, kubectl });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.stop()));
    await this.#manager.stop({ within: 1_000 });
    await this.engine.stop();
  }

  run(words: string | readonly string[], input?: JsonObject): Promise<Result> {
    const args = typeof words === 'string' ? words.split(' ') : words;
    return this.#kubectl(args, input === undefined ? {} : { input: JSON.stringify(input) });
  }

  /** Runs what must succeed; returns its standard output. */
  async ok(words: string | readonly string[], input?: JsonObject): Promise<string> {
    const { code, stdout, stderr } = await this.run(words, input);
    assert.equal(code, 0, `kubectl ${words} → ${code}: ${stderr}${stdout}`);
    return stdout;
  }
}
