import type { Log } from '../../runtime/log.ts';
import { asError } from '../../runtime/log.ts';
import { needsHealthCheck } from '../builtin/core/service-changes.ts';
import { numberAt, specOf, textAt, textsAt } from '../builtin/reading.ts';
import { storageEndpoint } from '../lifecycle/garbage-collector.ts';
import { internalOptions } from '../lifecycle/internal-options.ts';
import type { Context } from '../objects/context.ts';
import { objectOf } from '../objects/encoding.ts';
import { update } from '../objects/replace.ts';

/** Gives Services what they should have and do not: those that were stored before anybody gave addresses. */
export async function completeServices(context: Context, log: Log): Promise<void> {
  const endpoint = storageEndpoint(context, 'services');
  if (endpoint === undefined) return;
  for (const version of context.store.list({ resource: 'services' }).versions) {
    const object = objectOf(endpoint, version);
    const spec = specOf(object);
    const lacksAddress = textAt(spec, 'type') !== 'ExternalName' && textsAt(spec, 'clusterIPs').length === 0;
    if (!lacksAddress && !(needsHealthCheck(spec) && numberAt(spec, 'healthCheckNodePort') === 0)) continue;
    const { namespace, name } = version;
    try {
      const target = { endpoint, namespace, name, subresource: '' };
      await update(context, target, { object, duplicates: [] }, internalOptions('netloom'));
    } catch (error) {
      log.warn('a Service has no address and cannot be given one', {
        service: `${namespace}/${name}`,
        error: asError(error),
      });
    }
  }
}
