import { capabilities, isForTests, placeOf } from './layers.ts';
import { type Token, tokensOf } from './tokens.ts';
import type { Violation } from './violation.ts';

/**
 * What decides does not look at the clock, start timers or roll dice by itself: all of it is handed in, so that a
 * simulation can own it and a failure can be played again.
 */
export function ambientViolations(file: string, source: string): Violation[] {
  const place = placeOf(file);
  if (place === undefined || !deciding.includes(place.layer)) return [];
  if (isForTests(file) || Object.hasOwn(realParts, file)) return [];

  const tokens = tokensOf(source);
  return tokens.flatMap((token, index) => {
    const what = ambientAt(tokens, index);
    return what === undefined
      ? []
      : [
          {
            file,
            line: token.line,
            sentence: `${what} is ambient; take ${insteadOf(what)} as a parameter (the real one comes from src/runtime/system.ts)`,
          },
        ];
  });
}

/** The files that deal with the real thing, and why. */
const realParts: Readonly<Record<string, string>> = {
  'src/runtime/system.ts': 'is what is handed in',
  'src/runtime/simulated-clock.ts': 'lets every promise go on between two moments of its own time',
  'src/routes/surroundings.ts': 'is what is handed in',
  'src/routes/sockets.ts': 'gives up on a real server that does not answer',
  'src/routes/http.ts': 'tells real browsers twice a second what has changed',
  'src/services/host/upstream.ts': 'gives up on real name servers that do not answer',
  'src/routes/listing.ts': 'gives others their turn between two parts of a long list',
};

const deciding = ['runtime', 'ledger', 'liveness', ...capabilities];

const functions = new Set([
  'setTimeout',
  'setInterval',
  'setImmediate',
  'randomUUID',
  'randomBytes',
  'randomInt',
  'getRandomValues',
]);

const members: Readonly<Record<string, readonly string[]>> = {
  Date: ['now'],
  Math: ['random'],
  performance: ['now'],
  process: ['hrtime'],
  AbortSignal: ['timeout'],
};

function ambientAt(tokens: readonly Token[], index: number): string | undefined {
  const [before, token, next, afterNext, third] = [-1, 0, 1, 2, 3].map((offset) => tokens[index + offset]);
  if (token?.kind !== 'word') return undefined;
  const owner = before?.text === '.' ? tokens[index - 2]?.text : undefined;

  if (functions.has(token.text)) {
    // `clock.setTimeout(…)` is somebody's own; `{ setTimeout: … }` is where it is handed in.
    const isGlobal = before?.text !== '.' || owner === 'globalThis' || owner === 'crypto';
    return isGlobal && next?.text !== ':' ? token.text : undefined;
  }
  if (token.text === 'Date' && before?.text === 'new' && next?.text === '(' && afterNext?.text === ')')
    return 'new Date()';
  if (token.text === 'Date' && before?.text === 'new' && next?.text !== '(' && next?.text !== '.') return 'new Date';
  if (Object.hasOwn(members, token.text) && next?.text === '.' && afterNext !== undefined && third !== undefined) {
    const isGlobal = before?.text !== '.' || owner === 'globalThis';
    if (isGlobal && members[token.text]?.includes(afterNext.text)) return `${token.text}.${afterNext.text}`;
  }
  return undefined;
}

function insteadOf(what: string): string {
  if (/random/i.test(what)) return 'the randomness';
  if (/^set|timeout/.test(what)) return 'the timers';
  return 'the clock';
}
