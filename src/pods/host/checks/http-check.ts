import http from 'node:http';
import https from 'node:https';
import type { HttpGet } from '../../../api/core/pod.ts';
import { dialText } from './dial-text.ts';
import { failed, LONGEST_OUTPUT, type Outcome, passed } from './outcome.ts';

const REDIRECTS = 10;

/** Asks by HTTP: an answer from 200 to 399 is a good one. Redirects are followed as long as they stay on the host. */
export async function checkByHttp(get: HttpGet, address: string, port: number, giveUp: AbortSignal): Promise<Outcome> {
  const host = get.host === undefined || get.host === '' ? address : get.host;
  const scheme = (get.scheme ?? 'HTTP').toLowerCase();
  const begin = new URL(`${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`);
  const path = get.path ?? '/';
  const [pathname = '/', ...search] = path.split('?');
  begin.pathname = pathname;
  begin.search = search.join('?');
  let url = begin;
  try {
    for (let redirects = 0; ; redirects += 1) {
      const { status, location, text } = await ask(url, headersOf(get), giveUp);
      const next = status >= 300 && status < 400 && location !== undefined ? new URL(location, url) : undefined;
      if (next === undefined) {
        return status >= 200 && status < 400 ? passed(text) : failed(`HTTP probe failed with statuscode: ${status}`);
      }
      if (next.hostname !== begin.hostname) return passed(`redirected to ${next.origin}, which is not asked`);
      if (redirects === REDIRECTS) return failed(`Get "${begin}": stopped after ${REDIRECTS} redirects`);
      url = next;
    }
  } catch (error) {
    giveUp.throwIfAborted();
    return failed(`Get "${begin}": ${dialText(begin.hostname, port, error)}`);
  }
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly text: string;
}

function ask(url: URL, headers: http.OutgoingHttpHeaders, signal: AbortSignal): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  // Certificates of pods are for others to check: a probe is about life, not about trust.
  const options = { headers, signal, agent: false, rejectUnauthorized: false };
  const request = url.protocol === 'https:' ? https.get(url, options) : http.get(url, options);
  request.on('error', reject);
  request.on('response', (message) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const end = (): void => {
      const text = Buffer.concat(chunks).subarray(0, LONGEST_OUTPUT).toString('utf8');
      resolve({ status: message.statusCode ?? 0, location: message.headers.location, text });
      request.destroy();
    };
    message.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= LONGEST_OUTPUT) end();
    });
    message.on('end', end);
    message.on('error', reject);
    message.on('aborted', () => reject(new Error('the connection was closed in the middle of the answer')));
  });
  return promise;
}

/** What an application may look for to tell probes from people. */
const USER_AGENT = 'kube-probe/1.33';

function headersOf({ httpHeaders = [] }: HttpGet): http.OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = { 'user-agent': USER_AGENT, accept: '*/*' };
  const own = new Map<string, string[]>();
  for (const { name, value } of httpHeaders) {
    const key = name.toLowerCase();
    own.set(key, [...(own.get(key) ?? []), value]);
  }
  for (const [key, values] of own) headers[key] = values.length === 1 ? (values[0] ?? '') : values;
  return headers;
}
