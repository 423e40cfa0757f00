import type { Admission } from '../api/admission.ts';
import type { Controller } from '../runtime/controller.ts';
import { Metrics } from '../runtime/metrics.ts';
import { vipsAdmissionIn } from './admission.ts';
import { observedAddresses } from './observer.controller.ts';
import { addressPools, foreignPools } from './pool.controller.ts';
import { serviceAddresses } from './service.controller.ts';

export { vipsRights } from './rights.ts';

export interface VipsOptions {
  /** Who gives addresses to Services; where it is MetalLB, we only take care that nobody else is given them. */
  readonly poolsOf?: 'netloom' | 'metallb';
  /** The only namespace in which pools and advertisements count. */
  readonly namespace?: string;
  /** Of the Services that are served; empty: those without a class. */
  readonly loadBalancerClass?: string;
  /** Which part of a pool, from 0 to 1, is in use when it is called nearly full. */
  readonly nearlyFull?: number;
  /** Where it is told how full pools are. */
  readonly metrics?: Metrics;
}

export const POOL_NAMESPACE = 'metallb-system';

export const vipsControllers = ({
  poolsOf = 'netloom',
  namespace = POOL_NAMESPACE,
  loadBalancerClass = '',
  nearlyFull = 0.8,
  metrics = new Metrics(),
}: VipsOptions = {}): Controller[] =>
  poolsOf === 'metallb'
    ? [observedAddresses({ namespace }), foreignPools()]
    : [serviceAddresses({ namespace, loadBalancerClass }), addressPools({ namespace, nearlyFull, metrics })];

/** Where MetalLB gives the addresses, its own webhooks check pools. */
export const vipsAdmission = ({
  poolsOf = 'netloom',
  namespace = POOL_NAMESPACE,
}: Pick<VipsOptions, 'poolsOf' | 'namespace'> = {}): Admission[] =>
  poolsOf === 'metallb' ? [] : vipsAdmissionIn(namespace);
