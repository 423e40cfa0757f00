import { apiFailure } from '../client/api-failure.ts';
import { type Api, type ConnectionOptions, connect } from '../client/connection.ts';
import { CommandError, type Terminal } from '../command.ts';
import type { Reader } from './reader.ts';

/**
 * Of a question 1 is an answer, such as that nobody has an address. Whoever goes by it must not take an API that is not there for that:
 * it has the code of a wrong command line.
 */
export async function asking(options: ConnectionOptions, ask: (api: Api) => Promise<number>): Promise<number> {
  const api = await connect(options).catch((error: unknown) => {
    throw error instanceof CommandError ? new CommandError(error.message, UNANSWERED) : error;
  });
  try {
    return await ask(api);
  } catch (error) {
    throw apiFailure(error, UNANSWERED) ?? error;
  }
}

/** What whoever asks is told besides when he may not see everything. */
export function warnOf({ hidden }: Reader, terminal: Terminal): void {
  if (hidden.length > 0) terminal.warn(`netloom: you may not see ${hidden.join(', ')}: the answer goes without that`);
}

export const UNANSWERED = { exitCode: 2 };
