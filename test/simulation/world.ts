import type { Admission } from '../../src/api/admission.ts';
import { builtinKind, type Kind } from '../../src/api/kind.ts';
import type { ApiObject } from '../../src/api/object.ts';
import { Client } from '../../src/runtime/client.ts';
import { type Log, type LogLevel, lineLog } from '../../src/runtime/log.ts';
import { SimulatedClock } from '../../src/runtime/simulated-clock.ts';
import { SimulatedApi } from './api.ts';
import type { Faults } from './faults.ts';

/** Two kinds to write controllers for in tests. */
export const Net = builtinKind<Net>('sim.netloom.test', 'v1', 'Net', 'nets');
export interface Net extends ApiObject {
  spec: { size: number; pool?: string };
  status?: { state: string; observedGeneration?: number };
}
export const Port = builtinKind<Port>('sim.netloom.test', 'v1', 'Port', 'ports');
export interface Port extends ApiObject {
  spec: { net: string; index?: number };
  status?: { state: string };
}

export interface World {
  clock: SimulatedClock;
  api: SimulatedApi;
  /** Reaches the server whatever faults the others have, and at once. */
  client: Client;
  log: Log;
  /** What was logged, a line each. */
  lines: string[];
  /** A client behind a network with faults. */
  clientWith(faults: Partial<Faults>): Client;
}

/** A simulated server, the clock that it lives by, and somebody to talk to it. */
export function world({
  seed = 1,
  kinds = [Net, Port],
  level = 'debug',
  admission = [],
}: {
  seed?: number;
  kinds?: readonly Kind[];
  level?: LogLevel;
  admission?: readonly Admission[];
} = {}): World {
  const clock = new SimulatedClock({ seed });
  const api = new SimulatedApi({ system: clock, kinds, admission });
  const lines: string[] = [];
  const log = lineLog({ clock, write: (line) => lines.push(line.trimEnd()), level });
  const clientWith = (faults: Partial<Faults>): Client =>
    new Client({ transport: api.transport(faults), fieldManager: 'test' });
  return { clock, api, client: clientWith({}), log, lines, clientWith };
}

export const net = (name: string, spec: Net['spec'] = { size: 1 }) => ({
  metadata: { name, namespace: 'default' },
  spec,
});
export const port = (name: string, of: string) => ({ metadata: { name, namespace: 'default' }, spec: { net: of } });
