import type { Pod } from '../../api/core/pod.ts';
import type { Service } from '../../api/core/service.ts';
import type { EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { isActive } from '../../pods/pod-state.ts';
import { called, type Finding, named, problem } from './finding.ts';
import { podServes } from './pod-findings.ts';

export interface BackendFacts {
  readonly service: Service;
  /** Of its namespace. */
  readonly pods: readonly Pod[];
  /** Those that say where it leads. */
  readonly slices: readonly EndpointSlice[];
  /** By UID of a pod that is not Ready, why; as far as somebody looked. */
  readonly reasons: ReadonlyMap<string, readonly Finding[]>;
}

/** The pods that a Service stands for, by its selector; undefined when it has none: then others write where it leads. */
export function podsBehind({ spec }: Service, pods: readonly Pod[]): Pod[] | undefined {
  const { type, selector = {} } = spec;
  const wanted = Object.entries(selector);
  if (type === 'ExternalName' || wanted.length === 0) return undefined;
  return pods
    .filter(isActive)
    .filter(({ metadata: { labels = {} } }) => wanted.every(([key, value]) => labels[key] === value));
}

/** Why nobody answers under the addresses of a Service. */
export function backendFindings({ service, pods, slices, reasons }: BackendFacts): Finding[] {
  const about = named(service);
  const behind = podsBehind(service, pods);
  if (service.metadata.deletionTimestamp !== undefined || behind === undefined) return [];
  const selector = Object.entries(service.spec.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  if (behind.length === 0) {
    return [
      problem(about, `nobody answers: no pod in namespace ${about.namespace} has the labels ${selector.join(',')}`, {
        remedies: [
          `start pods with these labels, or correct spec.selector of ${called(about)} (kubectl get pods -n ${about.namespace} --show-labels)`,
        ],
      }),
    ];
  }
  const leads = slices.some(({ endpoints }) => endpoints.some(({ conditions }) => conditions?.ready !== false));
  if (leads) return [];
  const waiting = behind.filter((pod) => !podServes(pod));
  if (waiting.length < behind.length) {
    const says = 'nobody answers: there are Ready pods with its labels, but no EndpointSlice leads to them';
    return [
      problem(about, says, {
        remedies: [
          'see that its ports name ports of the pods, and that somebody keeps endpoints: "netloom up" does, "netloom controllers" does with --services on',
        ],
      }),
    ];
  }
  const [first] = waiting;
  if (first === undefined) return [];
  const which =
    behind.length === 1 ? 'the one pod with its labels is not Ready' : `none of its ${behind.length} pods is Ready`;
  const because = [
    problem(named(first), `${called(named(first))} is not Ready`, { because: reasons.get(first.metadata.uid) ?? [] }),
  ];
  return [problem(about, `nobody answers: ${which}`, { because })];
}
