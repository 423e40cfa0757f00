import { suggestion } from '../nearest.ts';
import { type Holder, type HolderName, isHeld } from './holder.ts';
import type { Environment, Place } from './place.ts';
import type { Question } from './question.ts';
import { subnetsOf } from './subnets.ts';

/** What `netloom who -o json` prints. Fields may be added; none changes its meaning. */
export interface WhoAnswer {
  readonly question: {
    readonly address?: string;
    readonly prefix?: string;
    readonly kind?: string;
    readonly name?: string;
    /** Where only this one was looked through. */
    readonly namespace?: string;
  };
  /** The answer in a sentence. */
  readonly says: string;
  /** By address. */
  readonly holders: readonly Holder[];
  /** Of a single address: every subnet and pool that it lies in. */
  readonly places: readonly Place[];
}

export interface WhoFacts {
  readonly question: Question;
  readonly scope: { readonly kind?: string; readonly namespace?: string };
  readonly holders: readonly Holder[];
  readonly places?: readonly Place[];
  readonly environment?: Environment;
  /** Everybody who holds something. */
  readonly names?: readonly string[];
  /** Whoever asks may not see everything. */
  readonly isPartial?: boolean;
}

export function whoAnswer(facts: WhoFacts): WhoAnswer {
  const { question, scope, holders, places = [] } = facts;
  return {
    question: {
      ...(question.is === 'address' ? { address: `${question.address}` } : {}),
      ...(question.is === 'prefix' ? { prefix: `${question.prefix}` } : {}),
      ...(question.is === 'name' ? { name: question.name } : {}),
      ...scope,
    },
    says: sentence(facts),
    holders,
    places,
  };
}

/** Who has it now, and what cools down beside that. */
function sentence(facts: WhoFacts): string {
  const { question, scope, holders } = facts;
  const held = holders.filter(isHeld);
  const cooling = holders.filter((holder) => !isHeld(holder));
  const [first] = cooling;
  if (first === undefined) return held.length > 0 ? whoHolds(question, held, scope.kind) : nobody(facts);
  if (question.is === 'address' && held.length === 0) {
    return `nobody holds ${question.address}: ${holderText(first.holder)} gave it back, and nobody else gets it before ${first.coolsUntil}`;
  }
  const before = whoHolds(question, held, scope.kind);
  return `${before}; ${countOf(cooling.length)} ${cooling.length === 1 ? 'was' : 'were'} given back and ${cooling.length === 1 ? 'cools' : 'cool'} down`;
}

export const holderText = ({ kind, name, namespace }: HolderName): string =>
  namespace === '' ? `${kind} ${name}` : `${kind} ${name} in namespace ${namespace}`;

function whoHolds(question: Question, holders: readonly Holder[], kind: string | undefined): string {
  // An address of a Service is on record among those of Services, and again among those of hosts where it is one of theirs.
  const countBy = (one: (holder: Holder) => string) => new Set(holders.map(one)).size;
  switch (question.is) {
    case 'address':
      return `${question.address} is held by ${[...new Set(holders.map(({ holder }) => holderText(holder)))].join(', and by ')}`;
    case 'prefix': {
      const count = countBy(({ address }) => address);
      return `${countOf(count)} of ${question.prefix} ${count <= 1 ? 'is' : 'are'} held`;
    }
    case 'name': {
      // In two namespaces the same address is two.
      const count = countBy(({ address, holder }) => `${address} ${holder.namespace}`);
      return `${kind === undefined ? '' : `${kind} `}${question.name} holds ${countOf(count)}`;
    }
  }
}

function nobody({ question, scope, places = [], environment, names = [], isPartial = false }: WhoFacts): string {
  const none = isPartial ? 'nobody that you may see' : 'nobody';
  const where = scope.namespace === undefined ? '' : ` in namespace ${scope.namespace}`;
  switch (question.is) {
    case 'name': {
      const asked = scope.kind === undefined ? `"${question.name}"` : `${scope.kind} "${question.name}"`;
      const nearest = suggestion(
        question.name,
        names.filter((name) => name !== question.name),
      );
      const kind = (scope.kind ?? 'ipset').toLowerCase();
      return `${none} called ${asked} holds an address${where}.${nearest} If there is such an object, "netloom explain ${kind}/${question.name}" says why it has none.`;
    }
    case 'prefix':
      return `${none} holds an address of ${question.prefix}${where}. ${surroundings(environment)}`;
    case 'address':
      if (places.length > 0) return `${none} holds ${question.address}${where}`;
      return `${none} holds ${question.address}${where}, and it lies in no subnet of a NetConfig, in no IPAddressPool and in no network of pods. ${surroundings(environment)}`;
  }
}

/** What there is instead. */
function surroundings(environment: Environment | undefined): string {
  const subnets = (environment?.netConfigs ?? []).flatMap((netConfig) =>
    subnetsOf(netConfig).map(({ prefix, network }) => `${prefix} (network ${network.name})`),
  );
  const pools = (environment?.pools ?? []).flatMap(({ metadata, spec }) =>
    spec.addresses.map((text) => `${text} (pool ${metadata.name})`),
  );
  const known = [...new Set([...subnets, ...pools])];
  if (known.length === 0) return 'There is no NetConfig and no IPAddressPool yet: apply one first.';
  const more = known.length > MOST_SHOWN ? `, and ${known.length - MOST_SHOWN} more` : '';
  return `Addresses are given from ${known.slice(0, MOST_SHOWN).join(', ')}${more}.`;
}

const countOf = (count: number): string =>
  count === 0 ? 'no address' : count === 1 ? 'one address' : `${count} addresses`;

const MOST_SHOWN = 8;
