import { Refusal } from './refusal.ts';

/** What a path of a kubelet's API means. */
export type Target =
  | { readonly kind: 'logs'; readonly namespace: string; readonly pod: string; readonly container: string }
  | SessionTarget
  | PortForwardTarget
  | { readonly kind: 'page'; readonly path: string };

export interface SessionTarget {
  readonly kind: 'exec' | 'attach';
  readonly namespace: string;
  readonly pod: string;
  /** The pod must be this very one, where it is given. */
  readonly uid: string | undefined;
  readonly container: string;
}

export interface PortForwardTarget {
  readonly kind: 'port-forward';
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string | undefined;
}

export function targetOf(path: string): Target {
  const [first, namespace, pod, ...rest] = path.split('/').slice(1).map(decoded);
  if (first === 'containerLogs' && rest.length <= 1) {
    return { kind: 'logs', ...named({ namespace, pod, container: rest[0] }) };
  }
  if ((first === 'exec' || first === 'attach') && rest.length <= 2) {
    const [uid, container] = rest.length === 2 ? rest : [undefined, rest[0]];
    return { kind: first, uid, ...named({ namespace, pod, container }) };
  }
  if (first === 'portForward' && rest.length <= 1) {
    return { kind: 'port-forward', uid: rest[0], ...named({ namespace, pod }) };
  }
  return { kind: 'page', path };
}

/** Whether the path leads to where both sides speak in a protocol of their own. */
export const isTunnelPath = (path: string): boolean => /^\/(exec|attach|portForward)\//.test(path);

const named = <Name extends string>(names: Record<Name, string | undefined>): Record<Name, string> => {
  for (const [what, name] of Object.entries(names)) if (!name) throw new Refusal(400, `the path names no ${what}`);
  return names as Record<Name, string>;
};

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal(400, `"${segment}" is not encoded as parts of a path are`);
  }
}
