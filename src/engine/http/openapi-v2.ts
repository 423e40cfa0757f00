import type { Answer } from './call.ts';
import { jsonAnswer } from './call.ts';

/**
 * OpenAPI v2 without any kinds: all is in v3, which every current client prefers. But where kubectl finds nothing in v3 (for
 * `kind: List`, for kinds that nobody serves) it still insists on this document, and without it reports that instead of
 * what is wrong. A kind that is not described here it leaves to the server to check.
 */
export function openApiV2(accept: string | undefined): Answer {
  if (!(accept ?? '').includes(PROTOBUF)) return jsonAnswer(200, { swagger: SWAGGER, info: INFO, paths: {} }, VARY);
  const info = Buffer.concat([field(1, INFO.title), field(2, INFO.version)]);
  const document = Buffer.concat([field(1, SWAGGER), field(2, info)]);
  // Asked for with an @, which no media type may hold: kube-apiserver answers with a dot.
  return { code: 200, contentType: PROTOBUF.replace('@', '.'), chunks: [document], headers: VARY };
}

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const VARY = { Vary: 'Accept' };
const SWAGGER = '2.0';
const INFO = { title: 'Kubernetes', version: 'v1.33.0' };

/** A field of a protobuf message that holds a text or another message, shorter than 128 bytes. */
function field(number: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}
