import path from 'node:path';
import type { Container } from '../../api/core/pod.ts';
import { containerEnv, type EnvSource, MissingSource } from './env/container-env.ts';
import { expanded } from './env/expansion.ts';
import type { HostUsers } from './host-users.ts';
import { ForbiddenIdentity, identityOf } from './identity.ts';
import { containerLimits, dispensabilityOf } from './limits.ts';
import { containerId, type Places } from './places.ts';
import { BACKOFF_LABEL } from './runs.ts';
import type { ContainerSpec, Mount } from './runtime.ts';

export interface SpecSource extends Omit<EnvSource, 'defaults'> {
  readonly places: Places;
  readonly users: HostUsers;
  readonly hostname: string;
  /** The folder with netloom's own program, last in the PATH. */
  readonly programs: string;
  /** @param lookUp what `subPathExpr` may refer to */
  readonly mountsOf: (container: Container, lookUp: (name: string) => string | undefined) => readonly Mount[];
}

/** The container cannot be started as it is described: `reason` and message are for its status. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly reason: string;

  constructor(message: string, reason = 'CreateContainerConfigError') {
    super(message);
    this.reason = reason;
  }
}

/** How a container of a pod is to be run, all references resolved. */
export function containerSpec(
  source: SpecSource,
  container: Container,
  { attempt, backoff }: { attempt: number; backoff: number },
): ContainerSpec {
  const { pod, places, users } = source;
  const { uid } = pod.metadata;
  try {
    const identity = identityOf(pod, container, users);
    const env = containerEnv({ ...source, defaults: defaultEnv(source, container, identity.user) }, container);
    const values = new Map(env);
    const lookUp = (name: string): string | undefined => values.get(name);
    const { workingDir } = container;
    return {
      id: containerId(uid, container.name, attempt),
      sandbox: uid,
      name: container.name,
      attempt,
      command: commandOf(container, lookUp),
      env,
      ...(workingDir === undefined || workingDir === '' ? {} : { workingDirectory: absolute(workingDir) }),
      mounts: source.mountsOf(container, lookUp),
      ...identity,
      limits: containerLimits(container),
      dispensability: dispensabilityOf(pod, container, source.capacity.memoryBytes),
      logFile: places.log(pod, container.name, attempt),
      log: LOG,
      stdin: container.stdin === true,
      stdinOnce: container.stdinOnce === true,
      tty: container.tty === true,
      labels: { [BACKOFF_LABEL]: String(backoff) },
    };
  } catch (error) {
    if (error instanceof MissingSource || error instanceof ForbiddenIdentity) throw new ConfigError(error.message);
    throw error;
  }
}

/** As a kubelet keeps them. */
const LOG = { maxBytes: 10 * 2 ** 20, maxFiles: 5 };

function commandOf(
  { name, command = [], args = [] }: Container,
  lookUp: (name: string) => string | undefined,
): string[] {
  const whole = [...command, ...args].map((text) => expanded(text, lookUp));
  if (whole.length > 0) return whole;
  throw new ConfigError(
    `container ${name} names no command, and images are never pulled here, so there is none to take instead: say in "command" what of the host it is to run`,
  );
}

function defaultEnv({ hostname, users, programs }: SpecSource, container: Container, user: number) {
  const env: [string, string][] = [
    ['PATH', `/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:${programs}`],
    ['HOSTNAME', hostname],
    ['HOME', users.homeOf(user)],
  ];
  return container.tty === true ? [...env, ['TERM', 'xterm'] as [string, string]] : env;
}

/** Paths of containers begin at their root. */
export const absolute = (target: string): string => path.posix.resolve('/', target);
