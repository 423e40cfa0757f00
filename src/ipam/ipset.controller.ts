import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import { IPSet, type IPSetStatus } from '../api/network.openstack.org/ipset.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import { Ledger } from '../ledger/ledger.ts';
import { Conditions } from '../runtime/conditions.ts';
import { type Context, type Controller, controller } from '../runtime/controller.ts';
import { asError } from '../runtime/log.ts';
import { done, failed, type Outcome, wait } from '../runtime/outcome.ts';
import { refOf } from '../runtime/ref.ts';
import { nextStatus } from '../runtime/status.ts';
import { type Allotment, allot } from './allocator.ts';
import { type Applicant, ipSetApplicant } from './applicant.ts';
import { byNamespace } from './by-namespace.ts';
import { type Environment, Environments, UNDERLAY } from './environment.ts';
import { importClaims, importReservations } from './import.ts';
import { type Decided, record, releaseAll, releaseSurplus, requireThatLost } from './record.ts';
import { FINALIZER } from './reservation.ts';
import { reservationsOf } from './status.ts';
import { wakersOf } from './wakers.ts';

/** Reserves one address per requested network, and keeps it for as long as the IPSet lives. */
export const ipSets = ({ coolDown }: { coolDown: number }): Controller => ({
  name: IPSet.plural,
  start(host) {
    const ledger = Ledger.of(host);
    // Whoever gives the first address, be it to a Service: what is promised must be known.
    ledger.prepareWith(UNDERLAY, async (space, hold) => {
      const [reservations, known] = [host.informers.of(Reservation), host.informers.of(IPSet)];
      const claims = host.informers.of(AddressClaim);
      await Promise.all([reservations.whenSynced(), known.whenSynced(), claims.whenSynced()]);
      await importReservations({
        hold,
        space,
        reservations: reservations.cache.list(space.namespace),
        ipSetOf: (reservation) => known.cache.get(refOf(reservation)),
      });
      await importClaims({ hold, space, claims: claims.cache.list(space.namespace) });
    });
    const environments = Environments.of(ledger, { coolDown });
    return controller({
      for: IPSet,
      watches: [
        ...wakersOf(IPSet, environments),
        {
          kind: Reservation,
          wakes: (reservation: Reservation, caches) => environments.wokenByReservation(reservation, caches),
        },
      ],
      // The more IPSets go together, the fewer writes of AddressBlocks they need.
      batch: { max: 256, pause: 20 },
      reconcileMany: (ipSets, context) =>
        byNamespace(ipSets, (namespace, group) => reserve(environments.of(namespace), group, context)),
      finalizer: {
        ...FINALIZER,
        releaseMany: (ipSets, context) =>
          byNamespace(ipSets, (namespace, group) => release(environments.of(namespace), group, context)),
      },
    }).start(host);
  },
});

type IPSetOutcome = Outcome<IPSetStatus>;

async function reserve(environment: Environment, ipSets: readonly IPSet[], context: Context): Promise<IPSetOutcome[]> {
  const { caches, client } = context;
  const { ledger, space, waiting } = environment;
  const networks = environment.networks(caches);
  if (networks === undefined) {
    // What is promised is on record all the same: the networks may be other ones when they come.
    await ledger.prepare(space);
    return ipSets.map((ipSet) => withoutNetConfig(ipSet, environment, context));
  }
  const found = ipSets.map((ipSet) => ({ ipSet, reservation: caches.of(Reservation).get(refOf(ipSet)) }));
  const isOutdated = (): boolean => environment.networks(caches) !== networks;
  const applicants = found.map(({ ipSet, reservation }) => ipSetApplicant(ipSet, reservation));
  const isThere = ({ ref, holder }: Applicant): boolean => caches.of(IPSet).get(ref)?.metadata.uid === holder.uid;
  const allotments = await allot({ ledger, space, networks, waiting, isOutdated, isThere }, applicants);
  return Promise.all(
    found.map(async ({ ipSet, reservation }, i) => {
      const allotment = allotments[i];
      if (allotment === undefined) return done<IPSetStatus>();
      const decided: Decided = { ipSet, reservation, ...allotment };
      try {
        if (allotment.isDoubtful) await requireThatLost(decided, client);
        await record(decided, client);
        await releaseSurplus(decided, environment, client);
      } catch (error) {
        return failed<IPSetStatus>(asError(error));
      }
      return outcomeOf(ipSet, allotment, environment, context);
    }),
  );
}

async function release(
  environment: Environment,
  ipSets: readonly IPSet[],
  { caches, client }: Context,
): Promise<IPSetOutcome[]> {
  return Promise.all(
    ipSets.map(async (ipSet) => {
      environment.forget(ipSet);
      try {
        await releaseAll(ipSet, caches.of(Reservation).get(refOf(ipSet)), environment, client);
        return done<IPSetStatus>();
      } catch (error) {
        return failed<IPSetStatus>(asError(error));
      }
    }),
  );
}

function outcomeOf(ipSet: IPSet, allotment: Allotment, { contest }: Environment, context: Context): IPSetOutcome {
  const { problems, error, mayAskAgain } = allotment;
  const why = problems.join('; ');
  const conditions = conditionsOf(ipSet, context);
  conditions.met('InputReady', 'Input data complete');
  if (problems.length === 0) conditions.met('ReservationReady', 'Reservation successful');
  else conditions.failed('ReservationReady', `Reservation error occured ${why}`, { severity: 'Error' });
  const status = nextStatus(ipSet, {
    conditions: conditions.list(),
    ...reservationsOf(allotment, ipSet.status?.reservations),
  });
  if (error !== undefined) return failed(error, { status });
  const after = contest.delay(ipSet, status, context.system.uptime());
  if (after > 0) return wait({ after });
  if (problems.length === 0) return done({ status });
  const before = ipSet.status?.conditions?.find(({ type }) => type === 'ReservationReady');
  if (before?.message?.endsWith(why) !== true) context.events.warning(ipSet, 'AddressNotAvailable', why);
  return mayAskAgain ? wait({ status, after: 0 }) : wait({ status });
}

/** What it has it keeps, and its status goes on saying so. */
function withoutNetConfig(ipSet: IPSet, { waiting, contest }: Environment, context: Context): IPSetOutcome {
  waiting.forget(ipSet.metadata.uid);
  const conditions = conditionsOf(ipSet, context);
  conditions.failed('InputReady', `NetConfig missing in namespace ${ipSet.metadata.namespace}`, { severity: 'Error' });
  const before = ipSet.status?.reservations;
  const said = before === undefined ? {} : reservationsOf({ reserved: [], undecided: ipSet.spec.networks }, before);
  const status = nextStatus(ipSet, { conditions: conditions.list(), ...said });
  const after = contest.delay(ipSet, status, context.system.uptime());
  return after > 0 ? wait({ after }) : wait({ status });
}

const conditionsOf = (ipSet: IPSet, { system }: Context): Conditions =>
  new Conditions({
    about: { InputReady: 'Input data not checked', ReservationReady: 'Reservation create not started' },
    before: ipSet.status?.conditions,
    now: system.now(),
  });
