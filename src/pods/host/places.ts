import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Pod } from '../../api/core/pod.ts';

/** Where things of pods are below the state directory; the README has the table. */
export class Places {
  readonly pods: string;
  readonly logs: string;
  readonly #layers: string;

  constructor(stateDirectory: string) {
    this.pods = path.join(stateDirectory, 'pods');
    this.logs = path.join(stateDirectory, 'logs');
    this.#layers = path.join(stateDirectory, 'containers');
  }

  pod(uid: string): string {
    return path.join(this.pods, safePart(uid));
  }

  volume(uid: string, name: string): string {
    return path.join(this.pod(uid), 'volumes', safePart(name));
  }

  /** `/etc/hosts` and its like, as all containers of the pod see them. */
  file(uid: string, name: string): string {
    return path.join(this.pod(uid), 'etc', safePart(name));
  }

  sharedMemory(uid: string): string {
    return path.join(this.pod(uid), 'shm');
  }

  terminationMessage(uid: string, container: string, attempt: number): string {
    return path.join(this.pod(uid), 'containers', safePart(container), `${attempt}`);
  }

  /** What a container has written beside its volumes; the supervisor has it. */
  layer(id: string): string {
    return path.join(this.#layers, safePart(id), 'upper');
  }

  podLogs({ metadata: { namespace = '', name, uid } }: Pod): string {
    // Together they may be longer than the name of a file; whose they are is said by the UID alone.
    return path.join(this.logs, safePart(`${`${namespace}_${name}`.slice(0, LONGEST_NAME - uid.length - 1)}_${uid}`));
  }

  /** Whose logs a folder holds. */
  static uidOfLogs(folder: string): string {
    return folder.slice(folder.lastIndexOf('_') + 1);
  }

  containerLogs(pod: Pod, container: string): string {
    return path.join(this.podLogs(pod), safePart(container));
  }

  log(pod: Pod, container: string, attempt: number): string {
    return path.join(this.containerLogs(pod, container), `${attempt}.log`);
  }
}

const LONGEST_NAME = 255;

/** The same for the same start of the same container of the same pod, whichever agent asks: nothing is started twice. */
export const containerId = (uid: string, container: string, attempt: number): string =>
  createHash('sha256').update(`${uid}/${container}/${attempt}`).digest('hex').slice(0, 32);

/** Names come from the API, which lets no such thing through; a path is not the place to rely on that. */
function safePart(name: string): string {
  if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
    throw new Error(`"${name}" cannot be the name of a file`);
  }
  return name;
}
