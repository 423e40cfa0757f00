import type { Controller } from '../runtime/controller.ts';
import { serviceAddresses } from './service.controller.ts';

export interface VipsOptions {
  /** The only namespace in which pools and advertisements count. */
  readonly namespace?: string;
  /** Of the Services that are served; empty: those without a class. */
  readonly loadBalancerClass?: string;
}

export const POOL_NAMESPACE = 'metallb-system';

export const vipsControllers = ({
  namespace = POOL_NAMESPACE,
  loadBalancerClass = '',
}: VipsOptions = {}): Controller[] => [serviceAddresses({ namespace, loadBalancerClass })];
