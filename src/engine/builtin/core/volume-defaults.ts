import type { Json, JsonObject } from '../../../api/json.ts';
import { fill, fillAbsent, membersAt, objectAt } from '../reading.ts';

const ONE_HOUR = 3600;
/** 0644: readable by all, written by the owner. */
const READABLE = 0o644;

/** Defaults of kinds of volumes, field by field; the empty text counts as a value only where it is listed as absent. */
const DEFAULTS: Readonly<Record<string, { unset?: Record<string, Json>; absent?: Record<string, Json> }>> = {
  hostPath: { absent: { type: '' } },
  secret: { absent: { defaultMode: READABLE } },
  configMap: { absent: { defaultMode: READABLE } },
  downwardAPI: { absent: { defaultMode: READABLE } },
  projected: { absent: { defaultMode: READABLE } },
  iscsi: { unset: { iscsiInterface: 'default' } },
  rbd: { unset: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } },
  azureDisk: { absent: { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' } },
  scaleIO: { unset: { storageMode: 'ThinProvisioned', fsType: 'xfs' } },
};

export function defaultVolume(volume: JsonObject): void {
  // A volume that does not say what it is, is an empty directory.
  if (Object.keys(volume).every((key) => key === 'name')) volume['emptyDir'] = {};
  for (const [kind, { unset = {}, absent = {} }] of Object.entries(DEFAULTS)) {
    const source = objectAt(volume, kind);
    if (source === undefined) continue;
    for (const [field, value] of Object.entries(unset)) fill(source, field, value);
    for (const [field, value] of Object.entries(absent)) fillAbsent(source, field, value);
  }
  defaultFiles(objectAt(volume, 'downwardAPI'));
  for (const source of membersAt(objectAt(volume, 'projected'), 'sources')) {
    defaultFiles(objectAt(source, 'downwardAPI'));
    const token = objectAt(source, 'serviceAccountToken');
    if (token !== undefined) fillAbsent(token, 'expirationSeconds', ONE_HOUR);
  }
  const claim = objectAt(objectAt(objectAt(volume, 'ephemeral'), 'volumeClaimTemplate'), 'spec');
  if (claim !== undefined) fillAbsent(claim, 'volumeMode', 'Filesystem');
}

function defaultFiles(source: JsonObject | undefined): void {
  for (const file of membersAt(source, 'items')) {
    const field = objectAt(file, 'fieldRef');
    if (field !== undefined) fill(field, 'apiVersion', 'v1');
    const resource = objectAt(file, 'resourceFieldRef');
    if (resource !== undefined) fillAbsent(resource, 'divisor', '0');
  }
}
