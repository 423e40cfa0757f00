import type { Described } from './bench.ts';

/** What Services cost, by the name under which a work is chosen. */
export const serviceWorks: Readonly<Record<string, Described>> = {};
