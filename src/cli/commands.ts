import { agent } from './agent/agent.ts';
import { explain } from './answers/explain.ts';
import { who } from './answers/who.ts';
import { apply } from './client/apply.ts';
import { remove } from './client/delete.ts';
import { describe } from './client/describe.ts';
import { exec } from './client/exec.ts';
import { get } from './client/get.ts';
import { logs } from './client/logs.ts';
import type { Command } from './command.ts';
import { dnsHosts } from './dns/dns-hosts.ts';
import { lab } from './lab/lab.ts';
import { routes } from './routes.ts';
import { controllers } from './server/controllers-alone.ts';
import { engine } from './server/engine.ts';
import { up } from './server/up.ts';

/** Everything netloom can do, in the order in which the help lists it. */
export const commands: readonly Command[] = [
  up,
  apply,
  get,
  describe,
  remove,
  logs,
  exec,
  who,
  explain,
  lab,
  routes,
  dnsHosts,
  engine,
  controllers,
  agent,
];
