import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const cache = path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'netloom', 'peers');

/** Programs of others, built from a Go module of ours that pins them and the checksums of all they are made of. */
export class GoPrograms<Name extends string> {
  /** Where they are once they are built: they change with what the module says, and nothing else. */
  readonly paths: Readonly<Record<Name, string>>;
  readonly #source: string;
  readonly #folder: string;
  /** Name of a program → the package that it is built from. */
  readonly #packages: Readonly<Record<Name, string>>;
  readonly #flags: readonly string[];

  constructor(options: {
    /** The folder of the module. */
    readonly source: string;
    readonly packages: Readonly<Record<Name, string>>;
    readonly flags?: readonly string[];
  }) {
    this.#source = options.source;
    this.#packages = options.packages;
    this.#flags = options.flags ?? [];
    this.#folder = path.join(cache, `${path.basename(options.source)}-${fingerprint(options.source, this.#flags)}`);
    const folder = this.#folder;
    const entries = this.#names().map((name) => [name, path.join(folder, name)]);
    this.paths = Object.fromEntries(entries) as Record<Name, string>;
  }

  /** Why they can neither be found nor built here; false: they can. Where everything is expected to be there, they are built. */
  areMissing(): string | false {
    const hasGo = (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(path.join(folder, 'go')));
    return this.#areBuilt() || hasGo || process.env['CI'] !== undefined
      ? false
      : 'there is no Go here to build it with';
  }

  /** The first time this takes its time and needs the network; later the programs are found in the user's cache. */
  async build(): Promise<Readonly<Record<Name, string>>> {
    if (this.#areBuilt()) return this.paths;
    const unfinished = `${this.#folder}-${process.pid}-unfinished`;
    mkdirSync(unfinished, { recursive: true });
    const env = { ...process.env, GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' };
    for (const name of this.#names()) {
      const args = ['build', '-trimpath', ...this.#flags, '-o', path.join(unfinished, name), this.#packages[name]];
      await promisify(execFile)('go', args, { cwd: this.#source, env });
    }
    // Another test may have been faster: what it has built is the same.
    if (this.#areBuilt()) rmSync(unfinished, { recursive: true });
    else renameSync(unfinished, this.#folder);
    return this.paths;
  }

  #areBuilt(): boolean {
    return Object.values<string>(this.paths).every((file) => existsSync(file));
  }

  #names(): Name[] {
    return Object.keys(this.#packages) as Name[];
  }
}

function fingerprint(source: string, flags: readonly string[]): string {
  const hash = createHash('sha256').update(flags.join(' '));
  const files = readdirSync(source, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const file of files.map((entry) => path.join(entry.parentPath, entry.name)).sort())
    hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 12);
}
