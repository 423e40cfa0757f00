import path from 'node:path';

/** Where things of a lab are on this machine. */
export class LabPlaces {
  readonly #state: string;
  readonly #run: string;

  constructor(lab: string) {
    this.#state = path.join(LABS, lab);
    this.#run = path.join(RUNNING, lab);
  }

  /** What outlives the machine. */
  get state(): string {
    return this.#state;
  }

  /** What ends with it. */
  get run(): string {
    return this.#run;
  }

  get record(): string {
    return path.join(this.#state, 'lab.json');
  }

  /** The document as it was when the lab was made. */
  get document(): string {
    return path.join(this.#state, 'lab.yaml');
  }

  get keeperLog(): string {
    return path.join(this.#state, 'keeper.log');
  }

  get keeperLock(): string {
    return path.join(this.#run, 'keeper.lock');
  }

  /** Is there while the agents of the lab are to be kept running, by whichever process. */
  get kept(): string {
    return path.join(this.#run, 'kept');
  }

  /** Links that are cut and hosts that are dead do not survive the machine. */
  get faults(): string {
    return path.join(this.#run, 'faults.json');
  }

  /** Whoever changes the lab has this. */
  get turn(): string {
    return path.join(RUNNING, `${path.basename(this.#run)}.lock`);
  }

  host(name: string): HostPlaces {
    const [state, run] = [path.join(this.#state, 'hosts', name), path.join(this.#run, name)];
    return { state, run, log: path.join(state, 'agent.log') };
  }
}

/** STATE and RUN of a host, as its agent calls them. */
export interface HostPlaces {
  readonly state: string;
  readonly run: string;
  /** What its agent writes. */
  readonly log: string;
}

export const LABS = '/var/lib/netloom/labs';
export const RUNNING = '/run/netloom/labs';
/** Whoever compares labs with each other has this; no lab has such a name. */
export const EVERYBODYS_TURN = path.join(RUNNING, '.all.lock');
