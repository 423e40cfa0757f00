import { LAB_LABEL, UNDERLAY_ADDRESS } from '../api/core/node.ts';
import { POD_LINKS, RoutedPodNetwork } from '../pods/host/routed-pod-network.ts';
import { Client } from '../runtime/client.ts';
import { type System, sleep } from '../runtime/clock.ts';
import type { Controller, Host } from '../runtime/controller.ts';
import { EventRecorder } from '../runtime/events.ts';
import { HttpTransport } from '../runtime/http-transport.ts';
import { Informers } from '../runtime/informers.ts';
import type { Connection } from '../runtime/kubeconfig.ts';
import type { Log } from '../runtime/log.ts';
import { Unreachable } from '../runtime/transport.ts';
import { startServiceHost } from '../services/host/service-host.ts';
import { Heartbeat } from './heartbeat.ts';
import { readMachine } from './host-facts.ts';
import { Identity } from './identity.ts';
import { IdentityFiles } from './identity-files.ts';
import { nodeMetadata, type Presence, saysWhatThereIs } from './node-status.ts';
import { ownNode } from './own-node.controller.ts';
import { podRoutes } from './pod-routes.controller.ts';
import { HostedPods } from './pods.ts';
import { Registration } from './registration.ts';
import { Troubles } from './troubles.ts';

export interface AgentOptions {
  readonly name: string;
  /** To the API, as the host itself. */
  readonly connection: Connection;
  /** Under which others reach the agent. */
  readonly addresses: readonly string[];
  /** That other hosts route to for the pods of this one, where they are others; one of a family. */
  readonly underlayAddresses?: readonly string[];
  /** Where logs and exec are served; 0 takes a free port. */
  readonly port: number;
  /** What Services have their addresses from, and pods on all hosts theirs. */
  readonly serviceCidrs: readonly string[];
  readonly podCidrs: readonly string[];
  /** Folders that no container may see, besides those of the host itself. */
  readonly hidden: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** That its Node has, by their names, instead of what the machine has. */
  readonly resources: Readonly<Record<string, string>>;
  /** The group below which all groups of its pods are. */
  readonly cgroup: string;
  /** STATE and RUN, as src/pods/README.md calls them. */
  readonly stateDirectory: string;
  readonly runDirectory: string;
  readonly system: System;
  readonly log: Log;
}

export interface Agent {
  /** Resolves when the API knows of this host. */
  readonly registered: Promise<void>;
  /** Pods run on, and the next agent finds them. */
  stop(): Promise<void>;
}

/** For so long the first word about the host waits for what runs its pods and leads to Services. */
const START_PATIENCE = 10_000;
/** What is under way at the end may come to its own; an API or a supervisor that does not answer is not waited for longer. */
const STOP_PATIENCE = 3_000;
/** A beat that is not answered within this time is taken for lost. */
const BEAT = { connect: 3_000, answer: 3_000, putOff: 0 };

/** What runs on a host: composed here of the host sides of the capabilities. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { name, connection, addresses, underlayAddresses = [], system, log, stateDirectory } = options;
  const stops: (() => unknown)[] = [];
  const ended = new AbortController();
  const cut = new AbortController();
  const stop = async () => {
    ended.abort();
    const giveUp = system.timer(STOP_PATIENCE, () =>
      cut.abort(new Unreachable('no answer came before the agent ended')),
    );
    for (const end of stops.splice(0).reverse()) await end();
    giveUp();
  };
  try {
    const files = new IdentityFiles(stateDirectory);
    const troubles = new Troubles();
    const transport = new HttpTransport({ connection, system, userAgent: 'netloom-agent' });
    const beats = new HttpTransport({ connection, system, userAgent: 'netloom-agent', limits: BEAT });
    stops.push(() => {
      cut.abort();
      transport.close();
      beats.close();
    });
    const fieldManager = 'netloom-agent';
    const client = new Client({ transport, fieldManager, signal: cut.signal });
    const informers = new Informers({ client, system, log });
    stops.push(() => informers.stop());

    const certificates = { serving: await files.read('serving') };
    const machine = await readMachine();
    const presence = (): Presence => ({
      name,
      addresses,
      port: pods.port,
      labels: options.labels,
      resources: options.resources,
      annotations: underlayAddresses.length === 0 ? {} : { [UNDERLAY_ADDRESS]: underlayAddresses.join(',') },
    });

    const events = (component: string): EventRecorder => {
      const recorder = new EventRecorder({ client, system, log, component, instance: name });
      stops.push(() => recorder.stop());
      return recorder;
    };
    const host: Host = { client, informers, events, system, log, signal: cut.signal };
    const run = (controller: Controller): void => {
      const running = controller.start(host);
      stops.push(() => running.stop());
    };
    const network = new RoutedPodNetwork({ underlayAddress: underlayAddresses[0] ?? addresses[0] });
    const { hostname, port: apiPort, protocol } = new URL(connection.server);
    const services = startServiceHost({
      ...{ informers, system, log, node: name },
      ...{ serviceCidrs: options.serviceCidrs, podCidrs: options.podCidrs, podLinks: POD_LINKS },
      hostAddresses: () => [...underlayAddresses, ...addresses],
      // The network of a lab's host is there for nothing else, and who works in it asks for names before there is a pod.
      atOnce: options.labels[LAB_LABEL] !== undefined,
      api: { host: hostname.replace(/^\[|\]$/g, ''), port: Number(apiPort) || (protocol === 'http:' ? 80 : 443) },
      trouble: (part, message) =>
        troubles.set(
          `services: ${part}`,
          message === undefined ? undefined : { reason: 'ServicesIncomplete', message, isFatal: false },
        ),
    });
    stops.push(() => services.stop());
    const pods = new HostedPods({
      ...{ name, client, informers, events: events('kubelet'), network, services, system, log, troubles },
      ...{ stateDirectory, runDirectory: options.runDirectory, cgroup: options.cgroup, hidden: options.hidden },
      ...{ addresses, port: options.port },
      isNodeUpToDate: (node) => registration.isOn(node) && saysWhatThereIs(node, presence(), machine),
      authority: connection.ca ?? '',
      serving: () => certificates.serving,
      signal: ended.signal,
      giveUp: cut.signal,
    });
    stops.push(() => pods.stop());

    const identity = new Identity({
      ...{ name, client, files, addresses, system, log },
      changed: (which, pair) => {
        const { certificate: clientCert, key: clientKey } = pair;
        if (which === 'client') for (const each of [transport, beats]) each.useCertificate({ clientCert, clientKey });
        else certificates.serving = pair;
        if (which === 'serving') pods.useCertificate();
      },
      trouble: (which, message) =>
        troubles.set(
          `${which} certificate`,
          message === undefined ? undefined : { reason: 'CertificateNotRenewed', message, isFatal: false },
        ),
    });
    stops.push(() => identity.stop());

    const registration = new Registration({ client, name, metadata: nodeMetadata(presence(), machine) });
    const beating = new Client({ transport: beats, fieldManager, signal: cut.signal });
    const heartbeat = new Heartbeat({
      ...{ client: beating, name, registration, system, log },
      heardAgain: () => transport.reconnect(),
    });
    stops.push(() => heartbeat.stop());
    run(podRoutes({ name, network, troubles }));
    // An agent that comes back does not say that the host is not ready, only because it has not looked yet.
    const able = Promise.all([pods.started, services.settled()]);
    void Promise.race([able, sleep(system, START_PATIENCE, ended.signal)]).then(() => {
      if (!ended.signal.aborted) run(ownNode({ presence, machine, registration, troubles, stateDirectory }));
    });
    return { registered: heartbeat.first, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
