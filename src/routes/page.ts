import { createHash } from 'node:crypto';

const style = `
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 75rem; padding: 1rem; }
table { border-collapse: collapse; width: 100%; margin: 0 0 1.5rem; }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); vertical-align: top; }
td.number, th.number { text-align: right; }
code { font-size: .95em; }
nav button { margin: 0 .3rem .3rem 0; } nav button[aria-pressed=true] { font-weight: bold; }
#state { float: right; opacity: .7; }
.bad { color: #c22; }
`;

const script = `
const byId = (id) => document.getElementById(id);
let vni, busy = false, again = false;
const cell = (text, name) => { const td = document.createElement('td'); td.textContent = text; if (name) td.className = name; return td; };
const row = (...cells) => { const tr = document.createElement('tr'); tr.append(...cells); return tr; };
const fetchJson = async (path) => (await fetch(path)).json();
const types = ['standard', 'NAT', 'load balancer'];

async function show() {
  if (busy) { again = true; return; }
  busy = true;
  try { await Promise.all([showPeers(), showRoutes()]); } finally { busy = false; }
  if (again) { again = false; show(); }
}
async function showPeers() {
  const { peers } = await fetchJson('peers.json');
  byId('peers').replaceChildren(...peers.map((peer) => row(
    cell([peer.address, ...(peer.connection?.names ?? [])].join(' ')), cell(peer.direction),
    cell(peer.state, peer.state === 'ESTABLISHED' ? '' : 'bad'),
    cell(peer.connection?.kind ?? ''), cell(peer.isServer ? 'server' : 'host'),
    cell(peer.routesAnnounced, 'number'), cell(peer.routesTold, 'number'), cell(peer.upToDate ? '' : 'behind'))));
}
async function showRoutes() {
  if (vni === undefined) return byId('routes').replaceChildren();
  const query = new URLSearchParams({ vni, limit: 500, prefix: byId('prefix').value });
  const { vnet } = await fetchJson('routes.json?' + query);
  const rows = Object.entries(vnet[vni] ?? {}).flatMap(([key, hops]) => hops.map((hop, i) => row(
    cell(i === 0 ? JSON.parse(key).Prefix : ''), cell(hop.TargetAddress + (hop.TargetVNI ? ' in VNI ' + hop.TargetVNI : '')),
    cell(types[hop.Type] + (hop.Type === 1 ? ' ' + hop.NATPortRangeFrom + '-' + hop.NATPortRangeTo : '')), cell(hop.AnnouncedBy.join(', ')))));
  byId('routes').replaceChildren(...rows);
}
function showNetworks(networks) {
  if (!networks.some((network) => network.vni === vni)) vni = networks[0]?.vni;
  byId('networks').replaceChildren(...networks.map((network) => {
    const button = document.createElement('button');
    button.textContent = network.vni + ' (' + network.routes + ')';
    button.setAttribute('aria-pressed', network.vni === vni);
    button.onclick = () => { vni = network.vni; showNetworks(networks); show(); };
    return button;
  }));
}
byId('prefix').oninput = () => show();
const events = new EventSource('events');
events.addEventListener('summary', ({ data }) => {
  const summary = JSON.parse(data);
  byId('state').textContent = summary.routes + ' routes, ' + summary.peers + ' peers, live';
  showNetworks(summary.networks);
  show();
});
events.onerror = () => { byId('state').textContent = 'not connected'; };
`;

/** Shows peers, and the routes of one virtual network; asks again whenever the server says that something has changed. */
export const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Netloom routes</title><meta name="viewport" content="width=device-width"><style>${style}</style></head>
<body>
<p id="state" role="status">connecting</p>
<h1>Routes</h1>
<nav id="networks" aria-label="Virtual networks"></nav>
<p><label>Prefix begins with <input id="prefix" size="30"></label> (at most 500 are shown)</p>
<table><thead><tr><th>Destination</th><th>Next hop</th><th>Type</th><th>Announced by</th></tr></thead><tbody id="routes"></tbody></table>
<h2>Peers</h2>
<table><thead><tr><th>Peer</th><th>Direction</th><th>State</th><th>Speaks as</th><th>Role</th><th class="number">Announces</th><th class="number">Knows</th><th></th></tr></thead><tbody id="peers"></tbody></table>
<script>${script}</script>
</body>
</html>
`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Only what the page itself brings along may run. */
export const pagePolicy = `default-src 'none'; connect-src 'self'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
