import type { Address } from '../api/address.ts';
import { type Service, Service as Services } from '../api/core/service.ts';
import { L2Advertisement } from '../api/metallb.io/l2-advertisement.ts';
import type { Context } from '../runtime/controller.ts';
import { asError } from '../runtime/log.ts';
import { done, failed, type Outcome, wait } from '../runtime/outcome.ts';
import { keyOf, keyOfObject, type Ref, refOf } from '../runtime/ref.ts';
import { advertising } from './advertisements.ts';
import { applicantOf, ingressOf, isServed, poolAnnotation } from './applicant.ts';
import { type Applicant, type Decision, decide, type Remark, type Stock } from './decide.ts';
import { type Leave, type Office, UNHEARD } from './office.ts';
import type { Register } from './register.ts';
import { writeRegister } from './register-writer.ts';
import { tell, withdraw } from './service-status.ts';
import type { Waiting } from './waiting.ts';
import { DEPRECATED_PREFIX, PREFIX, type Wishes, wishesOf } from './wishes.ts';

export interface AllocatorOptions {
  readonly office: Office;
  readonly waiting: Waiting;
  readonly loadBalancerClass: string;
}

type ServiceOutcome = Outcome<NonNullable<Service['status']>>;

/** Brings Services to the addresses that they shall have: on record first, then told, and what is left over is given back last. */
export class Allocator {
  readonly #office: Office;
  readonly #waiting: Waiting;
  readonly #class: string;
  /** Which Service → what it was last told that it lacks. */
  readonly #lacks = new Map<string, string>();
  /** Which Service → when we last told it an address, as uptime. */
  readonly #given = new Map<string, number>();
  #leavers: { readonly refs: Set<Ref>; readonly done: Promise<ReadonlySet<Ref>> } | undefined;
  #hasBegun = false;

  constructor({ office, waiting, loadBalancerClass }: AllocatorOptions) {
    this.#office = office;
    this.#waiting = waiting;
    this.#class = loadBalancerClass;
  }

