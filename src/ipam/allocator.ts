import type { Address } from '../api/address.ts';
import type { AddressHolder } from '../api/netloom.io/address-block.ts';
import type { NetworkRequest } from '../api/network.openstack.org/ipset.ts';
import { sameName } from '../api/network.openstack.org/shapes.ts';
import type { Ledger, Outcome } from '../ledger/ledger.ts';
import type { Holding, Request, Space } from '../ledger/space.ts';
import type { Applicant } from './applicant.ts';
import { explain } from './explain.ts';
import type { Networks, Subnet } from './networks.ts';
import { type Plan, type PlanEntry, plan } from './plan.ts';
import type { Reserved } from './reservation.ts';
import type { Waiting, Wanted } from './waiting.ts';

/** What an applicant has after a pass, and what it lacks. */
export interface Allotment {
  readonly reserved: readonly (Reserved & { readonly request: NetworkRequest })[];
  /** Of these nobody can say now whether it has something there: what was said about them before still holds. */
  readonly undecided: readonly NetworkRequest[];
  /** Why something is missing, a sentence each. */
  readonly problems: readonly string[];
  /** Asking again may help. */
  readonly error: Error | undefined;
  /** Held, and to be given back once what is promised in writing does not name it. */
  readonly surplus: readonly Holding[];
  /** It lacks something that its status says it has, or has something else than was promised: perhaps we have not heard of it yet. */
  readonly isDoubtful: boolean;
  /** Something that it lacks has become free in the meantime, or is somebody else's by now. */
  readonly mayAskAgain: boolean;
}

export interface Allocator {
  readonly ledger: Ledger;
  readonly space: Space;
  readonly networks: Networks;
  readonly waiting: Waiting;
  /** Whether the networks are others by now. */
  readonly isOutdated: () => boolean;
  /** Whether the applicant is still there. */
  readonly isThere: (applicant: Applicant) => boolean;
}

/** Gives each applicant what can be given, older ones first. Answers in the order of the applicants. */
export async function allot(allocator: Allocator, applicants: readonly Applicant[]): Promise<Allotment[]> {
  const { space, networks } = allocator;
  const plans = applicants.map((applicant): Planned => {
    const holdings = space.heldBy(applicant.holder.uid);
    const isAnothers = (address: Address): boolean => space.isAnothers(address, applicant);
    const former = space.cooledBy(applicant.holder);
    return { ...plan({ ...applicant, networks, holdings, former, isAnothers }), holdings };
  });
  const questions = applicants
    .flatMap((applicant, i) =>
      certainFirst((plans[i]?.entries ?? []).flatMap((entry) => questionsOf(applicant, entry))),
    )
    .sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : Number(ageOf(a) > ageOf(b))));
  const answers = new Map(await ask(allocator, questions));
  // A wish that cannot be met is no more than a request for any address.
  const unmet = questions.filter(({ entry }) => entry.goal.is === 'wished' && answers.get(entry)?.is === 'taken');
  for (const [entry, answer] of await ask(allocator, unmet.map(withoutWish))) answers.set(entry, answer);
  return applicants.map((applicant, i) => allotment(allocator, applicant, plans[i] ?? NOTHING, answers));
}

interface Planned extends Plan {
  /** What the applicant had on record when it was planned. */
  readonly holdings: readonly Holding[];
}

/** What the ledger is asked for a part of a plan. */
interface Question extends Wanted {
  readonly applicant: Applicant;
  readonly entry: PlanEntry;
}

function questionsOf(applicant: Applicant, entry: PlanEntry): Question[] {
  const { goal } = entry;
  if (goal.is === 'held' || goal.is === 'impossible') return [];
  return [{ applicant, entry, ...wantedOf(goal) }];
}

/** Where networks overlap, who asks for any address must not be given the one that he asks for by number. */
const certainFirst = (questions: readonly Question[]): Question[] => [
  ...questions.filter(({ address }) => address !== undefined),
  ...questions.filter(({ address }) => address === undefined),
];

const wantedOf = (goal: { subnet: Subnet; address?: Address }): Wanted =>
  goal.address === undefined ? { subnet: goal.subnet } : { subnet: goal.subnet, address: goal.address };

const withoutWish = ({ applicant, entry, subnet }: Question): Question => ({ applicant, entry, subnet });

const ageOf = ({ applicant }: Question): string => applicant.created;

