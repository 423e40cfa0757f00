import { isJsonObject } from '../../api/json.ts';
import type { AccountTokens } from '../auth/tokens/account-tokens.ts';
import { answerTokenRequest } from '../auth/tokens/token-request.ts';
import type { Context, Target } from '../objects/context.ts';
import { logRequest, nodeRequest, portForwardRequest, sessionRequest } from '../pods/agent-request.ts';
import { bind } from '../pods/binding.ts';
import { evict } from '../pods/eviction.ts';
import { objectIn } from './body.ts';
import { type Answer, type Call, jsonAnswer, type Relay, textAnswer } from './call.ts';
import { deleteOptions, isDryRun, writeOptions } from './write-options.ts';

type Special = (parts: Parts, target: Target, call: Call, tail: string) => Promise<Answer | Relay> | Relay | Answer;

/** What it takes. */
interface Parts {
  readonly context: Context;
  readonly tokens: AccountTokens;
}

/** What is done at addresses that are no part of an object, but an action on it or a way into it. */
export const specialSubresource = ({ endpoint, subresource }: Target): Special | undefined =>
  subresource === '' ? undefined : SPECIAL.get(`${endpoint.resource.id}/${subresource}`);

const done = (): Answer =>
  jsonAnswer(201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });

async function binding({ context }: Parts, target: Target, call: Call): Promise<Answer> {
  await bind(context, target, (await objectIn(call)).object, writeOptions(call, 'CreateOptions'));
  return done();
}

async function eviction({ context }: Parts, target: Target, call: Call): Promise<Answer> {
  const { object } = await objectIn(call);
  const asked = isJsonObject(object['deleteOptions']) ? object['deleteOptions'] : {};
  const wishes = deleteOptions(asked, new URLSearchParams());
  const options = writeOptions(call, 'CreateOptions');
  await evict(context, target, object, wishes, { ...options, dryRun: options.dryRun || isDryRun(asked) });
  return done();
}

async function token({ context, tokens }: Parts, { namespace, name }: Target, call: Call): Promise<Answer> {
  const { object } = await objectIn(call);
  const request = { namespace, name, object, user: call.user };
  return jsonAnswer(201, answerTokenRequest(request, { store: context.store, tokens }));
}

const session: Special = ({ context }, target, call) => ({ agent: sessionRequest(context, target, call.query) });

const SPECIAL: ReadonlyMap<string, Special> = new Map<string, Special>([
  ['pods/binding', binding],
  ['pods/eviction', eviction],
  ['serviceaccounts/token', token],
  ['pods/attach', session],
  ['pods/exec', session],
  [
    'pods/log',
    ({ context }, target, call) => {
      const agent = logRequest(context, target, call.query);
      return agent === undefined ? textAnswer(200, '') : { agent };
    },
  ],
  ['pods/portforward', ({ context }, target, call) => ({ agent: portForwardRequest(context, target, call.query) })],
  ['nodes/proxy', ({ context }, target, call, tail) => ({ agent: nodeRequest(context, target, tail, call.query) })],
]);
