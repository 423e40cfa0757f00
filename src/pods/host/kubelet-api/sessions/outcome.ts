import { internalError } from '../../../../api/status.ts';
import type { Outcome } from './streams.ts';

export const success: Outcome = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };

/** How a command ended, as clients of a kubelet read it. */
export const exited = (exitCode: number): Outcome =>
  exitCode === 0
    ? success
    : {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: `command terminated with non-zero exit code: exit status ${exitCode}`,
        reason: 'NonZeroExitCode',
        details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
      };

export const failed = (doing: string, error: unknown): Outcome =>
  internalError(`${doing}: ${error instanceof Error ? error.message : String(error)}`).status;

/** For protocols older than the fourth, which only know of failures, and as text. */
export const failureText = ({ status, message = '' }: Outcome): string => (status === 'Success' ? '' : message);
