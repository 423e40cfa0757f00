import type { Admission, AdmissionRequest, UserInfo } from '../../../api/admission.ts';
import { equalJson, type JsonObject } from '../../../api/json.ts';
import { builtinKind } from '../../../api/kind.ts';
import { forbidden } from '../../../api/status.ts';
import { objectAt, objectMadeAt, textAt } from '../../builtin/reading.ts';
import type { Access } from '../access.ts';
import { ADMINISTRATORS } from '../identity.ts';
import { API_CLIENT } from './signers.ts';

const GROUP = 'certificates.k8s.io';
const Request = builtinKind(GROUP, 'v1', 'CertificateSigningRequest', 'certificatesigningrequests', 'Cluster');

/** Says who asks for a certificate, and lets only those decide about it and sign it who may do so for its signer. */
export function certificateChecks(access: Access): Admission[] {
  const requireRight = (verb: 'approve' | 'sign', { user, name, object }: AdmissionRequest) => {
    const signer = textAt(objectAt(asJson(object), 'spec'), 'signerName');
    const names = [signer, `${signer.split('/', 1)[0]}/*`];
    const may = names.some((each) =>
      access.mayDo(user, { verb, group: GROUP, resource: 'signers', subresource: '', namespace: '', name: each }),
    );
    if (!may) throw forbidden(Request, name, `user not permitted to ${verb} requests with signerName "${signer}"`);
  };

  return [
    {
      kind: Request,
      operations: ['CREATE'],
      mutate({ user, object }) {
        // Whatever the request says about it: those who approve rely on this.
        const spec = objectMadeAt(asJson(object), 'spec');
        for (const field of ['uid', 'extra']) delete spec[field];
        spec['username'] = user.username;
        spec['groups'] = [...user.groups];
        if (user.uid !== undefined) spec['uid'] = user.uid;
        if (user.extra !== undefined) spec['extra'] = plain(user.extra);
      },
      async validate({ name, object }) {
        const spec = objectAt(asJson(object), 'spec');
        if (textAt(spec, 'signerName') !== API_CLIENT) return [];
        // Parsing certificates is most of a cold start.
        const { readSigningRequest } = await import('./signing-request.ts');
        const asked = await readSigningRequest(pemOf(spec)).catch(() => undefined);
        if (asked?.organizations.includes(ADMINISTRATORS) !== true) return [];
        throw forbidden(Request, name, `use of ${API_CLIENT} signer with ${ADMINISTRATORS} group is not allowed`);
      },
    },
    {
      kind: Request,
      operations: ['UPDATE'],
      subresources: ['approval'],
      validate: (request) => {
        if (request.subresource === 'approval') requireRight('approve', request);
        return [];
      },
    },
    {
      kind: Request,
      operations: ['UPDATE'],
      subresources: ['status'],
      validate: (request) => {
        const [now, before] = [request.object, request.oldObject].map((each) => objectAt(asJson(each), 'status') ?? {});
        if (request.subresource === 'status' && !equalJson(now ?? {}, before ?? {})) requireRight('sign', request);
        return [];
      },
    },
  ];
}

const plain = (extra: NonNullable<UserInfo['extra']>): JsonObject =>
  Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));

/** The PEM text that a request carries. */
export const pemOf = (spec: JsonObject | undefined): string =>
  Buffer.from(textAt(spec, 'request'), 'base64').toString('latin1');

const asJson = (object: unknown): JsonObject => (object ?? {}) as JsonObject;