async function ask(
  { ledger, space, waiting }: Allocator,
  questions: readonly Question[],
): Promise<(readonly [PlanEntry, Outcome])[]> {
  const present = new Set(questions.map(({ applicant }) => applicant.holder.uid));
  const answers: (readonly [PlanEntry, Outcome])[] = [];
  const now: Question[] = [];
  for (const question of questions) {
    const { applicant, entry } = question;
    const ahead =
      entry.goal.is !== 'promised' && couldServe(space, question)
        ? waiting.ahead(applicant, question, present)
        : undefined;
    if (ahead === undefined) now.push(question);
    else answers.push([entry, givenTo(ahead, question)]);
  }
  const outcomes = await ledger.hold(space, now.map(requestOf));
  for (const [i, { entry }] of now.entries()) {
    const outcome = outcomes[i];
    if (outcome !== undefined) answers.push([entry, outcome]);
  }
  return answers;
}

const couldServe = (space: Space, { address, subnet }: Wanted): boolean => space.couldServe(address ?? subnet.pool);

/** What is free is for somebody who waits longer, and is on the way to that one. */
const givenTo = (holder: AddressHolder, { address }: Wanted): Outcome =>
  address === undefined ? { is: 'full' } : { is: 'taken', by: { address, holder } };

const requestOf = ({ applicant: { holder, heirOf }, subnet, address }: Question): Request => ({
  holder,
  network: subnet.network.name,
  subnet: subnet.definition.name,
  from: address ?? subnet.pool,
  ...(heirOf === undefined ? {} : { heirOf }),
});

function allotment(
  { space, waiting, isOutdated, isThere }: Allocator,
  applicant: Applicant,
  { entries, surplus, overrules, holdings }: Planned,
  answers: ReadonlyMap<PlanEntry, Outcome>,
): Allotment {
  const reserved: Allotment['reserved'][number][] = [];
  const undecided: NetworkRequest[] = [];
  const problems: string[] = [];
  const lacking: Wanted[] = [];
  let error: Error | undefined;
  let isPast = false;
  for (const entry of entries) {
    const { request, goal } = entry;
    const outcome = answers.get(entry);
    if (goal.is === 'held') {
      reserved.push({ request, subnet: goal.subnet, address: goal.address });
    } else if (goal.is === 'impossible') {
      problems.push(goal.why);
      undecided.push(request);
    } else if (outcome?.is === 'held') {
      reserved.push({ request, subnet: goal.subnet, address: outcome.holding.address });
    } else if (outcome !== undefined) {
      problems.push(explain(outcome, goal.subnet));
      if (outcome.is === 'unknown') {
        error = outcome.error;
        undecided.push(request);
      } else {
        lacking.push(wantedOf(goal.is === 'wished' ? { subnet: goal.subnet } : goal));
        isPast ||= outcome.is === 'taken' && isAnotherNow(outcome.by, space);
      }
    }
  }
  // Nobody would take out of the queue again who has gone in the meantime, and those behind would wait for ever.
  if (isThere(applicant)) waiting.set(applicant, lacking);
  const present = new Set([applicant.holder.uid]);
  // Whoever becomes free while we are not yet in the queue does not wake us, nor does a range that grows, nor an address of our own that we
  // had not heard of, nor that another one has it now than the one whom we name.
  const isNews = (holding: Holding): boolean =>
    !holdings.includes(holding) && !reserved.some(({ address }) => address.equals(holding.address));
  const mayAskAgain =
    lacking.length > 0 &&
    (isOutdated() ||
      isPast ||
      space.heldBy(applicant.holder.uid).some(isNews) ||
      lacking.some((wanted) => couldServe(space, wanted) && waiting.ahead(applicant, wanted, present) === undefined));
  const isDoubtful =
    overrules ||
    lacking.some(({ subnet: { network, definition } }) =>
      applicant.told.entries.some(
        (entry) => sameName(entry.network, network.name) && sameName(entry.subnet, definition.name),
      ),
    );
  return { reserved, undecided, problems, error, surplus, isDoubtful, mayAskAgain };
}

/** Whether it is on record by now that the address is in the way for another reason than it was. */
function isAnotherNow({ address, holder, coolsUntil }: Taken['by'], space: Space): boolean {
  const now = space.holdingAt(address);
  return now !== undefined && (now.holder.uid !== holder.uid || now.coolsUntil !== coolsUntil);
}

type Taken = Extract<Outcome, { is: 'taken' }>;

const NOTHING: Planned = { entries: [], surplus: [], overrules: false, holdings: [] };
