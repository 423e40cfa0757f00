import type { JsonObject } from '../../../api/json.ts';
import { formatQuantity, parseQuantity, roundedUpToMilli } from '../../../api/quantity.ts';
import {
  entriesAt,
  fill,
  fillAbsent,
  flagAt,
  isAbsent,
  membersAt,
  numberAt,
  objectAt,
  objectMadeAt,
  optionalNumberAt,
  setKey,
  textAt,
} from '../reading.ts';
import { defaultVolume } from './volume-defaults.ts';

/** Defaults of a pod, beyond those that every pod template has too. */
export function defaultPod(pod: JsonObject): void {
  const spec = objectMadeAt(pod, 'spec');
  const containers = [...membersAt(spec, 'containers'), ...membersAt(spec, 'initContainers')];
  for (const container of containers) requestWhatIsLimited(container);
  fillAbsent(spec, 'enableServiceLinks', true);
  if (flagAt(spec, 'hostNetwork')) {
    for (const port of containers.flatMap((container) => membersAt(container, 'ports'))) {
      if (numberAt(port, 'hostPort') === 0) port['hostPort'] = numberAt(port, 'containerPort');
    }
  }
  // Ending a pod takes some time; a second is the least.
  const grace = optionalNumberAt(spec, 'terminationGracePeriodSeconds');
  if (grace !== undefined && grace < 0) spec['terminationGracePeriodSeconds'] = 1;
  defaultPodSpec(spec);
}

/** Defaults of the spec of a pod or of a pod template. */
export function defaultPodSpec(spec: JsonObject): void {
  fill(spec, 'dnsPolicy', 'ClusterFirst');
  fill(spec, 'restartPolicy', 'Always');
  fillAbsent(spec, 'securityContext', {});
  fillAbsent(spec, 'terminationGracePeriodSeconds', 30);
  fill(spec, 'schedulerName', 'default-scheduler');
  matchServiceAccount(spec);
  for (const volume of membersAt(spec, 'volumes')) defaultVolume(volume);
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of membersAt(spec, list)) defaultContainer(container);
  }
  roundAmounts(spec, 'overhead');
}

/** `serviceAccount` is the old name of `serviceAccountName`: both say the same, the new one wins. */
function matchServiceAccount(spec: JsonObject): void {
  const name = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  if (name === '') return;
  spec['serviceAccountName'] = name;
  spec['serviceAccount'] = name;
}

function defaultContainer(container: JsonObject): void {
  fillAbsent(container, 'resources', {});
  fill(container, 'imagePullPolicy', usesLatest(textAt(container, 'image')) ? 'Always' : 'IfNotPresent');
  fill(container, 'terminationMessagePath', '/dev/termination-log');
  fill(container, 'terminationMessagePolicy', 'File');
  for (const port of membersAt(container, 'ports')) fill(port, 'protocol', 'TCP');
  for (const variable of membersAt(container, 'env')) defaultVariable(variable);
  const resources = objectAt(container, 'resources');
  roundAmounts(resources, 'limits');
  roundAmounts(resources, 'requests');
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = objectAt(container, name);
    if (probe !== undefined) defaultProbe(probe);
  }
  const lifecycle = objectAt(container, 'lifecycle');
  defaultHttpGet(objectAt(lifecycle, 'postStart'));
  defaultHttpGet(objectAt(lifecycle, 'preStop'));
}

function defaultVariable(variable: JsonObject): void {
  const source = objectAt(variable, 'valueFrom');
  const field = objectAt(source, 'fieldRef');
  if (field !== undefined) fill(field, 'apiVersion', 'v1');
  const resource = objectAt(source, 'resourceFieldRef');
  if (resource !== undefined) fillAbsent(resource, 'divisor', '0');
}

function defaultProbe(probe: JsonObject): void {
  for (const [field, value] of PROBE_NUMBERS) if (numberAt(probe, field) === 0) probe[field] = value;
  defaultHttpGet(probe);
  const grpc = objectAt(probe, 'grpc');
  if (grpc !== undefined) fillAbsent(grpc, 'service', '');
}

const PROBE_NUMBERS = [
  ['timeoutSeconds', 1],
  ['periodSeconds', 10],
  ['successThreshold', 1],
  ['failureThreshold', 3],
] as const;

function defaultHttpGet(handler: JsonObject | undefined): void {
  const http = objectAt(handler, 'httpGet');
  if (http === undefined) return;
  fill(http, 'path', '/');
  fill(http, 'scheme', 'HTTP');
}

/** Containers that say how much they may take, and not how much they need, need all of it. */
function requestWhatIsLimited(container: JsonObject): void {
  const resources = objectAt(container, 'resources');
  const limits = entriesAt(resources, 'limits');
  if (resources === undefined || isAbsent(resources, 'limits')) return;
  const requests = objectMadeAt(resources, 'requests');
  for (const [name, amount] of limits) if (!Object.hasOwn(requests, name)) setKey(requests, name, amount);
}

function roundAmounts(holder: JsonObject | undefined, key: string): void {
  const amounts = objectAt(holder, key);
  for (const [name, amount] of Object.entries(amounts ?? {})) {
    const quantity = parseQuantity(amount);
    if (amounts !== undefined && quantity !== undefined) {
      setKey(amounts, name, formatQuantity(roundedUpToMilli(quantity)));
    }
  }
}

/** Whether the image is whatever is newest: its tag says so, or it has neither tag nor digest. */
function usesLatest(image: string): boolean {
  const [name = '', digest] = image.split('@', 2);
  const tag = name.slice(name.lastIndexOf('/') + 1).split(':')[1];
  return tag === undefined ? digest === undefined && IMAGE_NAME.test(name) : tag === 'latest';
}

/** What is no name at all gets no special treatment: it is looked for like a fixed version. */
const IMAGE_NAME = /^(?:[A-Za-z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*$/;

/** `podIP` is the first of `podIPs`, for those who know only the older field; where they differ, it is the one that counts. */
export function matchPodIps(status: JsonObject): void {
  matchIps(status, 'podIP', 'podIPs');
}

function matchIps(status: JsonObject, one: string, all: string): void {
  const address = textAt(status, one);
  const addresses = membersAt(status, all).map((entry) => textAt(entry, 'ip'));
  if (address !== '' && address !== addresses[0]) status[all] = [{ ip: address }];
  else if (address === '' && addresses[0] !== undefined && addresses[0] !== '') status[one] = addresses[0];
}
