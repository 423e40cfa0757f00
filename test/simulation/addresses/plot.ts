import { type Faults, hurricane, noFaults, storm } from '../faults.ts';
import type { Dice } from './dice.ts';

/** What a seed decides before anything happens. */
export interface Plot {
  /** Whether writes are checked as in the product, or come through as on a server that knows no more than the schemas. */
  readonly admission: boolean;
  /** For how many milliseconds an address that is given back is given to nobody else. */
  readonly coolDown: number;
  readonly weather: 'calm' | 'storm' | 'hurricane';
  /** How many sets of controllers believe that they are the only one. */
  readonly leaders: number;
  /** Who gives addresses to Services; where it is MetalLB, what it gives is only kept from hosts. */
  readonly poolsOf: 'netloom' | 'metallb';
  /** Whether there are objects from before there was a ledger. */
  readonly legacy: boolean;
  /** Whether NetConfigs are changed only, and never deleted. */
  readonly netConfigsStay: boolean;
  /** By how many milliseconds the clocks of processes differ from that of the server, one way or the other. */
  readonly skew: number;
  /** Who is at work when everything becomes quiet. */
  readonly ending: 'as it is' | 'one is left' | 'another one';
  /** Whether connections that went silent are noticed at once in the end, or only when their time is up. */
  readonly mended: boolean;
}

/** In every fourth seed clocks are wrong, and in every seventh MetalLB is there. */
export const drawPlot = (dice: Dice, seed: number): Plot => ({
  skew: seed % 4 === 0 ? 2_000 : 0,
  poolsOf: seed % 7 === 0 ? 'metallb' : 'netloom',
  admission: !dice.oneIn(3),
  coolDown: dice.oneIn(2) ? 0 : 20_000,
  weather: dice.weighted([
    [2, 'calm'],
    [5, 'storm'],
    [3, 'hurricane'],
  ] as const),
  leaders: dice.weighted([
    [2, 1],
    [8, 2],
    [1, 3],
  ] as const),
  legacy: dice.oneIn(6),
  netConfigsStay: !dice.oneIn(6),
  ending: dice.weighted([
    [2, 'as it is'],
    [1, 'one is left'],
    [1, 'another one'],
  ] as const),
  mended: !dice.oneIn(8),
});

export const weathers: Record<Plot['weather'], Faults> = {
  calm: { ...noFaults, delay: [0, 30], eventDelay: [0, 100] },
  storm,
  hurricane,
};

/** People repeat what did not work, and have better things to do than to wait for storms to pass. */
export const nearTheServer: Faults = { ...noFaults, delay: [0, 20], lostAnswer: 0.01 };

/** When everything has become quiet. */
export const quiet: Faults = { ...noFaults, delay: [1, 5], eventDelay: [0, 5] };
