import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { JsonObject } from '../../src/api/json.ts';
import { type Kubectl, kubectl, kubectlFor, type Result } from '../kubectl/kubectl.ts';
import { RunningNetloom } from './netloom.ts';

type Words = string | readonly string[];
/** Standard input: a manifest as text, or objects that become one. */
type Input = string | JsonObject | readonly JsonObject[];
type Environment = Readonly<Record<string, string>>;

/** An engine as a process of its own, and a real kubectl that knows nothing but its kubeconfig. */
export class EngineWithKubectl {
  readonly engine: RunningNetloom;
  readonly #run: Awaited<ReturnType<typeof kubectlFor>>;
  readonly #program: Kubectl;
  readonly #folder: string;
  readonly #inNamespace: readonly string[];
  readonly #env: Environment;
  /** How to end what was started and may still run. */
  readonly #following: Set<() => Promise<void>>;

  private constructor(parts: {
    engine: RunningNetloom;
    run: Awaited<ReturnType<typeof kubectlFor>>;
    program: Kubectl;
    folder: string;
    inNamespace: readonly string[];
    env?: Environment;
    following: Set<() => Promise<void>>;
  }) {
    this.engine = parts.engine;
    this.#run = parts.run;
    this.#program = parts.program;
    this.#folder = parts.folder;
    this.#inNamespace = parts.inNamespace;
    this.#env = parts.env ?? {};
    this.#following = parts.following;
  }

  static async start(): Promise<EngineWithKubectl> {
    const folder = await mkdtemp(join(tmpdir(), 'netloom-e2e-kubectl-'));
    // `kubectl edit` runs an editor: here a script of sed, that each test writes anew.
    process.env['KUBE_EDITOR'] = `sed -i -E -f ${join(folder, 'edit.sed')}`;
    const [program, engine] = await Promise.all([kubectl(), RunningNetloom.start('engine')]);
    const run = await kubectlFor({ kubeconfig: engine.kubeconfig });
    return new EngineWithKubectl({ engine, run, program, folder, inNamespace: [], following: new Set() });
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#following].map((stop) => stop()));
    await this.engine.stopAndRemove();
    await rm(this.#folder, { recursive: true });
  }

  /** The same, with every command in a namespace that is made for it. */
  async namespace(name: string): Promise<EngineWithKubectl> {
    await this.ok(`create namespace ${name}`);
    return this.#but({ inNamespace: ['--namespace', name] });
  }

  /** The same, with every kubectl told this by its environment. */
  told(env: Environment): EngineWithKubectl {
    return this.#but({ env: { ...this.#env, ...env } });
  }

  #but(change: { readonly inNamespace?: readonly string[]; readonly env?: Environment }): EngineWithKubectl {
    return new EngineWithKubectl({
      engine: this.engine,
      run: this.#run,
      program: this.#program,
      folder: this.#folder,
      inNamespace: this.#inNamespace,
      env: this.#env,
      following: this.#following,
      ...change,
    });
  }

  /** Words in one text are taken apart at spaces. */
  run(words: Words, input?: Input): Promise<Result> {
    const env = this.#env;
    return this.#run(
      [...this.#inNamespace, ...wordsOf(words)],
      input === undefined ? { env } : { env, input: manifest(input) },
    );
  }

  /** Runs kubectl in a terminal of 91 columns and 33 rows, as a person does. */
  async inTerminal(words: readonly string[]): Promise<{ stdout: string; code: number | null }> {
    const args = [this.#program.path, '--kubeconfig', this.engine.kubeconfig, ...this.#inNamespace, ...words];
    const line = args.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    const env = { ...process.env, HOME: this.#folder, ...this.#env };
    const child = spawn('script', ['-qefc', `stty cols 91 rows 33; exec ${line}`, '/dev/null'], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return { stdout, code };
  }

  /** Runs what must succeed; returns its standard output. */
  async ok(words: Words, input?: Input): Promise<string> {
    const { code, stdout, stderr } = await this.run(words, input);
    assert.equal(code, 0, `kubectl ${words} → ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Runs what must be refused; returns its standard error. */
  async refused(words: Words, input?: Input): Promise<string> {
    const { code, stdout, stderr } = await this.run(words, input);
    assert.equal(code, 1, `kubectl ${words} → ${code}: ${stderr}${stdout}`);
    return stderr;
  }

  async json(words: string): Promise<JsonObject> {
    return JSON.parse(await this.ok(`${words} -o json`));
  }

  /** Opens objects in an editor that does what the script of sed says. */
  async edit(words: string, script: string): Promise<string> {
    await writeFile(join(this.#folder, 'edit.sed'), script);
    return this.ok(`edit ${words}`);
  }

  /** Starts what does not end at once, such as `get --watch`. */
  async follow(words: Words): Promise<Following> {
    const args = ['--kubeconfig', this.engine.kubeconfig, ...this.#inNamespace, ...wordsOf(words)];
    const child = spawn(this.#program.path, args, {
      env: { ...process.env, HOME: this.#folder, ...this.#env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    let rest = '';
    let wake = () => {};
    child.stdout.on('data', (chunk) => {
      const parts = `${rest}${chunk}`.split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
      wake();
    });
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    const stop = async () => {
      child.kill();
      await ended;
    };
    this.#following.add(stop);
    return {
      ended,
      async lines(count) {
        const end = Date.now() + 20_000;
        while (lines.length < count && child.exitCode === null && Date.now() < end) {
          const more = Promise.withResolvers<void>();
          wake = more.resolve;
          const timer = setTimeout(more.resolve, 1_000);
          await more.promise;
          clearTimeout(timer);
        }
        assert.ok(lines.length >= count, `kubectl ${words} printed only ${JSON.stringify(lines)}`);
        return lines;
      },
      stop,
    };
  }
}

export interface Following {
  /** Everything printed, as soon as there are so many lines. */
  lines(count: number): Promise<readonly string[]>;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  stop(): Promise<void>;
}

const wordsOf = (words: Words): readonly string[] => (typeof words === 'string' ? words.split(' ') : words);

function manifest(input: Input): string {
  if (typeof input === 'string') return input;
  return [input]
    .flat()
    .map((object) => JSON.stringify(object))
    .join('\n');
}
