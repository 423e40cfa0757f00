import { AddressClaim, type AddressClaimStatus } from '../api/netloom.io/address-claim.ts';
import { Ledger } from '../ledger/ledger.ts';
import { Conditions } from '../runtime/conditions.ts';
import { type Context, type Controller, controller } from '../runtime/controller.ts';
import { asError } from '../runtime/log.ts';
import { done, failed, type Outcome, wait } from '../runtime/outcome.ts';
import { nextStatus } from '../runtime/status.ts';
import { CLAIM_FINALIZER, requireThatClaimLost, surplusOf } from './address-claim.record.ts';
import { type Allotment, allot } from './allocator.ts';
import { type Applicant, claimApplicant } from './applicant.ts';
import { byNamespace } from './by-namespace.ts';
import { type Environment, Environments } from './environment.ts';
import type { Reserved } from './reservation.ts';
import { wakersOf } from './wakers.ts';

/** Gives each claim one address, says in its status which, and keeps it for as long as the claim lives. */
export const addressClaims = ({ coolDown }: { coolDown: number }): Controller => ({
  name: AddressClaim.plural,
  start(host) {
    const environments = Environments.of(Ledger.of(host), { coolDown });
    return controller({
      for: AddressClaim,
      watches: wakersOf(AddressClaim, environments),
      batch: { max: 256 },
      reconcileMany: (claims, context) =>
        byNamespace(claims, (namespace, group) => serve(environments.of(namespace), group, context)),
      finalizer: {
        ...CLAIM_FINALIZER,
        releaseMany: (claims) => byNamespace(claims, (namespace, group) => release(environments.of(namespace), group)),
      },
    }).start(host);
  },
});

type ClaimOutcome = Outcome<AddressClaimStatus>;

async function serve(
  environment: Environment,
  claims: readonly AddressClaim[],
  context: Context,
): Promise<ClaimOutcome[]> {
  const { ledger, space, waiting, coolDown } = environment;
  const networks = environment.networks(context.caches);
  if (networks === undefined) {
    await ledger.prepare(space);
    return claims.map((claim) => withoutNetConfig(claim, environment, context));
  }
  const isOutdated = (): boolean => environment.networks(context.caches) !== networks;
  const known = context.caches.of(AddressClaim);
  const isThere = ({ ref, holder }: Applicant): boolean => known.get(ref)?.metadata.uid === holder.uid;
  const allotments = await allot({ ledger, space, networks, waiting, isOutdated, isThere }, claims.map(claimApplicant));
  return Promise.all(
    claims.map(async (claim, i) => {
      const allotment = allotments[i];
      if (allotment === undefined) return done<AddressClaimStatus>();
      try {
        if (allotment.isDoubtful) await requireThatClaimLost(claim, allotment, context.client);
        await ledger.release(space, await surplusOf(claim, allotment, context.client), { coolDown });
      } catch (error) {
        return failed<AddressClaimStatus>(asError(error));
      }
      return outcomeOf(claim, allotment, environment, context);
    }),
  );
}

async function release(environment: Environment, claims: readonly AddressClaim[]): Promise<ClaimOutcome[]> {
  const { ledger, space, coolDown } = environment;
  return Promise.all(
    claims.map(async (claim) => {
      environment.forget(claim);
      try {
        await ledger.release(space, space.heldBy(claim.metadata.uid), { coolDown });
        return done<AddressClaimStatus>();
      } catch (error) {
        return failed<AddressClaimStatus>(asError(error));
      }
    }),
  );
}

function outcomeOf(
  claim: AddressClaim,
  { reserved: [reserved], problems, error, mayAskAgain, surplus }: Allotment,
  environment: Environment,
  context: Context,
): ClaimOutcome {
  const why = problems.join('; ');
  const conditions = conditionsOf(claim, context);
  if (reserved === undefined) {
    conditions.failed('Ready', why, { severity: 'Error', reason: NOT_AVAILABLE });
  } else {
    const text = `${reserved.address} is held for host ${claim.spec.host}`;
    conditions.set('Ready', { status: 'True', message: text });
  }
  const status = reserved === undefined ? lacking(claim, conditions) : answer(claim, reserved, conditions);
  if (error !== undefined) return failed(error, { status });
  const after = environment.contest.delay(claim, status, context.system.uptime());
  if (after > 0) return wait({ after });
  // What it holds too much is given back once its status says what it has.
  if (reserved !== undefined) return surplus.length === 0 ? done({ status }) : wait({ status, after: SOON });
  const before = claim.status?.conditions?.[0];
  if (before?.message !== why) context.events.warning(claim, NOT_AVAILABLE, why);
  return mayAskAgain ? wait({ status, after: 0 }) : wait({ status });
}

/** What it has it keeps, and its status goes on saying so. */
function withoutNetConfig(claim: AddressClaim, { waiting, contest }: Environment, context: Context): ClaimOutcome {
  waiting.forget(claim.metadata.uid);
  const conditions = conditionsOf(claim, context);
  const message = `NetConfig missing in namespace ${claim.metadata.namespace}`;
  conditions.failed('Ready', message, { severity: 'Error', reason: 'NetConfigMissing' });
  const status = lacking(claim, conditions);
  const after = contest.delay(claim, status, context.system.uptime());
  return after > 0 ? wait({ after }) : wait({ status });
}

const answer = (claim: AddressClaim, { address, subnet }: Reserved, conditions: Conditions): AddressClaimStatus => ({
  observedGeneration: claim.metadata.generation ?? 0,
  conditions: conditions.list(),
  address: address.toString(),
  prefixLength: subnet.prefix.length,
  ...(subnet.gateway === undefined ? {} : { gateway: subnet.gateway.toString() }),
  ...(subnet.definition.vlan === undefined ? {} : { vlan: subnet.definition.vlan }),
  mtu: subnet.network.mtu,
});

/** An address that it was told stays in its status, whatever keeps it from being Ready. */
const lacking = (claim: AddressClaim, conditions: Conditions): AddressClaimStatus =>
  nextStatus(claim, { conditions: conditions.list() });

const conditionsOf = ({ status }: AddressClaim, { system }: Context): Conditions =>
  new Conditions({ about: {}, before: status?.conditions, now: system.now() });

const NOT_AVAILABLE = 'AddressNotAvailable';
const SOON = 1_000;
