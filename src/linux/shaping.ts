import { tcMessage } from './filters.ts';
import { attribute, readAttributes, readText, text } from './netlink/attributes.ts';
import type { Netlink } from './netlink/connection.ts';
import { flag, type Message, type Request } from './netlink/message.ts';

/** How what goes out of a link is held back. */
export interface Shape {
  /** No more bits in a second; what does not fit waits for a moment, and is dropped when it would wait for longer. */
  readonly bitsPerSecond?: number | undefined;
  /** Only where the kernel has netem. */
  readonly delayMs?: number | undefined;
}

/** Replaces whatever shape the link has; one that says nothing takes ours away and leaves what others have set. */
export function shapeLink(netlink: Netlink, link: number, shape: Shape): void {
  if (shape.bitsPerSecond === undefined && shape.delayMs === undefined) {
    unshape(netlink, link);
    return;
  }
  const before = disciplineOf(netlink, link);
  // The kernel cannot turn one kind into another one in place.
  if (before?.handle === OURS && before.kind !== kindFor(shape)) unshape(netlink, link);
  netlink.request(shaping(link, shape));
}

/** As the kernel takes it. */
export function shaping(link: number, { bitsPerSecond, delayMs }: Shape): Request {
  const options =
    delayMs === undefined
      ? attribute(OPTIONS, tokenBucket(bitsPerSecond ?? 0))
      : attribute(OPTIONS, emulation(delayMs, bitsPerSecond));
  const words = [
    ...(bitsPerSecond === undefined ? [] : [`to ${bitsPerSecond} bit/s`]),
    ...(delayMs === undefined ? [] : [`by ${delayMs} ms`]),
  ];
  return {
    doing: `hold a link back ${words.join(' and ')}`,
    type: NEW,
    flags: flag.create | flag.replace,
    body: [
      tcMessage({ link, parent: ROOT, handle: OURS }),
      attribute(KIND, text(kindFor({ bitsPerSecond, delayMs }))),
      options,
    ],
  };
}

const kindFor = ({ delayMs }: Shape): string => (delayMs === undefined ? 'tbf' : 'netem');

function unshape(netlink: Netlink, link: number): void {
  if (disciplineOf(netlink, link)?.handle !== OURS) return;
  netlink.request({
    doing: 'stop holding a link back',
    type: DELETE,
    flags: 0,
    body: [tcMessage({ link, parent: ROOT, handle: OURS })],
  });
}

function disciplineOf(netlink: Netlink, link: number): { kind: string | undefined; handle: number } | undefined {
  return netlink
    .dump({ doing: 'list how links are held back', type: GET, body: [tcMessage({ link })] })
    .filter(({ body }) => body.readInt32LE(4) === link && body.readUInt32LE(12) === ROOT)
    .map(({ body }: Message) => ({
      kind: readText(readAttributes(body.subarray(20)).get(KIND)),
      handle: body.readUInt32LE(8),
    }))[0];
}

/** Of `tbf`: struct tc_tbf_qopt, and what has outgrown it. */
function tokenBucket(bitsPerSecond: number): Buffer {
  const bytesPerSecond = Math.max(1, Math.round(bitsPerSecond / 8));
  // At once: what comes in between two ticks of the clock, and at least a few frames.
  const burst = Math.max(16_384, Math.ceil(bytesPerSecond / 250));
  const parameters = Buffer.alloc(36);
  parameters.writeUInt8(ETHERNET, 1);
  parameters.writeUInt32LE(Math.min(bytesPerSecond, 0xffff_ffff), 8);
  parameters.writeUInt32LE(Math.min(burst + Math.ceil(bytesPerSecond / 20), 0xffff_ffff), 24);
  const rate = Buffer.alloc(8);
  rate.writeBigUInt64LE(BigInt(bytesPerSecond));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(Math.min(burst, 0xffff_ffff));
  return Buffer.concat([attribute(1, parameters), attribute(4, rate), attribute(6, size)]);
}

/** Of `netem`: struct tc_netem_qopt, and the rate beside it. */
function emulation(delayMs: number, bitsPerSecond: number | undefined): Buffer {
  const parameters = Buffer.alloc(24);
  parameters.writeUInt32LE(Math.min(Math.round((delayMs * 1_000_000) / NANOSECONDS_PER_TICK), 0xffff_ffff), 0);
  parameters.writeUInt32LE(MOST_WAITING_FRAMES, 4);
  if (bitsPerSecond === undefined) return parameters;
  const rate = Buffer.alloc(16);
  rate.writeUInt32LE(Math.min(Math.max(1, Math.round(bitsPerSecond / 8)), 0xffff_ffff), 0);
  return Buffer.concat([parameters, attribute(6, rate)]);
}

const NEW = 36;
const DELETE = 37;
const GET = 38;
const ROOT = 0xffff_ffff;
/** The number by which we know our own: `6e6c:` in lists. */
const OURS = 0x6e6c_0000;
const KIND = 1;
const OPTIONS = 2;
const ETHERNET = 1;
const MOST_WAITING_FRAMES = 100_000;
const NANOSECONDS_PER_TICK = 64;
