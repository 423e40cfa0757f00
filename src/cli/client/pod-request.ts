import { Pod } from '../../api/core/pod.ts';
import { ApiError } from '../../api/status.ts';
import { objectPath } from '../../runtime/paths.ts';
import { Unreachable } from '../../runtime/transport.ts';
import { CommandError } from '../command.ts';

export type Parameters = readonly (readonly [name: string, value: string | number | boolean | undefined])[];

/** The path of a subresource of a pod; parameters that are not given are left out. */
export function podPath(pod: string, namespace: string, subresource: string, parameters: Parameters): string {
  const given = parameters.flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, `${value}`]],
  );
  const name = pod.replace(/^(?:pods?|po)\//, '');
  return `${objectPath(Pod, { namespace, name }, subresource)}?${new URLSearchParams(given)}`;
}

/** A refusal is for whoever has typed the command. */
export async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiError || error instanceof Unreachable) throw new CommandError(error.message);
    throw error;
  }
}