  async serve(services: readonly Service[], context: Context): Promise<ServiceOutcome[]> {
    if (!this.#hasBegun) {
      // Who has an address from before there was a register must be in it before anybody else is given one.
      const holders = context.caches
        .of(Services)
        .list()
        .filter((service) => this.#isUnregistered(service));
      await this.#serve(holders, context);
      this.#hasBegun = true;
    }
    return this.#serve(services, context);
  }

  /**
   * The Service is gone: whatever one of that name has is free. Those that go together are done together. One that the server has, and that
   * we have not heard of, may go before we do, and then nobody tells us: it is looked at again.
   */
  async leave(ref: Ref, context: Context): Promise<{ after: number } | undefined> {
    if (this.#leavers === undefined) {
      const refs = new Set<Ref>();
      this.#leavers = { refs, done: Promise.resolve().then(() => this.#leaveAll(refs, context)) };
    }
    this.#leavers.refs.add(ref);
    const unheard = await this.#leavers.done;
    return unheard.has(ref) ? { after: UNHEARD } : undefined;
  }

  /** Answers with those that are not gone. */
  async #leaveAll(refs: ReadonlySet<Ref>, { client, caches }: Context): Promise<ReadonlySet<Ref>> {
    this.#leavers = undefined;
    const left = await Promise.all(
      [...refs].map(async (ref) => ({ ref, ...(await this.#leftBehind(ref, undefined, client)) })),
    );
    const leaves = left.flatMap((one) => one.leaves);
    for (const ref of refs) {
      this.#waiting.remove(ref);
      this.#lacks.delete(keyOf(ref));
      this.#given.delete(keyOf(ref));
    }
    if (leaves.length > 0) await this.#office.giveBack(leaves, caches, client);
    return new Set(left.flatMap(({ ref, isThere }) => (isThere ? [ref] : [])));
  }

  /**
   * What Services of this name have on record that are gone; `known` is the one that is there as far as we have heard. A cache may be
   * behind, and the one on record be newer: the server knows, and what it says is about those who were on record before it was asked.
   * `isThere`: one of them is not gone.
   */
  async #leftBehind(
    { name, namespace }: Ref,
    known: string | undefined,
    client: Context['client'],
  ): Promise<{ leaves: Leave[]; isThere: boolean }> {
    const all = this.#office.leftBy({ name, namespace }, known);
    if (all.length === 0) return { leaves: all, isThere: false };
    const living = await client.get(Services, name, namespace);
    const leaves = all.filter(({ uid }) => uid !== living?.metadata.uid);
    return { leaves, isThere: leaves.length < all.length };
  }

  /** Decides for each Service, and puts what was decided on record. */
  async #record(services: readonly Service[], context: Context) {
    const losers = await this.#losersAmong(services, context);
    const outdated = await this.#outdatedAmong(services, context.client);
    const stripped = await this.#strippedAmong(services, context);
    // From here on until all is being written nobody may come in between.
    const stock = this.#stock(context);
    const now = context.system.now();
    const cases = new Map(services.map((service) => [service, this.#caseOf(service, context)]));
    for (const service of [...services].sort(holdersFirst)) {
      const found = cases.get(service);
      if (found?.applicant === undefined) continue;
      found.decision = decide(found.applicant, stock);
      found.isPremature =
        (found.decision.isTakenAway && !losers.has(service)) || outdated.has(service) || stripped.has(service);
      if (found.isPremature) continue;
      // Whatever is freed from here on, while this is put on record, wakes those who lack it.
      if (isShort(found)) this.#waiting.add(service, found.wishes);
      const { addresses, pool } = found.decision;
      const before = addresses.map((address) => stock.register.at(address));
      const told = new Set(ingressOf(service).map(String));
      for (const address of addresses) {
        const afresh = !told.has(address.toString());
        stock.register.use(address, found.applicant.user, { pool, now, afresh });
      }
      // Who shares on other terms than before may make room for one who waits.
      this.#office.free(
        addresses.filter((address, i) => before[i] !== undefined && before[i] !== stock.register.at(address)),
      );
    }
    return { cases, failures: await writeRegister(stock.register, context.client) };
  }

  #stock({ caches }: Context): Stock {
    const { register, underlay } = this.#office;
    return { pools: this.#office.pools(caches), register, underlay };
  }

  /**
   * From whom an address may be taken. The server is asked first: a pool that we have not heard of yet is no reason, nor is somebody
   * who has given the address back.
   */
  async #losersAmong(services: readonly Service[], context: Context): Promise<ReadonlySet<Service>> {
    const stock = this.#stock(context);
    const losers = services.filter((service) => {
      const { applicant } = this.#caseOf(service, context);
      return applicant?.isTold === true && decide(applicant, stock).isTakenAway;
    });
    if (losers.length === 0 || !(await this.#office.knowsThePools(context))) return new Set();
    await this.#office.lookUp(losers.flatMap(ingressOf), context);
    return new Set(losers);
  }

  /**
   * Of those that say to have what is not on record for them, those of which the server does not say so any more: they are gone, or have
   * been told something else. Whoever knew that before us has given it back, and we would put it on record and he give it back without end.
   */
  async #outdatedAmong(services: readonly Service[], client: Context['client']): Promise<ReadonlySet<Service>> {
    const { register } = this.#office;
    const outdated = services.map(async (service) => {
      const unrecorded = ingressOf(service).filter((address) => !isRecorded(address, service, register));
      if (unrecorded.length === 0) return [];
      const { name, namespace } = refOf(service);
      const now = await client.get(Services, name, namespace);
      const told = new Set(now?.metadata.uid === service.metadata.uid ? ingressOf(now).map(String) : []);
      return unrecorded.every((address) => told.has(address.toString())) ? [] : [service];
    });
    return new Set((await Promise.all(outdated)).flat());
  }

  /**
   * Those that we told an address a moment ago and that have none now, when we have not heard of all pools: whoever took it may know of
   * another one, and we would give it and he take it without end.
   */
  async #strippedAmong(services: readonly Service[], context: Context): Promise<ReadonlySet<Service>> {
    const since = context.system.uptime() - RECENTLY;
    const stripped = services.filter(
      (service) =>
        ingressOf(service).length === 0 && (this.#given.get(keyOfObject(service)) ?? Number.NEGATIVE_INFINITY) > since,
    );
    return stripped.length === 0 || (await this.#office.knowsThePools(context)) ? new Set() : new Set(stripped);
  }

  async #serve(services: readonly Service[], context: Context): Promise<ServiceOutcome[]> {
    const { register } = this.#office;
    const { cases, failures } = await this.#record(services, context);
    return Promise.all(
      services.map(async (service) => {
        const found = cases.get(service) ?? this.#caseOf(service, context);
        if (found.isPremature) return lookAgain(LATER);
        const { addresses, lack } = found.decision;
        const blocks = addresses.map((address) => register.blockOf(address));
        const failure = blocks.map((block) => failures.get(block)).find((error) => error !== undefined);
        if (failure !== undefined) return failed(failure);
        // What was on record a moment ago has been taken off by somebody.
        if (addresses.some((address) => !isRecorded(address, service, register))) return lookAgain(CATCH_UP);
        try {
          const outcome = await this.#settle(service, found, context);
          // What others were given in this pass may not have come on record, and then it is free.
          return lack !== undefined && failures.size > 0 ? lookAgain(CATCH_UP) : outcome;
        } catch (error) {
          return failed(asError(error));
        }
      }),
    );
  }

  #caseOf(service: Service, { caches }: Context): Case {
    const { register } = this.#office;
    const nothing = { applicant: undefined, wishes: wishesOf(service), decision: NOTHING, isPremature: false };
    const isOurs = poolAnnotation(service) !== undefined || register.of(service.metadata.uid).length > 0;
    if (!isServed(service, this.#class))
      return { ...nothing, untouched: !isOurs || hasOtherClass(service, this.#class) };
    // Without pools nobody asked us to serve anybody, and it may be somebody else's address.
    const { deletionTimestamp } = service.metadata;
    if (!isOurs && (this.#office.pools(caches).isEmpty || deletionTimestamp !== undefined)) {
      return { ...nothing, untouched: true };
    }
    const applicant = applicantOf(service, caches, register);
    if (applicant === 'headless') return { ...nothing, untouched: !isOurs };
    if (applicant === 'not enough clusterips') {
      const message = 'ipFamilyPolicy is RequireDualStack, and the Service has no cluster IP of the second family';
      const lack: Remark = { type: 'Warning', reason: applicant, message };
      return { ...nothing, decision: { ...NOTHING, lack }, untouched: false };
    }
    return { ...nothing, applicant, untouched: false };
  }

  async #settle(service: Service, { wishes, decision, untouched }: Case, context: Context): Promise<ServiceOutcome> {
    const { uid } = service.metadata;
    const { register, claims } = this.#office;
    const networks = this.#office.networks(context.caches);
    const vips = decision.addresses.flatMap((address) => register.at(address) ?? []);
    const told = new Set(ingressOf(service).map(String));
    const isTold = sameTexts(decision.addresses, ingressOf(service));
    const records = this.#office.recordsOf(uid);
    const takes = vips.map((vip) => claims.take(vip, networks, told.has(vip.address.toString()) ? undefined : uid));
    const conflicts = (await Promise.all(takes)).flat();
    if (conflicts.length > 0 && !isTold) {
      // A host was faster. The Service was not told yet that it has the address, so it can have another; then this one is given back.
      for (const address of decision.addresses) this.#office.learnOf(address, context.caches);
      return lookAgain(CATCH_UP);
    }
    await this.#releaseElsewhere(decision, context);
    let hasChanged = false;
    if (!decision.standstill && !untouched) {
      const told = { addresses: decision.addresses.map(String), pool: decision.pool };
      hasChanged = await tell(service, told, context.client);
      if (hasChanged && !isTold) this.#given.set(keyOfObject(service), context.system.uptime());
      if (hasChanged && wishes.deprecated.length > 0 && decision.addresses.length > 0) {
        context.events.warning(service, 'deprecatedAnnotation', deprecation(wishes));
      }
    }
    if (!decision.standstill) await this.#giveBackSurplus(service, { decision, records, hasChanged }, context);
    this.#remark(service, { wishes, decision, untouched }, conflicts, context);
    return done();
  }

  /** Networks may go, or move to other addresses, before the Services do. */
  async #releaseElsewhere({ addresses }: Decision, { caches }: Context): Promise<void> {
    const { register, underlay, claims } = this.#office;
    for (const address of addresses) {
      const namespaces = underlay.at(address).map(({ namespace }) => namespace);
      const users = new Set(register.at(address)?.users.map(({ uid }) => uid));
      await this.#office.releaseElsewhere(address, claims.held(address, namespaces, users), caches);
    }
  }

  /**
   * What was on record for the Service before it was told what it has now. `hasChanged`: telling it has changed it, so that nobody
   * comes through with telling an older version of it something else; otherwise it is changed for that alone.
   */
  async #giveBackSurplus(
    service: Service,
    { decision, records, hasChanged }: { decision: Decision; records: readonly Leave[]; hasChanged: boolean },
    context: Context,
  ): Promise<void> {
    const kept = new Set(decision.addresses.map(String));
    const surplus = records.filter(({ address }) => !kept.has(address.toString()));
    if (surplus.length > 0 && !hasChanged) await withdraw(service, context.system.now(), context.client);
    const former = await this.#leftBehind(refOf(service), service.metadata.uid, context.client);
    const leaves = [...surplus, ...former.leaves];
    if (leaves.length > 0) await this.#office.giveBack(leaves, context.caches, context.client);
  }

  #remark(
    service: Service,
    { wishes, decision, untouched }: Pick<Case, 'wishes' | 'decision' | 'untouched'>,
    conflicts: readonly string[],
    context: Context,
  ): void {
    const key = keyOfObject(service);
    const { events } = context;
    for (const remark of decision.remarks) say(events, service, remark);
    if (isShort({ decision, untouched })) this.#waiting.add(service, wishes);
    else this.#waiting.remove(refOf(service));
    const lacks = [
      ...(decision.lack === undefined ? [] : [decision.lack]),
      ...conflicts.map((message): Remark => ({ type: 'Warning', reason: 'AddressConflict', message })),
      ...this.#announcementLack(decision, context),
    ];
    const text = JSON.stringify([service.metadata.uid, lacks]);
    if (this.#lacks.get(key) !== text) for (const lack of lacks) say(events, service, lack);
    if (lacks.length === 0) this.#lacks.delete(key);
    else this.#lacks.set(key, text);
  }

  /** An address that nobody announces is of no use, and that is what people overlook most often. */
  #announcementLack({ addresses, pool: name }: Decision, { caches }: Context): Remark[] {
    const pool = addresses.length === 0 ? undefined : this.#office.pools(caches).find(name);
    if (pool === undefined) return [];
    if (advertising(pool.object, caches.of(L2Advertisement).list(this.#office.namespace)).length > 0) return [];
    const message = `nobody announces ${addresses.join(' and ')}: no L2Advertisement is for pool ${name}`;
    return [{ type: 'Warning', reason: 'NotAdvertised', message }];
  }

  #isUnregistered(service: Service): boolean {
    return (
      isServed(service, this.#class) &&
      ingressOf(service).length > 0 &&
      this.#office.register.of(service.metadata.uid).length === 0
    );
  }
}

/** A Service in a pass. */
interface Case {
  readonly applicant: Applicant | undefined;
  readonly wishes: Wishes;
  decision: Decision;
  /** What it was decided from is not what there is. */
  isPremature: boolean;
  /** Its status is none of our business. */
  readonly untouched: boolean;
}

const isShort = ({ decision, untouched }: Pick<Case, 'decision' | 'untouched'>): boolean =>
  decision.lack !== undefined && decision.addresses.length < 2 && !untouched;

const isRecorded = (address: Address, { metadata }: Service, register: Register): boolean =>
  register.at(address)?.users.some(({ uid }) => uid === metadata.uid) === true;

const lookAgain = (after: number): ServiceOutcome => wait({ after });

function say(events: Context['events'], service: Service, { type, reason, message }: Remark): void {
  if (type === 'Normal') events.normal(service, reason, message);
  else events.warning(service, reason, message);
}

const deprecation = ({ deprecated }: Wishes): string =>
  `the prefix ${DEPRECATED_PREFIX} is deprecated, use ${PREFIX} instead: ${deprecated.join(', ')}`;

const hasOtherClass = ({ spec }: Service, ours: string): boolean =>
  spec.type === 'LoadBalancer' && (spec.loadBalancerClass ?? '') !== ours;

/** Whoever has an address keeps it from those who come for one; among those, the oldest is first. */
function holdersFirst(a: Service, b: Service): number {
  const holds = (service: Service): number => (ingressOf(service).length > 0 ? 0 : 1);
  if (holds(a) !== holds(b)) return holds(a) - holds(b);
  if (a.metadata.creationTimestamp === b.metadata.creationTimestamp) return 0;
  return a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1;
}

const sameTexts = (a: readonly { toString(): string }[], b: readonly { toString(): string }[]): boolean =>
  a.length === b.length && a.every((one, i) => one.toString() === b[i]?.toString());

const NOTHING: Decision = {
  addresses: [],
  pool: '',
  standstill: false,
  isTakenAway: false,
  remarks: [],
  lack: undefined,
};

/** Until what the server told us in passing has reached the caches as well. */
const CATCH_UP = 100;
/** Until a cache that is behind has been told as well: it may take long, and whatever arrives wakes us before. */
const LATER = 1_000;
/** For how long it may be our doing that a Service had an address. */
const RECENTLY = 60_000;
