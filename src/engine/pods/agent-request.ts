import type { JsonObject } from '../../api/json.ts';
import { badRequest, type FieldError, invalid, notFound } from '../../api/status.ts';
import { nameOf, specOf, textAt } from '../builtin/reading.ts';
import type { Context, Target } from '../objects/context.ts';
import { objectOf } from '../objects/encoding.ts';
import { type AgentAddress, type AgentRequest, agentAddressOf } from './agent-address.ts';
import { containerOf } from './pod-container.ts';

/** What to ask the pod's agent for the output of a container; nothing while the pod is on no node, and has none. */
export function logRequest(context: Context, target: Target, query: URLSearchParams): AgentRequest | undefined {
  const options = logOptions(query);
  const pod = podOf(context, target);
  const container = containerOf(pod, query.get('container') ?? '');
  if (textAt(specOf(pod), 'nodeName') === '') return undefined;
  const path = `/containerLogs/${segments(target.namespace, nameOf(pod), container)}`;
  return { ...agentOf(context, pod), path: withQuery(path, options), as: 'output' };
}

/** `attach` and `exec`: the streams that somebody wants of a container, and what shall run in it. */
export function sessionRequest(context: Context, target: Target, query: URLSearchParams): AgentRequest {
  const options = new URLSearchParams();
  for (const [ours, theirs] of STREAMS) if (isSet(query, ours)) options.set(theirs, '1');
  if (!['input', 'output', 'error'].some((stream) => options.has(stream))) {
    throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
  }
  if (options.has('tty') && options.has('error')) throw badRequest('tty and stderr cannot both be true');
  const commands = query.getAll('command');
  if (target.subresource === 'exec') {
    if (commands.length === 0) throw badRequest('you must specify a command');
    for (const command of commands) options.append('command', command);
  }
  const pod = podOf(context, target);
  const container = containerOf(pod, query.get('container') ?? '');
  const path = `/${target.subresource}/${segments(target.namespace, nameOf(pod), container)}`;
  return { ...agentOf(context, pod), path: withQuery(path, options), as: 'tunnel' };
}

const STREAMS = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
] as const;

export function portForwardRequest(context: Context, target: Target, query: URLSearchParams): AgentRequest {
  const pod = podOf(context, target);
  const options = new URLSearchParams();
  for (const ports of query.getAll('ports')) options.append('port', ports);
  const path = `/portForward/${segments(target.namespace, nameOf(pod))}`;
  return { ...agentOf(context, pod), path: withQuery(path, options), as: 'tunnel' };
}

/** `nodes/NAME/proxy/...`: anything that the agent serves. */
export function nodeRequest(context: Context, target: Target, tail: string, query: URLSearchParams): AgentRequest {
  const address = nodeAddress(context, target.name);
  const path = tail === '' ? '/' : tail.split('/').map(encodeURIComponent).join('/');
  return { ...address, path: withQuery(path, query), as: 'anything' };
}

function podOf(context: Context, { endpoint, namespace, name }: Target): JsonObject {
  const version = context.store.newest(endpoint.resource.id, namespace, name);
  if (version === undefined) throw notFound(endpoint.resource, name);
  return objectOf(endpoint, version);
}

function agentOf(context: Context, pod: JsonObject): AgentAddress {
  const node = textAt(specOf(pod), 'nodeName');
  if (node === '') throw badRequest(`pod ${nameOf(pod)} does not have a host assigned`);
  return nodeAddress(context, node);
}

function nodeAddress(context: Context, name: string): AgentAddress {
  const endpoint = context.catalog.endpoint('', 'v1', 'nodes');
  const version = context.store.newest('nodes', '', name);
  if (endpoint === undefined || version === undefined) {
    throw notFound({ group: '', plural: 'nodes', kind: 'Node' }, name);
  }
  return agentAddressOf(objectOf(endpoint, version));
}

/** The options that a client may give, in the form that agents take; what makes no sense is refused here. */
function logOptions(query: URLSearchParams): URLSearchParams {
  const options = new URLSearchParams();
  const faults: FieldError[] = [];
  for (const flag of ['follow', 'previous', 'timestamps']) if (isSet(query, flag)) options.set(flag, 'true');
  const number = (name: string, least: number, detail: string) => {
    const text = query.get(name) ?? '';
    if (text === '') return;
    const value = Number(text);
    if (!/^-?\d+$/.test(text)) throw badRequest(`${name} must be a whole number, not ${JSON.stringify(text)}`);
    if (value < least) faults.push({ type: 'Invalid', field: name, value, detail });
    else options.set(name, String(value));
  };
  number('tailLines', 0, 'must be greater than or equal to 0');
  number('limitBytes', 1, 'must be greater than 0');
  number('sinceSeconds', 1, 'must be greater than 0');
  const since = query.get('sinceTime') ?? '';
  if (since !== '') {
    if (Number.isNaN(Date.parse(since))) throw badRequest(`sinceTime must be a time as in RFC 3339, not "${since}"`);
    if (options.has('sinceSeconds')) {
      const detail = 'at most one of `sinceTime` or `sinceSeconds` may be specified';
      faults.push({ type: 'Forbidden', field: '', detail });
    }
    options.set('sinceTime', since);
  }
  if (faults.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, '', faults);
  return options;
}

/** As Go reads a truth out of a query. */
const isSet = (query: URLSearchParams, name: string): boolean => {
  const value = query.get(name);
  return value !== null && !['', '0', 'f', 'F', 'false', 'False', 'FALSE'].includes(value);
};

const segments = (...names: string[]): string => names.map(encodeURIComponent).join('/');

const withQuery = (path: string, query: URLSearchParams): string =>
  query.size === 0 ? path : `${path}?${query.toString()}`;
