import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../../../test/engine/engine-in-test.ts';
import { type Container, type ContainerStatus, Pod, type PodSpec } from '../../api/core/pod.ts';
import { Event } from '../../runtime/builtin.ts';
import type { Client } from '../../runtime/client.ts';
import { conditionOf } from '../pod-state.ts';

export const NAMESPACE = 'default';

/** Ends at once when it is asked to: the first process of a namespace does not do so by itself. */
export const STAY = 'trap "exit 0" TERM; while :; do sleep 0.1; done';

/** Machines that many tests share take their time. */
const PATIENCE = 30_000;

/** Pods of one host as people have to do with them: they are made through the API, and what is true of them is read there. */
export class PodsByApi {
  readonly client: Client;
  readonly #node: string;
  readonly #stateDirectory: string;

  /** @param host the name of its Node, and STATE in the README */
  constructor(client: Client, host: { node: string; stateDirectory: string }) {
    this.client = client;
    this.#node = host.node;
    this.#stateDirectory = host.stateDirectory;
  }

  async pod(name: string, containers: Container[], spec: Partial<PodSpec> = {}): Promise<Pod> {
    const metadata = { name, namespace: NAMESPACE };
    return this.client.create(Pod, {
      metadata,
      spec: { nodeName: this.#node, terminationGracePeriodSeconds: 1, ...spec, containers },
    });
  }

  /** A pod with one container that runs a shell script. */
  script(name: string, script: string, container: Partial<Container> = {}, spec: Partial<PodSpec> = {}): Promise<Pod> {
    return this.pod(name, [shell(script, container)], spec);
  }

  get(name: string): Promise<Pod | undefined> {
    return this.client.get(Pod, name, NAMESPACE);
  }

  /** The pod, as soon as it is so. */
  until(name: string, isSo: (pod: Pod) => boolean): Promise<Pod> {
    const ask = async (): Promise<Pod> => {
      const found = await this.get(name);
      assert.ok(found, `there is no pod ${name}`);
      return found;
    };
    return eventually(ask, isSo, PATIENCE);
  }

  running(name: string): Promise<Pod> {
    return this.until(name, ({ status }) => status?.phase === 'Running');
  }

  ready(name: string): Promise<Pod> {
    return this.until(name, (pod) => conditionOf(pod, 'Ready')?.status === 'True');
  }

  finished(name: string): Promise<Pod> {
    return this.until(name, ({ status }) => status?.phase === 'Succeeded' || status?.phase === 'Failed');
  }

  /** What a container of it waits for, as soon as it waits for that. */
  async waiting(name: string, reason: string, container = 'main'): Promise<string> {
    const pod = await this.until(name, (found) => statusIn(found, container).state?.waiting?.reason === reason);
    return statusIn(pod, container).state?.waiting?.message ?? '';
  }

  /** How it ended, and what it wrote, by a pod that is not restarted. */
  async result(
    name: string,
    script: string,
    container: Partial<Container> = {},
    spec: Partial<PodSpec> = {},
  ): Promise<{ exitCode: number; output: string; pod: Pod }> {
    await this.script(name, script, container, { restartPolicy: 'Never', ...spec });
    const pod = await this.finished(name);
    const exitCode = statusIn(pod).state?.terminated?.exitCode ?? -1;
    return { exitCode, output: this.log(pod), pod };
  }

  log(pod: Pod, container = 'main', attempt = 0): string {
    return readFileSync(this.#logOf(pod, container, attempt), 'utf8')
      .split('\n')
      .map((line) => line.split(' ').slice(3).join(' '))
      .join('\n');
  }

  /** When it wrote each line, in milliseconds since 1970. */
  logTimes(pod: Pod, container = 'main', attempt = 0): number[] {
    const lines = readFileSync(this.#logOf(pod, container, attempt), 'utf8')
      .trimEnd()
      .split('\n');
    return lines.map((line) => Date.parse(line.split(' ')[0] ?? ''));
  }

  logged(pod: Pod, isSo: (log: string) => boolean): Promise<string> {
    return eventually(async () => this.log(pod), isSo, PATIENCE);
  }

  async delete(name: string): Promise<void> {
    await this.client.delete(Pod, { namespace: NAMESPACE, name });
  }

  /** What has thousands of processes takes a while to end. */
  async gone(name: string): Promise<void> {
    await eventually(
      () => this.get(name),
      (found) => found === undefined,
      PATIENCE,
    );
  }

  async events(name: string): Promise<string[]> {
    const all = await this.client.list(Event, NAMESPACE);
    return all
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  }

  /** The first event about the pod that says so. */
  async event(name: string, text: RegExp): Promise<string> {
    const all = await eventually(
      () => this.events(name),
      (events) => events.some((event) => text.test(event)),
      PATIENCE,
    );
    return all.find((event) => text.test(event)) ?? '';
  }

  #logOf({ metadata: { namespace = '', name, uid } }: Pod, container: string, attempt: number): string {
    return path.join(this.#stateDirectory, 'logs', `${namespace}_${name}_${uid}`, container, `${attempt}.log`);
  }
}

export const shell = (script: string, container: Partial<Container> = {}): Container => ({
  name: 'main',
  image: 'host',
  command: ['sh', '-c', script],
  ...container,
});

/** Of a container of which nothing is said yet, this says nothing. */
export function statusIn(pod: Pod, container = 'main'): ContainerStatus {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const found = [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container);
  return found ?? { name: container, image: '', imageID: '', ready: false, restartCount: 0 };
}
