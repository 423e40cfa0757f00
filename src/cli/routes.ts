import { command } from './command.ts';

const keepalive = {
  type: 'integer',
  minimum: 1,
  maximum: 3600,
  default: 5,
  placeholder: 'SECONDS',
  description: 'how often a session is checked; the shorter one of both sides counts',
} as const;
const http = {
  type: 'string',
  placeholder: 'HOST:PORT',
  description: 'where to show routes and peers: /, /routes.json, /peers.json, /metrics',
} as const;
const verbose = {
  type: 'boolean',
  short: 'v',
  description: 'accepted for scripts written for metalbond; sessions are logged anyway',
} as const;

const peerKind = {
  type: 'string',
  choices: ['auto', 'netloom', 'metalbond'],
  default: 'auto',
  description: 'what the other sides are; a metalbond is sent small pieces at a pace that it can read',
} as const;

/** Both sides show a certificate of one authority. */
const tls = {
  'tls-cert': {
    type: 'string',
    placeholder: 'FILE',
    description: 'own certificate (PEM), together with --tls-key and --tls-ca',
  },
  'tls-key': { type: 'string', placeholder: 'FILE', description: 'its private key' },
  'tls-ca': { type: 'string', placeholder: 'FILE', description: 'the authority whose certificates are accepted' },
} as const;

const serve = command({
  name: 'serve',
  summary: 'Run a route server that hosts connect to',
  description:
    'Passes on to each host what the others have announced in the virtual networks that it has subscribed. Speaks the protocol of metalbond: its servers, clients and metalnet can join. The first line on standard output is `ready HOST:PORT`. Without TLS, whoever can connect may announce anything: listen where only hosts can reach it.',
  options: {
    listen: {
      type: 'string',
      placeholder: 'HOST:PORT',
      default: '[::1]:4711',
      description: 'where hosts connect; port 0 takes a free one',
    },
    http,
    server: {
      type: 'string',
      placeholder: 'HOST:PORT',
      repeated: true,
      description: 'another server to share routes with; each may name all others',
    },
    rules: {
      type: 'string',
      placeholder: 'FILE',
      description: 'who may announce what (YAML); without it everybody may everything',
    },
    'max-peers': { type: 'integer', minimum: 1, default: 10_000, description: 'how many connections are accepted' },
    keepalive,
    'peer-kind': peerKind,
    ...tls,
    verbose,
  },
  examples: [
    'netloom routes serve --listen [::]:4711 --http [::1]:4712',
    'netloom routes serve --listen [::]:4711 --tls-cert server.pem --tls-key server.key --tls-ca ca.pem --rules peers.yaml',
  ],
  async run({ options, terminal }) {
    const { serveRoutes } = await import('./routes/serve.ts');
    await serveRoutes(options, terminal);
  },
});

const client = command({
  name: 'client',
  summary: 'Announce routes to servers and print those of others',
  description:
    'Prints a line for each route that comes (+) or goes (-), as VNI#PREFIX#NEXTHOP. It goes on until it is stopped and dials a server that is away again and again; then its own routes are withdrawn. It does not touch the routes of this machine.',
  options: {
    server: {
      type: 'string',
      placeholder: 'HOST:PORT',
      repeated: true,
      description: 'a server; all are told the same',
    },
    subscribe: {
      type: 'string',
      placeholder: 'VNI',
      repeated: true,
      description: 'a virtual network whose routes are wanted',
    },
    announce: {
      type: 'string',
      placeholder: 'ROUTE',
      repeated: true,
      description: 'VNI#PREFIX#NEXTHOP[#STD|LB|NAT[#FROM#TO]]',
    },
    http,
    keepalive,
    'peer-kind': peerKind,
    ...tls,
    'ipv4-only': { type: 'boolean', description: 'print IPv4 routes only' },
    'install-routes': {
      type: 'string',
      placeholder: 'VNI#TABLE',
      repeated: true,
      description: 'accepted, but nothing is installed',
    },
    tun: { type: 'string', placeholder: 'DEVICE', description: 'as --install-routes' },
    cleanup: { type: 'boolean', description: 'as --install-routes' },
    verbose,
  },
  examples: [
    "netloom routes client --server [::1]:4711 --subscribe 100 --announce '100#10.0.0.1/32#2001:db8::1'",
    "netloom routes client --server a:4711 --server b:4711 --announce '100#45.86.6.1/32#2001:db8::1#NAT#1024#2047'",
  ],
  async run({ options, terminal }) {
    const { runRouteClient } = await import('./routes/client.ts');
    await runRouteClient(options, terminal);
  },
});

const show = command({
  name: 'show',
  summary: 'Show peers, routes and who announced them',
  description: 'Asks the page of a route server or client, the one that its option --http has opened.',
  options: {
    http: { type: 'string', placeholder: 'URL', default: 'http://[::1]:4712', description: 'where the page is' },
    vni: { type: 'integer', minimum: 0, placeholder: 'VNI', description: 'only this virtual network' },
    prefix: { type: 'string', placeholder: 'TEXT', description: 'only destinations that begin with this' },
    limit: {
      type: 'integer',
      minimum: 1,
      default: 1000,
      description: 'of each virtual network, at most so many destinations',
    },
  },
  examples: ['netloom routes show --http http://[::1]:4712', 'netloom routes show --vni 100 --prefix 10.0.'],
  async run({ options, terminal }) {
    const { showRoutes } = await import('./routes/show.ts');
    await showRoutes(options, terminal);
  },
});

export const routes = command({
  name: 'routes',
  summary: 'Distribute the routes of virtual networks between hosts',
  subcommands: [serve, client, show],
});
