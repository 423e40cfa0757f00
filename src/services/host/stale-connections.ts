import { forgetConnections, type KnownConnection, listConnections } from '../../linux/connections.ts';
import { asError, type Log } from '../../runtime/log.ts';
import type { Gone, ProxyChange } from './proxy-table.ts';
import type { Entry } from './service-rules.ts';

/**
 * Makes the kernel forget what clients of UDP said to pods that are gone, or where nobody led before: who goes on talking would never
 * notice. It looks once at what there is, so that what nobody has talked to costs nothing, however much it is.
 */
export class StaleConnections {
  readonly #log: Log;
  #work: Promise<void> = Promise.resolve();

  constructor(log: Log) {
    this.#log = log;
  }

  /** After the kernel has been told. Nobody has to wait for it. */
  forget(changes: readonly ProxyChange[]): void {
    const gone = changes.flatMap((change) => change.gone.map(answersOf));
    const opened = changes.flatMap((change) =>
      change.opened.filter(({ protocol }) => protocol === 'udp').map(questionsTo),
    );
    if (gone.length === 0 && opened.length === 0) return;
    this.#work = this.#work
      .then(() => this.#forget([...gone, ...opened]))
      .catch((error: unknown) => this.#log.warn('stale connections may live on', { error: asError(error) }));
  }

  /** Resolves when all that is stale is forgotten. */
  settled(): Promise<void> {
    return this.#work;
  }

  async #forget(selections: readonly Selection[]): Promise<void> {
    const wanted = new Map(selections.map((selection) => [selection.key, selection.words]));
    const found = new Set((await listConnections('udp')).flatMap(keysOf));
    for (const [key, words] of wanted) {
      if (found.has(key)) await forgetConnections(['--proto', 'udp', ...words]);
    }
  }
}

/** Connections, by what they have in common, and as conntrack(8) selects them. */
interface Selection {
  readonly key: string;
  readonly words: readonly string[];
}

/** Whoever comes to the same pod another way stays there. */
function answersOf({ entry, backend: { address, port } }: Gone): Selection {
  const { key, words } = questionsTo(entry);
  return {
    key: `${key} from ${address} ${port}`,
    words: [...words, '--reply-src', address, '--reply-port-src', `${port}`],
  };
}

function questionsTo({ address, port }: Entry): Selection {
  const words = ['--orig-port-dst', `${port}`, ...(address === undefined ? [] : ['--orig-dst', address])];
  return { key: `to ${address ?? 'any'} ${port}`, words };
}

const keysOf = ({ original, reply }: KnownConnection): string[] =>
  [`to ${original.target} ${original.targetPort}`, `to any ${original.targetPort}`].flatMap((question) => [
    question,
    `${question} from ${reply.source} ${reply.sourcePort}`,
  ]);
