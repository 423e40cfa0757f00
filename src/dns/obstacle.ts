import type { ContainerStatus, Pod } from '../api/core/pod.ts';

/** What keeps servers from running that should: as far as somebody has to do something about it. */
export function obstacleOf(pods: readonly Pod[]): string | undefined {
  const current = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return current.map((pod) => refusedOptions(pod) ?? failingContainer(pod) ?? unscheduled(pod)).find(isSaid);
}

const isSaid = (sentence: string | undefined): boolean => sentence !== undefined;

/** What dnsmasq itself said when the pod asked it about its options, or when it started: it looks at some only then. */
function refusedOptions({ status }: Pod): string | undefined {
  const init = status?.initContainerStatuses?.find(({ name }) => name === 'init');
  const server = status?.containerStatuses?.find(({ name }) => name === 'dnsmasq-dns');
  const ends = [init && lastEnd(init), server && isHeldUp(server) ? lastEnd(server) : undefined];
  const ended = ends.find((end) => end !== undefined && end.exitCode !== 0 && end.exitCode <= KILLED);
  if (ended === undefined) return undefined;
  return `dnsmasq does not take the options: ${lastLine(ended.message) || `it ended with exit code ${ended.exitCode}`}`;
}

function failingContainer({ metadata, status }: Pod): string | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const found = all.find(isHeldUp);
  if (found === undefined) return undefined;
  const { reason = '', message } = found.state?.waiting ?? {};
  const said = lastLine(lastEnd(found)?.message) || lastLine(message);
  return `container ${found.name} of pod ${metadata.name} does not run: ${reason}${said === '' ? '' : `, ${said}`}`;
}

function unscheduled({ metadata, status }: Pod): string | undefined {
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (condition?.status !== 'False') return undefined;
  return `there is no host for pod ${metadata.name}: ${lastLine(condition.message)}`;
}

/** Waiting for something else than that its turn comes. */
const isHeldUp = ({ state }: ContainerStatus): boolean => !USUAL.has(state?.waiting?.reason ?? 'ContainerCreating');
const USUAL: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/** Exit codes above are signals: nobody has refused anything. */
const KILLED = 128;

const lastEnd = ({ state, lastState }: ContainerStatus) => state?.terminated ?? lastState?.terminated;

/** What a program says when it gives up comes last, after whatever it has logged. */
const lastLine = (message = ''): string => message.trim().split('\n').at(-1)?.trim() ?? '';
