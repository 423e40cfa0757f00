import { constants } from 'node:os';
import type { Ended } from '../../../linux/launch.ts';

/** As a shell says it: what was ended by a signal has 128 and its number. */
export const exitCodeOf = ({ exitCode, signal }: Ended): number =>
  exitCode ?? 128 + (signal === undefined ? 0 : constants.signals[signal]);
