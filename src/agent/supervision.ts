import type { ContainerRuntime } from '../pods/host/runtime.ts';
import { type System, sleep } from '../runtime/clock.ts';
import { asError } from '../runtime/log.ts';
import type { Troubles } from './troubles.ts';

const ASK_EVERY = 3_000;
const PATIENCE = 3_000;

/** Asks the supervisor again and again whether it is there: without it nothing can be started or ended. */
export async function watchSupervisor(
  runtime: Pick<ContainerRuntime, 'list'>,
  { system, troubles, signal }: { system: System; troubles: Troubles; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const problem = await problemOf(runtime, system);
    if (signal.aborted) return;
    troubles.set(
      'supervisor',
      problem === undefined ? undefined : { reason: 'SupervisorNotAnswering', message: problem, isFatal: true },
    );
    await sleep(system, ASK_EVERY, signal);
  }
}

async function problemOf(runtime: Pick<ContainerRuntime, 'list'>, system: System): Promise<string | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const silence = `the supervisor of this host has not answered for ${PATIENCE / 1000} s`;
  const cancel = system.timer(PATIENCE, () => resolve(silence));
  const answer = runtime.list().then(
    () => undefined,
    (error: unknown) => asError(error).message,
  );
  const problem = await Promise.race([answer, late]);
  cancel();
  return problem;
}
