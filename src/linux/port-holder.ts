import { readdir, readFile, readlink } from 'node:fs/promises';

/** Which process listens on a TCP port, in words; undefined where the kernel will not tell us. */
export async function portHolder(port: number): Promise<string | undefined> {
  const sockets = new Set(await listeningSockets(port));
  if (sockets.size === 0) return undefined;
  for (const pid of (await entries('/proc')).filter((name) => /^\d+$/.test(name))) {
    for (const descriptor of await entries(`/proc/${pid}/fd`)) {
      const link = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (sockets.has(link)) return `process ${pid} (${await commandLine(pid)})`;
    }
  }
  return undefined;
}

/** The sockets that listen on the port, as links in /proc name them. */
async function listeningSockets(port: number): Promise<string[]> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  return tables
    .flatMap((table) => table.split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTENING && Number.parseInt(local?.split(':')[1] ?? '', 16) === port)
    .map((fields) => `socket:[${fields[9]}]`);
}

const LISTENING = '0A';

const entries = (directory: string): Promise<string[]> => readdir(directory).catch(() => []);

async function commandLine(pid: string): Promise<string> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const words = text.split('\0').filter((word) => word !== '');
  return words.length === 0 ? 'its command line is not ours to read' : words.join(' ').slice(0, 200);
}
