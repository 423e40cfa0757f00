import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { CommandError, type Terminal } from '../command.ts';

export interface ShowOptions {
  readonly http: string;
  readonly vni: number | undefined;
  readonly prefix: string | undefined;
  readonly limit: number;
}

export async function showRoutes({ http, vni, prefix, limit }: ShowOptions, terminal: Terminal): Promise<void> {
  const base = http.endsWith('/') ? http : `${http}/`;
  const query = new URLSearchParams({
    limit: String(limit + 1),
    ...(vni === undefined ? {} : { vni: String(vni) }),
    ...(prefix === undefined ? {} : { prefix }),
  });
  const { peers } = await fetchObject(base, 'peers.json');
  const { vnet } = await fetchObject(base, `routes.json?${query}`);
  printTable(terminal, [
    ['PEER', 'DIRECTION', 'STATE', 'SPEAKS AS', 'ANNOUNCES', 'KNOWS', 'SUBSCRIBED'],
    ...(Array.isArray(peers) ? peers.filter(isJsonObject) : []).map(peerRow),
  ]);
  for (const [number, destinations] of Object.entries(objectIn(vnet))) {
    if (!isJsonObject(destinations)) continue;
    terminal.print(`\nVNI ${number}`);
    const entries = Object.entries(destinations);
    printTable(terminal, [
      ['DESTINATION', 'NEXT HOP', 'TYPE', 'ANNOUNCED BY'],
      ...entries.slice(0, limit).flatMap(([key, hops]) => hopRows(key, hops)),
    ]);
    if (entries.length > limit) terminal.print(`and more: ask for them with --limit or --prefix`);
  }
}

async function fetchObject(base: string, path: string): Promise<JsonObject> {
  let answer: unknown;
  try {
    const response = await fetch(new URL(path, base));
    if (!response.ok) throw new Error(`${response.status} ${(await response.text()).trim()}`);
    answer = await response.json();
  } catch (error) {
    const reason =
      error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : error;
    throw new CommandError(
      `${base} does not answer: ${reason}. Is a server or client running with --http, and is --http here the same?`,
    );
  }
  if (isJsonObject(answer)) return answer;
  throw new CommandError(`${base} is not the page of a route server or client`);
}

function peerRow(peer: JsonObject): string[] {
  const connection = objectIn(peer['connection']);
  const names = Array.isArray(connection['names']) ? connection['names'] : [];
  const subscriptions = Array.isArray(peer['subscriptions']) ? peer['subscriptions'] : [];
  const shown = subscriptions.slice(0, 5).join(',');
  return [
    [text(peer['address']), ...names].join(' '),
    text(peer['direction']),
    text(peer['state']),
    text(connection['kind']),
    text(peer['routesAnnounced']),
    text(peer['routesTold']),
    subscriptions.length > 5 ? `${shown} and ${subscriptions.length - 5} more` : shown,
  ];
}

function hopRows(key: string, hops: Json | undefined): string[][] {
  const destination: Json = JSON.parse(key);
  const prefix = isJsonObject(destination) ? text(destination['Prefix']) : key;
  return (Array.isArray(hops) ? hops.filter(isJsonObject) : []).map((hop, i) => [
    i === 0 ? prefix : '',
    `${text(hop['TargetAddress'])}${hop['TargetVNI'] === 0 ? '' : ` in VNI ${text(hop['TargetVNI'])}`}`,
    typeText(hop),
    Array.isArray(hop['AnnouncedBy']) ? hop['AnnouncedBy'].join(', ') : '',
  ]);
}

function typeText(hop: JsonObject): string {
  if (hop['Type'] === 1) return `NAT ${text(hop['NATPortRangeFrom'])}-${text(hop['NATPortRangeTo'])}`;
  return hop['Type'] === 2 ? 'LB' : 'STD';
}

const objectIn = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

const text = (value: Json | undefined): string => (value === undefined || value === null ? '' : String(value));

function printTable(terminal: Terminal, rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows)
    terminal.print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}
