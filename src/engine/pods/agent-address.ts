import type { JsonObject } from '../../api/json.ts';
import { internalError } from '../../api/status.ts';
import { nameOf, numberAt, objectAt, objectsAt, statusOf, textAt } from '../builtin/reading.ts';

export interface AgentAddress {
  readonly host: string;
  readonly port: number;
}

/** A request that the agent of a node answers. */
export interface AgentRequest extends AgentAddress {
  /** With the query. */
  readonly path: string;
  /** `output`: a body, as it comes. `tunnel`: both sides speak, in a protocol of their own. `anything`: what was asked. */
  readonly as: 'output' | 'tunnel' | 'anything';
}

/** Where a kubelet listens, if its node does not say. */
const USUAL_PORT = 10250;

/** Where the agent of a node is reached. */
export function agentAddressOf(node: JsonObject): AgentAddress {
  const addresses = objectsAt(statusOf(node), 'addresses');
  for (const type of ['InternalIP', 'ExternalIP', 'Hostname']) {
    const host = textAt(
      addresses.find((address) => address['type'] === type),
      'address',
    );
    if (host !== '') return { host, port: portOf(node) };
  }
  throw internalError(
    `node ${nameOf(node)} has no address under which its agent could be reached: status.addresses names none of type InternalIP, ExternalIP or Hostname`,
  );
}

const portOf = (node: JsonObject): number =>
  numberAt(objectAt(objectAt(statusOf(node), 'daemonEndpoints'), 'kubeletEndpoint'), 'Port') || USUAL_PORT;
