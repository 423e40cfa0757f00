import { readDuration } from '../duration.ts';

/** How addresses are given, wherever the controllers run. */
export const addressOptions = {
  pools: {
    type: 'string',
    choices: ['netloom', 'metallb'],
    default: 'netloom',
    description: 'who gives addresses from IPAddressPools to Services; netloom only reads what metallb gives',
  },
  'lb-class': {
    type: 'string',
    placeholder: 'CLASS',
    description:
      'give addresses from IPAddressPools only to Services of this loadBalancerClass (default: to those without a class)',
  },
  'cool-down': {
    type: 'string',
    placeholder: 'TIME',
    default: '0s',
    description:
      'for how long an address that a host gave back is given to no host of another name, such as 90s, 10m or 24h',
  },
  'nearly-full': {
    type: 'integer',
    placeholder: 'PERCENT',
    minimum: 1,
    maximum: 100,
    default: 80,
    description: 'how much of a subnet or pool is in use when its condition NearlyFull says so',
  },
} as const;

export interface AddressOptions {
  readonly poolsOf: 'netloom' | 'metallb';
  /** Of the Services that are served; empty: those without a class. */
  readonly loadBalancerClass: string;
  /** In milliseconds. */
  readonly coolDown: number;
  /** From 0 to 1. */
  readonly nearlyFull: number;
}

export const readAddressOptions = (options: {
  readonly pools: 'netloom' | 'metallb';
  readonly 'lb-class': string | undefined;
  readonly 'cool-down': string;
  readonly 'nearly-full': number;
}): AddressOptions => ({
  poolsOf: options.pools,
  loadBalancerClass: options['lb-class'] ?? '',
  coolDown: readDuration(options['cool-down'], '--cool-down'),
  nearlyFull: options['nearly-full'] / 100,
});
