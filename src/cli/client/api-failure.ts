import { ApiError } from '../../api/status.ts';
import { Unreachable } from '../../runtime/transport.ts';
import { CommandError } from '../command.ts';

/** What whoever typed a command is told of an API that refuses, or is not there; undefined for any other error. */
export function apiFailure(error: unknown, { exitCode = 1 }: { exitCode?: number } = {}): CommandError | undefined {
  if (error instanceof ApiError) return new CommandError(`the API refuses: ${error.message}`, { exitCode });
  if (!(error instanceof Unreachable)) return undefined;
  const { message } = error.cause instanceof Error ? error.cause : error;
  const help = 'see whether "netloom up" runs, and whether --kubeconfig or $KUBECONFIG names it';
  return new CommandError(`the API does not answer (${message}): ${help}`, { exitCode });
}
