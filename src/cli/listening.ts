import { CommandError } from './command.ts';

/** Runs something that listens; an address that cannot be used is the person's to put right. */
export async function listening<T>(option: string, address: string, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE')
      throw new CommandError(`${address} is taken: choose another address with --${option} (port 0 takes a free one)`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new CommandError(`${address} is no address of this machine: choose another one with --${option}`);
    if (code === 'EACCES')
      throw new CommandError(`${address} may not be used: choose a port from 1024 up with --${option}`);
    throw error;
  }
}
