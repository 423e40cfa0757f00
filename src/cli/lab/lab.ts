import { connectionOptions } from '../client/connection.ts';
import { command } from '../command.ts';

const labArgument = {
  description: 'its name, or its file; not needed when there is only one',
  optional: true,
} as const;
const hostArgument = { description: 'a host, by its name; LAB/HOST where several labs have one of that name' } as const;
const { kubeconfig } = connectionOptions;

const up = command({
  name: 'up',
  summary: 'Make a lab what its file says',
  description:
    'Makes the switches, links and hosts of a lab, starts an agent on each host, and waits until all are Ready. A lab that is up already is not disturbed: what is missing is made, and of what the file says differently no more is made anew than must be; cut links are whole and dead hosts live again. After a reboot the same command brings it back. Everything is checked before anything is made.',
  arguments: { file: { description: 'what the lab is made of (YAML), or - for standard input' } },
  options: {
    kubeconfig,
    'no-agents': { type: 'boolean', description: 'make the network alone, without any API' },
    wait: {
      type: 'integer',
      minimum: 0,
      default: 60,
      placeholder: 'SECONDS',
      description: 'how long to wait until all hosts are Ready',
    },
    output: { type: 'string', short: 'o', choices: ['json'], description: 'the form to show the lab in' },
  },
  examples: ['netloom lab up examples/lab/cloud.yaml', 'netloom lab up --no-agents examples/lab/cloud.yaml'],
  async run({ arguments: { file }, options, terminal }) {
    const { labUp } = await import('./run-up.ts');
    return labUp(file, options, terminal);
  },
});

const down = command({
  name: 'down',
  summary: 'Leave nothing of a lab',
  description:
    'Ends everything that runs on its hosts and removes their Nodes, namespaces, links and files. It works after crashes, too, and when the API is gone; then it says which Nodes it could not remove.',
  arguments: { lab: labArgument },
  options: { force: { type: 'boolean', description: 'do not even try to remove its Nodes from the API' } },
  examples: ['netloom lab down', 'netloom lab down cloud'],
  async run({ arguments: { lab }, options, terminal }) {
    const { labDown } = await import('./run-down.ts');
    await labDown(lab, options, terminal);
  },
});

const status = command({
  name: 'status',
  summary: 'Show the hosts, switches and links of a lab, and how they are',
  arguments: { lab: labArgument },
  options: { output: { type: 'string', short: 'o', choices: ['json'], description: 'the form to show it in' } },
  examples: ['netloom lab status', 'netloom lab status cloud -o json'],
  async run({ arguments: { lab }, options, terminal }) {
    const { labStatus } = await import('./run-status.ts');
    await labStatus(lab, options, terminal);
  },
});

const exec = command({
  name: 'exec',
  summary: 'Run a command in the network of a host',
  description:
    'The command is one of this machine, with its files and its rights, and sees the interfaces, addresses and routes of the host; on one with an agent it knows Services by their names. It ends with the exit code of the command.',
  arguments: {
    host: hostArgument,
    command: { description: 'what to run, after --; a shell when there is none', optional: true, repeated: true },
  },
  examples: [
    'netloom lab exec worker-0 -- ip address',
    'netloom lab exec worker-0 -- curl http://web.default.svc.cluster.local',
    'netloom lab exec edpm-0',
  ],
  async run({ arguments: { host, command: words } }) {
    const { labExec } = await import('./run-exec.ts');
    return labExec(host, words);
  },
});

const cut = command({
  name: 'cut',
  summary: 'Cut a link of a host, or all of them',
  description: 'Takes the carrier away at both ends. The link to the API is called management.',
  arguments: {
    host: hostArgument,
    link: { description: 'an interface of the host; all when left out', optional: true },
  },
  examples: ['netloom lab cut worker-0 enp6s0', 'netloom lab cut worker-0 management', 'netloom lab cut worker-0'],
  async run({ arguments: { host, link }, terminal }) {
    const { labCut } = await import('./run-break.ts');
    await labCut(host, link, terminal);
  },
});

const heal = command({
  name: 'heal',
  summary: 'Make cut links whole, and bring dead hosts back',
  arguments: {
    host: {
      description: 'a host, as HOST or LAB/HOST, or a lab; everything that is broken in the only lab when left out',
      optional: true,
    },
    link: { description: 'an interface of the host; all, and the host itself, when left out', optional: true },
  },
  examples: [
    'netloom lab heal',
    'netloom lab heal cloud',
    'netloom lab heal worker-0',
    'netloom lab heal worker-0 enp6s0',
  ],
  async run({ arguments: { host, link }, terminal }) {
    const { labHeal } = await import('./run-break.ts');
    await labHeal(host, link, terminal);
  },
});

const kill = command({
  name: 'kill',
  summary: 'Kill a host, or only its agent or supervisor',
  description:
    'A host that is killed is gone with all that ran on it, as if its plug had been pulled; "netloom lab heal HOST" switches it on again. An agent or supervisor is ended with SIGKILL, and started again by whoever should.',
  arguments: {
    host: hostArgument,
    what: { description: 'agent or supervisor; the whole host when left out', optional: true },
  },
  examples: ['netloom lab kill worker-0', 'netloom lab kill worker-0 agent'],
  async run({ arguments: { host, what }, terminal }) {
    const { labKill } = await import('./run-break.ts');
    await labKill(host, what, terminal);
  },
});

const graph = command({
  name: 'graph',
  summary: 'Show who is plugged into what',
  arguments: { lab: labArgument },
  options: {
    output: {
      type: 'string',
      short: 'o',
      choices: ['dot', 'json'],
      description: 'the form to show it in, instead of a tree',
    },
  },
  examples: ['netloom lab graph', 'netloom lab graph -o dot | dot -Tsvg > lab.svg'],
  async run({ arguments: { lab }, options, terminal }) {
    const { labGraph } = await import('./run-graph.ts');
    await labGraph(lab, options, terminal);
  },
});

const list = command({
  name: 'list',
  summary: 'List the labs of this machine',
  options: { output: { type: 'string', short: 'o', choices: ['json'], description: 'the form to show it in' } },
  async run({ options, terminal }) {
    const { labList } = await import('./run-list.ts');
    await labList(options, terminal);
  },
});

const keep = command({
  name: 'keep',
  summary: 'Keep the agents of a lab running',
  description:
    'Every lab has such a process, which "netloom lab up" starts and "netloom lab down" ends. It hands on to the API what agents say over the management network, and starts agents again that have ended. SIGTERM ends it and them; pods run on.',
  arguments: { lab: { description: 'the name of the lab' } },
  async run({ arguments: { lab } }) {
    const { labKeep } = await import('./run-keep.ts');
    await labKeep(lab);
  },
});

export const lab = command({
  name: 'lab',
  summary: 'A whole cloud on one machine: hosts, switches and links from one file',
  subcommands: [up, down, status, list, graph, exec, cut, heal, kill, keep],
});
