import { fieldTerm, parseFieldSelector } from '../../api/field-selector.ts';
import type { JsonObject } from '../../api/json.ts';
import { badRequest, methodNotAllowed, notFound, type Status } from '../../api/status.ts';
import type { Access, Attempt } from '../auth/access.ts';
import type { AccountTokens } from '../auth/tokens/account-tokens.ts';
import type { Context, Target, WriteOptions, Written } from '../objects/context.ts';
import { create } from '../objects/create.ts';
import { type Deleted, remove } from '../objects/delete.ts';
import { decode, view } from '../objects/encoding.ts';
import { inBatches } from '../objects/in-batches.ts';
import { get, list } from '../objects/list.ts';
import { PATCH_TYPES, patch } from '../objects/patch.ts';
import { update } from '../objects/replace.ts';
import { isTrue, watch } from '../objects/watch.ts';
import { type Endpoint, nameOf, type Subresource, uidOf, type Verb } from '../resources/resource.ts';
import { mediaTypeOf, objectIn, optionsIn, valueIn } from './body.ts';
import type { Answer, Call, Relay, Stream } from './call.ts';
import { negotiate } from './negotiation.ts';
import type { ResourcePath } from './paths.ts';
import { eventFormat, objectFormat, type Rendering, renderList, renderOne } from './rendering.ts';
import { isReview, type Reviews } from './reviews.ts';
import { readScale, scaleColumns, writeScale } from './scale.ts';
import { specialSubresource } from './special-subresources.ts';
import type { IncludeObject } from './table.ts';
import { deleteOptions, forceIn, isDryRun, writeOptions } from './write-options.ts';

/** What answering takes. */
interface Parts {
  readonly context: Context;
  readonly access: Access;
  readonly reviews: Reviews;
  readonly tokens: AccountTokens;
}

/** Answers a request about objects. `undefined` where nothing is served under that path. */
export async function handleResource(
  { context, access, reviews, tokens }: Parts,
  path: ResourcePath,
  call: Call,
): Promise<Answer | Stream | Relay | undefined> {
  const endpoint = context.catalog.endpoint(path.group, path.version, path.plural);
  if (endpoint === undefined) return undefined;
  const { resource } = endpoint;
  const target: Target = { endpoint, namespace: path.namespace, name: path.name, subresource: path.subresource };
  if (!resource.namespaced && path.namespace !== '') return undefined;
  const subresource = endpoint.subresources.find((each) => each.name === path.subresource);
  if (path.subresource !== '' && subresource === undefined) return undefined;
  const verb = verbOf(call, path);
  const attempt = attemptOf(verb ?? call.method.toLowerCase(), path, call);
  access.require(call.user, attempt);
  requireSensibleName(path.name);
  // Without a namespace, objects that live in namespaces can only be looked at all together.
  if (resource.namespaced && path.namespace === '' && verb !== 'list' && verb !== 'watch' && !isReview(resource)) {
    if (resource.definition === undefined && path.name === '') throw methodNotAllowed(resource, verb ?? call.method);
    return undefined;
  }
  const served: readonly Verb[] = subresource?.verbs ?? endpoint.verbs;
  if (verb === undefined || !served.includes(verb)) throw methodNotAllowed(resource, verb ?? call.method.toLowerCase());
  const special = specialSubresource(target);
  if (special !== undefined) return special({ context, tokens }, target, call, path.tail);
  const requireCreation = () => access.require(call.user, { ...attempt, verb: 'create' });
  const answer = await perform({ context, reviews, requireCreation }, verb, target, subresource, call);
  return endpoint.deprecation === undefined
    ? answer
    : { ...answer, warnings: [...(answer.warnings ?? []), endpoint.deprecation] };
}

