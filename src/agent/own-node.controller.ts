import { Node } from '../api/core/node.ts';
import { type Controller, controller } from '../runtime/controller.ts';
import { done, wait } from '../runtime/outcome.ts';
import { type Machine, readSupplies } from './host-facts.ts';
import { nodeStatus, type Presence } from './node-status.ts';
import type { Registration } from './registration.ts';
import type { Troubles } from './troubles.ts';

/** So often the host is looked at. */
const LOOK_EVERY = 2_000;

export interface OwnNodeOptions {
  readonly presence: () => Presence;
  readonly machine: Machine;
  readonly registration: Registration;
  readonly troubles: Troubles;
  readonly stateDirectory: string;
}

/** Says on the Node how its host is. */
export const ownNode = (options: OwnNodeOptions): Controller =>
  controller({
    name: 'own-node',
    for: Node,
    reconcile: async (node, { system }) => {
      const { presence, machine, registration, troubles, stateDirectory } = options;
      const own = presence();
      if (node.metadata.name !== own.name) return done();
      if (!registration.isOn(node)) registration.forget();
      const supplies = await readSupplies(stateDirectory);
      const measured = { machine, supplies, troubles: troubles.list() };
      return wait({ after: LOOK_EVERY, status: nodeStatus(own, measured, node.status, system.now()) });
    },
    gone: ({ name }) => {
      if (name === options.presence().name) options.registration.forget();
    },
  });
