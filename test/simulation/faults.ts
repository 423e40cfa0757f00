import type { Chance } from '../../src/runtime/clock.ts';

/** What goes wrong between a client and the simulated server, and how often. Times in milliseconds, chances from 0 to 1. */
export interface Faults {
  /** How long a request and its answer travel, each: at least and at most. Requests overtake each other. */
  delay: Span;
  /** How long an event of a watch travels. Within one stream the order is kept, between streams it is not. */
  eventDelay: Span;
  /** The request never arrives. */
  lostRequest: number;
  /** The request is carried out, and the client does not learn of it. */
  lostAnswer: number;
  /** The request is carried out, and the answer is an error: whoever is in between gave up waiting. */
  doubtfulAnswer: number;
  /** The request stays on its way for up to a minute; whoever sent it may be dead by then. */
  lateRequest: number;
  /** The server has no time: 429, 500 or 503, without having done anything. */
  refused: number;
  /** Per event: the connection of the watch breaks before it. */
  brokenWatch: number;
  /** Per event: the server ends the watch in good order before it. */
  endedWatch: number;
  /** Per event: nothing comes any more, and nobody says so. */
  silentWatch: number;
}

export type Span = readonly [least: number, most: number];

export const noFaults: Faults = {
  delay: [0, 0],
  eventDelay: [0, 0],
  lostRequest: 0,
  lostAnswer: 0,
  doubtfulAnswer: 0,
  lateRequest: 0,
  refused: 0,
  brokenWatch: 0,
  endedWatch: 0,
  silentWatch: 0,
};

/** A network and a server that nobody would keep. */
export const storm: Faults = {
  delay: [0, 300],
  eventDelay: [0, 2_000],
  lostRequest: 0.05,
  lostAnswer: 0.05,
  doubtfulAnswer: 0,
  lateRequest: 0,
  refused: 0.05,
  brokenWatch: 0.05,
  endedWatch: 0.05,
  silentWatch: 0.01,
};

/** As that, and nobody can tell what has become of what was sent. */
export const hurricane: Faults = { ...storm, doubtfulAnswer: 0.03, lateRequest: 0.005 };

export const happens = (chance: Chance, probability: number): boolean =>
  probability > 0 && chance.random() < probability;

export const within = (chance: Chance, [least, most]: Span): number =>
  least === most ? least : least + chance.random() * (most - least);
