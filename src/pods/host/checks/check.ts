import type { Container, Handler, Probe } from '../../../api/core/pod.ts';
import { type System, sleep } from '../../../runtime/clock.ts';
import { asError } from '../../../runtime/log.ts';
import { durationText } from '../restart-backoff.ts';
import type { ContainerRuntime } from '../runtime.ts';
import { checkByCommand } from './exec-check.ts';
import { checkByGrpc } from './grpc-check.ts';
import { checkByHttp } from './http-check.ts';
import { failed, type Outcome, passed } from './outcome.ts';
import { checkByTcp } from './tcp-check.ts';

/** What is asked, by a probe or a hook of the container's lifecycle. */
export interface Checked {
  readonly containerId: string;
  readonly container: Container;
  readonly podIP: string;
}

export interface CheckTools {
  readonly runtime: ContainerRuntime;
  readonly system: System;
}

/** Never rejects: whatever goes wrong is a failure of what was to be checked. It is given up after `timeoutMs`, or when told so. */
export async function check(
  { runtime, system }: CheckTools,
  target: Checked,
  action: Handler | Probe,
  { timeoutMs, giveUp }: { timeoutMs?: number; giveUp: AbortSignal },
): Promise<Outcome> {
  const late = new AbortController();
  const ring = (): void => late.abort();
  const cancel = timeoutMs === undefined ? () => {} : system.timer(timeoutMs, ring);
  const signal = AbortSignal.any([late.signal, giveUp]);
  try {
    return await act({ runtime, system }, target, action, signal, timeoutMs);
  } catch (error) {
    if (late.signal.aborted) return failed(`${nameOf(action)} timed out after ${durationText(timeoutMs ?? 0)}`);
    return failed(giveUp.aborted ? 'given up' : asError(error).message);
  } finally {
    cancel();
  }
}

async function act(
  { runtime, system }: CheckTools,
  { containerId, container, podIP }: Checked,
  action: Handler | Probe,
  signal: AbortSignal,
  timeoutMs: number | undefined,
): Promise<Outcome> {
  const { exec, httpGet, tcpSocket, sleep: pause } = action;
  if (exec !== undefined) {
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    return checkByCommand(runtime, { containerId, command: exec.command ?? [], ...limit }, signal);
  }
  if (httpGet !== undefined) return checkByHttp(httpGet, podIP, portOf(container, httpGet.port), signal);
  if (tcpSocket !== undefined) {
    const { host = '', port } = tcpSocket;
    return checkByTcp(host === '' ? podIP : host, portOf(container, port), signal);
  }
  if (pause !== undefined) {
    await sleep(system, pause.seconds * 1000, signal);
    return passed();
  }
  if ('grpc' in action && action.grpc !== undefined) {
    return checkByGrpc(podIP, action.grpc.port, action.grpc.service ?? '', signal);
  }
  return failed('names nothing that could be done');
}

function portOf({ name, ports = [] }: Container, port: number | string): number {
  const number =
    typeof port === 'number' ? port : (ports.find((each) => each.name === port)?.containerPort ?? Number(port));
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number;
  throw new Error(`container ${name} has no port named "${port}"`);
}

function nameOf({ exec, httpGet }: Handler): string {
  if (exec !== undefined) return `command "${(exec.command ?? []).join(' ')}"`;
  return httpGet === undefined ? 'the check' : `Get "${httpGet.path ?? '/'}"`;
}