/** A list or watch that selects one name asks for no more than that object. */
function attemptOf(verb: string, path: ResourcePath, { query }: Call): Attempt {
  const { group, plural: resource, name, subresource } = path;
  // Who has rights in a namespace has them on the namespace itself too.
  const namespace = group === '' && resource === 'namespaces' ? name : path.namespace;
  const attempt = { verb, group, resource, subresource, namespace, name };
  const selector = COLLECTIVE.has(verb) ? query.get('fieldSelector') : null;
  if (selector === null || selector === '') return attempt;
  const fields = parseFieldSelector(selector);
  const only = fields.find(({ field, op }) => field === 'metadata.name' && op === '=');
  return { ...attempt, name: name === '' ? (only?.value ?? '') : name, fields };
}

const COLLECTIVE: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

function verbOf(call: Call, path: ResourcePath): Verb | undefined {
  const isItem = path.name !== '';
  switch (call.method) {
    case 'GET':
    case 'HEAD':
      if (path.isWatch || isTrue(call.query.get('watch'))) return 'watch';
      return isItem ? 'get' : 'list';
    case 'POST':
      return isItem && path.subresource === '' ? undefined : 'create';
    case 'PUT':
      return isItem ? 'update' : undefined;
    case 'PATCH':
      return isItem ? 'patch' : undefined;
    case 'DELETE':
      return isItem ? 'delete' : 'deletecollection';
    default:
      return undefined;
  }
}

function requireSensibleName(name: string): void {
  if (name === '.' || name === '..' || name.includes('/') || name.includes('%')) {
    throw badRequest(
      `the name ${JSON.stringify(name)} is not possible: names may not be "." or "..", nor contain "/" or "%"`,
    );
  }
}

async function perform(
  { context, reviews, requireCreation }: Pick<Parts, 'context' | 'reviews'> & { requireCreation: () => void },
  verb: Verb,
  target: Target,
  subresource: Subresource | undefined,
  call: Call,
): Promise<Answer | Stream> {
  const { endpoint } = target;
  const rendering = renderingOf(context, endpoint, call);
  if (subresource?.scale !== undefined) return scale(context, verb, target, subresource, call, rendering);
  switch (verb) {
    case 'get':
      return renderOne(200, view(endpoint, await get(context, target, call.query)), rendering);
    case 'list':
      return renderList(await list(context, target, call.query), rendering);
    case 'watch':
      return follow(context, target, call, rendering);
    case 'create': {
      const options = writeOptions(call, 'CreateOptions');
      const submission = await objectIn(call);
      if (isReview(endpoint.resource)) {
        const review = Buffer.from(
          JSON.stringify(reviews.answer(endpoint, target.namespace, submission.object, call.user)),
        );
        return renderOne(201, review, rendering);
      }
      return written(await create(context, target, submission, options), rendering, options.warnings);
    }
    case 'update': {
      const options = { ...writeOptions(call, 'UpdateOptions'), requireCreation };
      return written(await update(context, target, await objectIn(call), options), rendering, options.warnings);
    }
    case 'patch': {
      const type = mediaTypeOf(call.contentType);
      const force = forceIn(call, type === PATCH_TYPES.apply);
      const options = { ...writeOptions(call, 'PatchOptions'), requireCreation };
      const { value, duplicates } = await valueIn(call, type);
      const request = { type, patch: value, duplicates, force };
      return written(await patch(context, target, request, options), rendering, options.warnings);
    }
    case 'delete':
      return deleteOne(context, target, call, rendering);
    default:
      return deleteMany(context, target, call, rendering);
  }
}

const written = ({ bytes, created }: Written, rendering: Rendering, warnings: readonly string[]): Answer =>
  renderOne(created ? 201 : 200, bytes, rendering, warnings);

function renderingOf(context: Context, endpoint: Endpoint, call: Call): Rendering {
  const include = call.query.get('includeObject') ?? 'Metadata';
  return {
    accepted: negotiate(call.accept, ['table', 'metadata']),
    endpoint,
    columns: endpoint.columns,
    includeObject: isIncludeObject(include) ? include : 'Metadata',
    isPretty: isTrue(call.query.get('pretty')),
    now: () => context.now(),
  };
}

