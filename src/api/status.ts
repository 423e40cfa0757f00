/** The Status object that every refusal and failure of the API is, and the error that carries it. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { continue?: string };
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** What is wrong with one field. `detail` is a sentence; `value` is what was found there. */
export interface FieldError {
  type:
    | 'Required'
    | 'Duplicate'
    | 'Invalid'
    | 'NotSupported'
    | 'Forbidden'
    | 'TooLong'
    | 'TooMany'
    | 'TypeInvalid'
    | 'NotFound';
  field: string;
  value?: unknown;
  detail: string;
}

export class ApiError extends Error {
  readonly status: Status;

  constructor(
    code: number,
    reason: string | undefined,
    message: string,
    details?: StatusDetails,
    continueToken?: string,
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: continueToken === undefined ? {} : { continue: continueToken },
      status: 'Failure',
      message,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }

  get code(): number {
    return this.status.code;
  }

  get reason(): string | undefined {
    return this.status.reason;
  }

  /** The error that a Status received over the wire stands for. */
  static from(status: Status): ApiError {
    const error = new ApiError(
      status.code,
      status.reason,
      status.message ?? `the server answered ${status.code}`,
      status.details,
    );
    Object.assign(error.status, status);
    return error;
  }
}

/** Which resource an error is about: `plural` is the resource, `kind` its Kind. */
export interface ResourceName {
  group: string;
  plural: string;
  kind: string;
}

const qualified = ({ group, plural }: ResourceName): string => (group === '' ? plural : `${plural}.${group}`);
const detailsOf = (of: ResourceName, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(of.group === '' ? {} : { group: of.group }),
  kind: of.plural,
});

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', message);
export const unauthorized = (): ApiError => new ApiError(401, 'Unauthorized', 'Unauthorized');
export const forbidden = (of: ResourceName, name: string, why: string, causes?: StatusCause[]): ApiError =>
  new ApiError(403, 'Forbidden', `${qualified(of)} "${name}" is forbidden: ${why}`, {
    ...detailsOf(of, name),
    ...(causes === undefined ? {} : { causes }),
  });
export const notFound = (of: ResourceName, name: string): ApiError =>
  new ApiError(404, 'NotFound', `${qualified(of)} "${name}" not found`, detailsOf(of, name));
export const methodNotAllowed = (of: ResourceName, verb: string): ApiError =>
  new ApiError(
    405,
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind "${qualified(of)}"`,
    detailsOf(of, ''),
  );
export const alreadyExists = (of: ResourceName, name: string): ApiError =>
  new ApiError(409, 'AlreadyExists', `${qualified(of)} "${name}" already exists`, detailsOf(of, name));
export const conflict = (of: ResourceName, name: string, why: string): ApiError =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(of)} "${name}": ${why}`,
    detailsOf(of, name),
  );
export const modified = (of: ResourceName, name: string): ApiError =>
  conflict(of, name, 'the object has been modified; please apply your changes to the latest version and try again');
export const expired = (message: string, continueToken?: string): ApiError =>
  new ApiError(410, 'Expired', message, undefined, continueToken);
export const tooLarge = (message: string): ApiError => new ApiError(413, 'RequestEntityTooLarge', message);
export const unsupportedMediaType = (message: string): ApiError => new ApiError(415, 'UnsupportedMediaType', message);
export const internalError = (message: string): ApiError =>
  new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });

/** 422, with every fault of the object at once. */
export function invalid(of: { group: string; kind: string }, name: string, errors: readonly FieldError[]): ApiError {
  const causes = errors.map((error) => ({
    reason: causeReason(error),
    message: fieldMessage(error),
    field: error.field,
  }));
  const sentences = errors.map((error) => `${error.field}: ${fieldMessage(error)}`);
  const text = sentences.length === 1 ? sentences[0] : `[${sentences.join(', ')}]`;
  const kind = of.group === '' ? of.kind : `${of.kind}.${of.group}`;
  return new ApiError(422, 'Invalid', `${kind} "${name}" is invalid: ${text}`, {
    ...(name === '' ? {} : { name }),
    ...(of.group === '' ? {} : { group: of.group }),
    kind: of.kind,
    causes,
  });
}

const causeReason = (error: FieldError): string =>
  error.type === 'TypeInvalid' ? 'FieldValueTypeInvalid' : `FieldValue${error.type}`;

/** The sentence for one field, worded as kube-apiserver words it so that tools and people recognise it. */
export function fieldMessage(error: FieldError): string {
  switch (error.type) {
    case 'Required':
      return `Required value${error.detail === '' ? '' : `: ${error.detail}`}`;
    case 'Duplicate':
      return `Duplicate value: ${shown(error.value)}${error.detail === '' ? '' : `: ${error.detail}`}`;
    case 'NotSupported':
      return `Unsupported value: ${shown(error.value)}${error.detail === '' ? '' : `: ${error.detail}`}`;
    case 'NotFound':
      return `Not found: ${shown(error.value)}${error.detail === '' ? '' : `: ${error.detail}`}`;
    case 'Forbidden':
      return `Forbidden: ${error.detail}`;
    case 'TooLong':
      return `Too long: ${error.detail}`;
    case 'TooMany':
      return `Too many: ${shown(error.value)}: ${error.detail}`;
    default:
      return `Invalid value: ${shown(error.value)}: ${error.detail}`;
  }
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return '"null"';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return JSON.stringify(value);
}
