import assert from 'node:assert/strict';
import { Deployment, ReplicaSet, StatefulSet } from '../../api/apps/workloads.ts';
import type { Pod, PodSpec } from '../../api/core/pod.ts';
import { Lab, NAMESPACE } from '../lab.fixture.ts';
import { isActive, isReady } from '../pod-state.ts';

export type DeploymentWishes = Partial<Deployment['spec']> & { version?: string };

/** A lab with Deployments in it. */
export class Workloads extends Lab {
  async deploy(name: string, { version = '1', ...spec }: DeploymentWishes = {}): Promise<void> {
    await this.world.client.create(Deployment, {
      metadata: { name, namespace: NAMESPACE },
      spec: { replicas: 3, progressDeadlineSeconds: 600, ...spec, ...templateOf(name, version) },
    });
  }

  async change(name: string, spec: DeploymentWishes): Promise<void> {
    const { version, ...rest } = spec;
    const template = version === undefined ? {} : { template: templateOf(name, version).template };
    const merge = JSON.parse(JSON.stringify({ spec: { ...rest, ...template } }));
    await this.world.client.patch(Deployment, { namespace: NAMESPACE, name }, { merge });
  }

  async serveStateful(
    name: string,
    { version = '1', ...spec }: Partial<StatefulSet['spec']> & { version?: string } = {},
  ): Promise<void> {
    await this.world.client.create(StatefulSet, {
      metadata: { name, namespace: NAMESPACE },
      spec: { replicas: 3, serviceName: name, ...spec, ...templateOf(name, version) },
    });
  }

  async changeStateful(name: string, { version, ...rest }: Partial<StatefulSet['spec']> & { version?: string }) {
    const template = version === undefined ? {} : { template: templateOf(name, version).template };
    const merge = JSON.parse(JSON.stringify({ spec: { ...rest, ...template } }));
    await this.world.client.patch(StatefulSet, { namespace: NAMESPACE, name }, { merge });
  }

  statefulSet(name: string): StatefulSet {
    const found = this.world.api.objects(StatefulSet).find(({ metadata }) => metadata.name === name);
    assert.ok(found, `there is no stateful set ${name}`);
    return found;
  }

  /** Name and version of every pod on record, by name. */
  names(): string[] {
    return this.pods()
      .map(
        ({ metadata }) =>
          `${metadata.name} ${metadata.labels?.['version']}${metadata.deletionTimestamp ? ' ending' : ''}`,
      )
      .sort();
  }

  deployment(name: string): Deployment {
    const found = this.world.api.objects(Deployment).find(({ metadata }) => metadata.name === name);
    assert.ok(found, `there is no deployment ${name}`);
    return found;
  }

  sets(): ReplicaSet[] {
    return this.world.api.objects(ReplicaSet);
  }

  /** How many pods of each version there are that count. */
  versions(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { metadata } of this.active()) {
      const version = metadata.labels?.['version'] ?? '';
      counts[version] = (counts[version] ?? 0) + 1;
    }
    return counts;
  }

  available(): Pod[] {
    return this.pods().filter((pod) => isActive(pod) && isReady(pod));
  }

  condition(name: string, type: string): string {
    const found = this.deployment(name).status?.conditions?.find((condition) => condition.type === type);
    return found === undefined ? 'nothing said' : `${found.status} ${found.reason}: ${found.message}`;
  }
}

export function templateOf(name: string, version: string, spec: Partial<PodSpec> = {}) {
  return {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name, version } },
      spec: { containers: [{ name: 'main', image: `web:${version}` }], ...spec },
    },
  };
}
