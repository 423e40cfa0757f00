import { networkInterfaces } from 'node:os';
import type { Admission, UserInfo } from '../api/admission.ts';
import type { JsonObject } from '../api/json.ts';
import type { DeclaredKind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';
import type { Prefix } from '../api/prefix.ts';
import { asError, type Log } from '../runtime/log.ts';
import type { Metric } from '../runtime/metrics.ts';
import { timestamp } from '../runtime/timestamp.ts';
import { Access } from './auth/access.ts';
import { certificateChecks } from './auth/certificates/checks.ts';
import { ADMINISTRATORS, Identities, internalUser } from './auth/identity.ts';
import { loadKeys, writePrivately } from './auth/keys.ts';
import { NodeAuthorizer } from './auth/nodes/node-authorizer.ts';
import { followPods, NodeGraph } from './auth/nodes/node-graph.ts';
import { nodeRestriction } from './auth/nodes/node-restriction.ts';
import { nodeRules } from './auth/rbac/bootstrap-roles.ts';
import { escalationChecks } from './auth/rbac/escalation.ts';
import { Rbac } from './auth/rbac/rbac.ts';
import { accountAdmission } from './auth/tokens/account-admission.ts';
import { AccountTokens, ISSUER } from './auth/tokens/account-tokens.ts';
import { OpenId } from './auth/tokens/open-id.ts';
import { SigningKey } from './auth/tokens/signing-key.ts';
import { Api } from './http/api.ts';
import { Discovery } from './http/discovery.ts';
import { Metrics } from './http/metrics.ts';
import { OpenApi } from './http/openapi.ts';
import { Reviews } from './http/reviews.ts';
import { HttpServer } from './http/server.ts';
import { kubeconfig } from './kubeconfig.ts';
import { AccountSecrets } from './lifecycle/account-secrets.ts';
import { Certificates } from './lifecycle/certificates.ts';
import { Definitions } from './lifecycle/definitions.ts';
import { EventExpiry } from './lifecycle/event-expiry.ts';
import { GarbageCollector } from './lifecycle/garbage-collector.ts';
import { lastingNamespaces } from './lifecycle/lasting-namespaces.ts';
import { Namespaces } from './lifecycle/namespaces.ts';
import { createSystemClasses, lastingClasses } from './lifecycle/priority-classes.ts';
import { Roles } from './lifecycle/roles.ts';
import { LocalTransport } from './local-transport.ts';
import { AdmissionChain } from './objects/admission-chain.ts';
import type { Context } from './objects/context.ts';
import { LiveObjects } from './objects/live-objects.ts';
import { oneDefaultClass, podPriorities } from './pods/priority-admission.ts';
import { builtinResources } from './resources/builtin.ts';
import { Catalog } from './resources/catalog.ts';
import { definitionRules } from './resources/definition-rules.ts';
import { ServiceAllocator } from './services/allocator.ts';
import { completeServices } from './services/complete.ts';
import { KubernetesService } from './services/kubernetes-service.ts';
import { type ServiceRanges, USUAL_RANGES } from './services/ranges.ts';
import { Store, type StoreLimits } from './store/store.ts';

export interface EngineOptions {
  readonly directory: string;
  readonly host: string;
  /** 0 takes any port that is free. */
  readonly port: number;
  /** Where to write the administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly log: Log;
  /** Kinds whose single objects are checked by more than their schema. */
  readonly kinds?: readonly DeclaredKind[];
  readonly admission?: readonly Admission[];
  readonly limits?: Partial<StoreLimits>;
  /** Where the addresses and ports of Services come from. */
  readonly services?: ServiceRanges;
  /** What pods have their addresses from, for hosts that nobody tells by hand. */
  readonly podNetworks?: readonly Prefix[];
  /** What others in this process measure; served beside what the engine measures itself. */
  readonly extraMetrics?: () => readonly Metric[];
}

/** A running stand-in for kube-apiserver: one process, one directory. */
export interface Engine {
  readonly url: string;
  /** Resolves with what went wrong when nothing can be stored any more; reads go on. */
  readonly failed: Promise<Error>;
  /** A way in for parts of the same process. */
  transport(userAgent: string, user?: UserInfo): LocalTransport;
  close(): Promise<void>;
}

/** Certificates are renewed a month before they expire, also while the engine runs. */
const DAILY = 24 * 60 * 60 * 1000;

/** Within the five seconds that whoever stops us allows. */
const GRACE = 2_000;

export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { directory, log, host, port } = options;
  const now = () => new Date();
  const store = await Store.open({
    directory: `${directory}/store`,
    holder: `${host}:${port}`,
    log: (line) => log.warn(line),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const closers: (() => unknown)[] = [() => store.close()];
  const close = async () => {
    for (const stop of closers.splice(0).reverse()) await stop();
  };
  try {
    const allocator = new ServiceAllocator(options.services ?? USUAL_RANGES);
    closers.push(() => allocator.stop());
    const hosts = [...hostsOf(host), ...allocator.ranges.map(({ first }) => first.toString())];
    const keys = await loadKeys(`${directory}/pki`, hosts, now());
    const special = new Map([...definitionRules(() => catalog, now), ['services', allocator.rules] as const]);
    const accountKey = new SigningKey(keys.accountKey);
    const tokens = new AccountTokens(accountKey, store, now);
    const catalog: Catalog = new Catalog(builtinResources(special));
    allocator.follow(store);
    const live = new LiveObjects(store, catalog);
    const rbac = new Rbac(store);
    closers.push(() => rbac.stop());
    const graph = new NodeGraph();
    const pods = followPods(store, graph);
    closers.push(() => pods.close());
    const access = new Access(rbac, new NodeAuthorizer(graph, nodeRules));
    const context: Context = {
      store,
      catalog,
      now,
      timestamp: () => timestamp(Date.now()),
      admission: new AdmissionChain(
        [
          ...[lastingNamespaces, lastingClasses],
          ...escalationChecks(access, rbac),
          ...certificateChecks(access),
          ...nodeRestriction,
          accountAdmission,
          podPriorities,
          oneDefaultClass,
          ...(options.admission ?? []),
        ],
        live,
      ),
    };
    const definitions = new Definitions(context, { log, ownRules: ownRules(options.kinds ?? []) });
    closers.push(() => definitions.stop());
    const namespaces = new Namespaces(context, { log, authority: keys.authority.certificate });
    closers.push(() => namespaces.stop());
    await namespaces.start();
    await createSystemClasses(context);
    const roles = new Roles(context, log);
    closers.push(() => roles.stop());
    await roles.start();
    const collector = new GarbageCollector(context, log);
    closers.push(() => collector.stop());
    const certificates = new Certificates(context, { access, authority: keys.authority, log });
    closers.push(() => certificates.stop());
    const secrets = new AccountSecrets(context, { tokens, authority: keys.authority.certificate, log });
    closers.push(() => secrets.stop());
    const expiry = new EventExpiry(context, log);
    closers.push(() => expiry.stop());

    const admin = { username: 'netloom-admin', groups: [ADMINISTRATORS] };
    const identities = new Identities([{ token: keys.adminToken, user: admin }], tokens, ISSUER);
    const metrics = new Metrics(options.extraMetrics);
    const api = new Api({
      context,
      access,
      discovery: new Discovery(catalog),
      openApi: new OpenApi(catalog),
      reviews: new Reviews(identities, access),
      tokens,
      openId: new OpenId(accountKey, () => http.url),
      metrics,
      version: versionInfo,
      onFault: (error, call) =>
        log.error('a request failed for a reason that is ours', {
          method: call.method,
          path: call.path,
          error: asError(error),
        }),
    });
    const http: HttpServer = await HttpServer.listen({ api, identities, access, metrics, log, host, port, ...keys });
    closers.push(() => http.close(GRACE));
    const { podNetworks = [] } = options;
    const apiPort = Number(new URL(http.url).port);
    const kubernetes = new KubernetesService(context, { allocator, podNetworks, host, port: apiPort, log });
    closers.push(() => kubernetes.stop());
    await kubernetes.start();
    await completeServices(context, log);
    const renewal = setInterval(() => void renew(), DAILY);
    closers.push(() => clearInterval(renewal));
    const renew = async () => {
      try {
        http.useCertificates(await loadKeys(`${directory}/pki`, hosts, now()));
      } catch (error) {
        log.warn('the certificate could not be looked after; it is tried again in a day', { error: asError(error) });
      }
    };
    await writePrivately(
      options.kubeconfig,
      kubeconfig({ server: http.url, authority: keys.authority.certificate, token: keys.adminToken }),
    );
    return {
      url: http.url,
      failed: store.failed,
      transport: (userAgent, user = internalUser) => new LocalTransport(api, { user, userAgent }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What the server's certificate is good for: however this machine and pods call it, and the address asked for. */
function hostsOf(host: string): string[] {
  const service = 'kubernetes.default.svc.cluster.local'.split('.');
  const names = [1, 2, 3, 5].map((labels) => service.slice(0, labels).join('.'));
  const usual = ['localhost', '127.0.0.1', '::1', ...names];
  const everywhere = host === '0.0.0.0' || host === '::';
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map(({ address }) => address) ?? []);
  return [...new Set([...usual, ...(everywhere ? own : [host])])];
}

function ownRules(kinds: readonly DeclaredKind[]) {
  const byKind = new Map(kinds.map((kind) => [`${kind.group}/${kind.kind}`, kind]));
  return (group: string, kind: string) => {
    const declared = byKind.get(`${group}/${kind}`);
    if (declared === undefined) return undefined;
    // The schema has vouched for the shape before these rules are asked.
    const asObject = (object: JsonObject) => object as unknown as ApiObject;
    return (object: JsonObject, old: JsonObject | undefined) =>
      declared.validate(asObject(object), old === undefined ? undefined : asObject(old));
  };
}

/** The API whose behaviour this is; clients choose their ways by the version. */
const versionInfo = {
  major: '1',
  minor: '33',
  gitVersion: 'v1.33.13+netloom',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'node',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};
