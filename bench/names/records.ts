import type { Described } from './bench.ts';

/** What records of a DNSData cost, by the name under which a work is chosen. */
export const recordWorks: Readonly<Record<string, Described>> = {};