const isIncludeObject = (text: string): text is IncludeObject =>
  text === 'None' || text === 'Metadata' || text === 'Object';

function follow(context: Context, target: Target, call: Call, rendering: Rendering): Stream {
  const query = new URLSearchParams(call.query);
  // GET of one name with ?watch is a watch of the collection that shows only that name: whoever may follow it may follow no more,
  // whatever else is selected.
  if (target.name !== '') {
    const wanted = query.get('fieldSelector') ?? '';
    query.set('fieldSelector', `${fieldTerm('metadata.name', target.name)}${wanted === '' ? '' : `,${wanted}`}`);
  }
  const collection = { ...target, name: '' };
  const { contentType } = rendering.accepted;
  return {
    contentType: contentType === 'application/json' ? contentType : 'application/json',
    begin: (sink) => watch(context, collection, query, eventFormat(rendering), sink),
    beginObjects: (sink) => watch(context, collection, query, objectFormat(rendering), sink),
  };
}

async function deleteOne(context: Context, target: Target, call: Call, rendering: Rendering): Promise<Answer> {
  const body = await optionsIn(call);
  const options = deletionOptions(call, body);
  const deleted = await remove(context, target, deleteOptions(body, call.query), options);
  const { resource } = target.endpoint;
  if (!deleted.isGone || RETURNS_OBJECT.has(resource.id))
    return renderOne(200, deleted.bytes, rendering, options.warnings);
  return renderOne(
    200,
    Buffer.from(JSON.stringify(successOf(target, deleted))),
    {
      ...rendering,
      accepted: { ...rendering.accepted, as: 'object' },
    },
    options.warnings,
  );
}

/** A deletion, unlike other writes, can also say in its body that it is not meant. */
function deletionOptions(call: Call, body: JsonObject): WriteOptions {
  const options = writeOptions(call, 'DeleteOptions');
  return { ...options, dryRun: options.dryRun || isDryRun(body) };
}

/** Kinds whose last state is the answer to their deletion. */
const RETURNS_OBJECT = new Set(['pods', 'namespaces', 'services', 'customresourcedefinitions.apiextensions.k8s.io']);

function successOf({ endpoint: { resource } }: Target, { object }: Deleted): Omit<Status, 'code'> {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: nameOf(object),
      ...(resource.group === '' ? {} : { group: resource.group }),
      kind: resource.plural,
      uid: uidOf(object),
    },
  };
}

async function deleteMany(context: Context, target: Target, call: Call, rendering: Rendering): Promise<Answer> {
  const body = await optionsIn(call);
  const options = deletionOptions(call, body);
  const wishes = deleteOptions(body, call.query);
  const listing = await list(context, target, call.query);
  await inBatches(listing.versions, async ({ namespace, name }) => {
    try {
      await remove(context, { ...target, namespace, name }, wishes, options);
    } catch (error) {
      // Somebody else may have been faster.
      if (!isNotFound(error)) throw error;
    }
  });
  return renderList(listing, rendering);
}

const isNotFound = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 404;

async function scale(
  context: Context,
  verb: Verb,
  target: Target,
  { scale: paths }: Subresource,
  call: Call,
  rendering: Rendering,
): Promise<Answer> {
  if (paths === undefined) throw notFound(target.endpoint.resource, target.name);
  const main = { ...target, subresource: '' };
  const asScale: Rendering = { ...rendering, columns: scaleColumns };
  const shown = (bytes: Buffer) => Buffer.from(JSON.stringify(readScale(decode(bytes), paths)));
  if (verb === 'get') {
    return renderOne(200, shown(view(target.endpoint, await get(context, main, call.query))), asScale);
  }
  const options = writeOptions(call, verb === 'update' ? 'UpdateOptions' : 'PatchOptions');
  const written = await writeScale(context, main, paths, verb, call, options);
  return renderOne(200, shown(written.bytes), asScale, options.warnings);
}
