import type { Command } from './command.ts';
import { engine } from './server/engine.ts';
import { up } from './server/up.ts';

/** Everything netloom can do, in the order in which the help lists it. */
export const commands: readonly Command[] = [up, engine];
