/** One kubeconfig as two programs read it: kubectl, and the access of our commands. Both make one GET. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { kubeconfigAccess, loadSourceKubeconfig } from '../../../operator/kube/access/kubeconfig.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import { ApiError, ConnectionError, LOGIN_FAILED, TerminalError } from '../../../operator/kube/errors.ts';
import { requireBinary } from '../../cluster/real/binaries.ts';
import type { Case } from './cases.ts';
import type { Seen, Servers } from './servers.ts';

/** What became of the request: an answer, or the kind of error that there was. */
export type Result = 'answer' | 'config' | 'login' | 'connection' | 'unauthorized';

export interface Outcome {
  readonly result: Result;
  readonly seen: Seen | undefined;
  /** What the program says of an error. */
  readonly message: string;
}

/** Variables that must not be those of whoever runs the tests. */
const CLEAN = ['KUBECONFIG', 'KUBERNETES_SERVICE_HOST', 'REQUEST_METHOD', 'SSL_CERT_FILE'].concat(
  ['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'].flatMap((name) => [name, name.toUpperCase()]),
);

/** A case in a folder of its own. */
export class Both {
  readonly #servers: Servers;
  readonly #folder: string;
  readonly #id: string;
  readonly #case: Case;

  constructor(servers: Servers, folder: string, id: string, of: Case) {
    this.#servers = servers;
    this.#folder = join(folder, id);
    this.#id = id;
    this.#case = of;
    for (const [path, content] of Object.entries(of.files ?? {})) {
      const file = join(this.#folder, path);
      mkdirSync(dirname(file), { recursive: true });
      const text = typeof content === 'string' ? content : JSON.stringify(content);
      writeFileSync(file, this.#filled(text), { mode: text.startsWith('#!') ? 0o755 : 0o600 });
    }
  }

  /** kubectl, as it is built for the test clusters. */
  async kubectl(): Promise<Outcome> {
    const path = `/${this.#id}/kubectl`;
    const { kubeconfig, context } = this.#flags();
    const flags = [...(kubeconfig ? [`--kubeconfig=${kubeconfig}`] : []), ...(context ? [`--context=${context}`] : [])];
    const env = { PATH: `${this.#folder}/bin:${process.env['PATH']}`, ...this.#env() };
    const args = ['get', '--raw', path, '--request-timeout=20s', ...flags];
    const running = promisify(execFile)(requireBinary('kubectl'), args, { env, cwd: '/' });
    running.child.stdin?.end();
    const { stderr } = await running.catch((error: unknown) => error as { readonly stderr: string });
    const seen = this.#servers.seen(path).at(-1);
    return { result: running.child.exitCode === 0 ? 'answer' : resultOf(stderr), seen, message: stderr };
  }

  /** Our own access. */
  async ours(): Promise<Outcome> {
    const path = `/${this.#id}/ours`;
    for (const name of CLEAN) vi.stubEnv(name, undefined);
    for (const [name, value] of Object.entries(this.#env())) vi.stubEnv(name, value);
    vi.stubEnv('PATH', `${this.#folder}/bin:${process.env['PATH']}`);
    let client: KubeClient | undefined;
    let [result, message]: [Result, string] = ['answer', ''];
    try {
      const access = await kubeconfigAccess(loadSourceKubeconfig(this.#flags()));
      client = new KubeClient(access, { userAgent: 'test', fieldManager: 'test' });
      await client.get(path, 'get');
    } catch (error) {
      message = (error as Error).message;
      if (error instanceof TerminalError) result = error.reason === LOGIN_FAILED ? 'login' : 'config';
      else if (error instanceof ApiError && error.code === 401) result = 'unauthorized';
      else if (error instanceof ConnectionError) result = 'connection';
      else throw error;
    } finally {
      await client?.close();
      vi.unstubAllEnvs();
    }
    return { result, seen: this.#servers.seen(path).at(-1), message };
  }

  #flags(): { readonly kubeconfig?: string; readonly context?: string } {
    const { kubeconfig, context } = this.#case;
    const { KUBECONFIG } = this.#case.env ?? {};
    const usual = this.#case.files?.['config'] !== undefined && KUBECONFIG === undefined ? '{DIR}/config' : undefined;
    const file = kubeconfig ?? usual;
    return { ...(file === undefined ? {} : { kubeconfig: this.#filled(file) }), ...(context ? { context } : {}) };
  }

  #env(): Readonly<Record<string, string>> {
    const env = Object.entries({ HOME: '{DIR}/home', ...this.#case.env });
    return Object.fromEntries(env.map(([name, value]) => [name, this.#filled(value)]));
  }

  #filled(text: string): string {
    return this.#servers.filled(text, { DIR: this.#folder });
  }
}

/** The kind of an error of kubectl, by what it says. */
const resultOf = (stderr: string): Result => {
  if (/Unable to connect to the server: (getting credentials|No valid id-token)/.test(stderr)) return 'login';
  if (/Unauthorized|You must be logged in/.test(stderr)) return 'unauthorized';
  if (/Unable to connect to the server|The connection to the server .* was refused/.test(stderr)) return 'connection';
  if (/^error: |^Error in configuration: |Please enter Username/m.test(stderr)) return 'config';
  throw new Error(`kubectl says something else: ${stderr}`);
};
