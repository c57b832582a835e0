/**
 * The login program of a kubeconfig (client-go's exec plugin): what it prints are credentials, which are used until
 * they expire or are refused. It has the terminal for its questions when there is one. Whatever goes wrong with it
 * becomes one line, without what it printed on stdout.
 */
import { loadAll } from 'js-yaml';
import { cut, LOGIN_FAILED, TerminalError } from '../errors.ts';
import type { ExecConfig, KubeconfigCluster } from './kubeconfig-file.ts';
import { certificate, privateKey } from './pem.ts';
import { type Ended, runPlugin } from './run-plugin.ts';

/** What a program has printed. */
export interface Credential {
  readonly token?: string | undefined;
  /** PEM. */
  readonly cert?: string | undefined;
  /** PEM. */
  readonly key?: string | undefined;
  /** When it expires, in milliseconds since 1970; Infinity if the program does not say. */
  readonly expiresMs: number;
}

/** Versions of the protocol. */
const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/** Name of the extension of a cluster that is passed on to the program. */
const EXTENSION = 'client.authentication.k8s.io/exec';

const MODES = ['Never', 'IfAvailable', 'Always'];

/** How long a program may take that asks nobody, and one that has a terminal to ask at. */
const DEADLINE_MS = 60_000;
const INTERACTIVE_DEADLINE_MS = 600_000;

/** @returns why a program cannot be run, completing "user `name` …"; undefined if it can */
export function execProblem({ command, apiVersion, interactiveMode, env = [] }: ExecConfig): string | undefined {
  if (!command) return 'has an exec without command (name the login program)';
  if (!apiVersion) return `has an exec without apiVersion (write ${API_VERSIONS.join(' or ')})`;
  if (!API_VERSIONS.includes(apiVersion)) {
    return `has an exec of an apiVersion that is not supported (write ${API_VERSIONS.join(' or ')}, with a program that has it)`;
  }
  if (env.some(({ name }) => !name)) return 'has an exec with a variable in env that has no name';
  // Older versions have a default.
  if (!interactiveMode) {
    return apiVersion === API_VERSIONS[0]
      ? `has an exec without interactiveMode (write ${MODES.join(', ')})`
      : undefined;
  }
  return MODES.includes(interactiveMode) ? undefined : `has an exec whose interactiveMode is not ${MODES.join(', ')}`;
}

/** What the program learns about the cluster. */
export interface ExecCluster extends KubeconfigCluster {
  /** CA certificates in PEM, also if the kubeconfig has them in a file. */
  readonly ca: string | undefined;
}

export class ExecPlugin {
  readonly #exec: ExecConfig;
  readonly #cluster: ExecCluster;
  readonly #context: string;
  #credential: Credential | undefined;
  #asking: Promise<Credential> | undefined;

  /** @param context by which messages begin, such as `kubeconfig a: context "b"` */
  constructor(exec: ExecConfig, cluster: ExecCluster, context: string) {
    this.#exec = exec;
    this.#cluster = cluster;
    this.#context = context;
  }

  /** The credentials that were returned last, for as long as they are valid, in milliseconds. */
  get validMs(): number {
    return Math.max(0, (this.#credential?.expiresMs ?? 0) - Date.now());
  }

  /** Has the program run again when credentials are next asked for: a server has refused these. */
  refuse(): void {
    this.#credential = undefined;
  }

  /**
   * Credentials that have not expired. The program runs once for all who ask at the same time.
   * @throws TerminalError `LoginFailed`, with the program, what it said last, and what to do
   */
  credential(): Promise<Credential> {
    if (this.#credential !== undefined && this.validMs > 0) return Promise.resolve(this.#credential);
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #ask(): Promise<Credential> {
    const { command = '', args = [], env = [], apiVersion, interactiveMode } = this.#exec;
    // Undefined without a terminal, whatever its type says.
    const isTerminal = (process.stdin.isTTY as boolean | undefined) ?? false;
    if (interactiveMode === 'Always' && !isTerminal) {
      throw this.#failed('it asks questions, and standard input is not a terminal', 'run this in a terminal');
    }
    const isInteractive = interactiveMode !== 'Never' && isTerminal;
    const spec = { interactive: isInteractive, ...(this.#exec.provideClusterInfo ? { cluster: this.#info() } : {}) };
    const variables = Object.fromEntries(env.map(({ name = '', value = '' }) => [name, value]));
    const ended = await runPlugin(command, args, {
      env: { ...variables, KUBERNETES_EXEC_INFO: JSON.stringify({ kind: 'ExecCredential', apiVersion, spec }) },
      isInteractive,
      deadlineMs: isInteractive ? INTERACTIVE_DEADLINE_MS : DEADLINE_MS,
    });
    if (ended.problem !== undefined) throw this.#unsuccessful(ended.problem, ended);
    try {
      this.#credential = credentialOf(ended.stdout, apiVersion ?? '');
    } catch (error) {
      throw this.#unsuccessful((error as Error).message, ended);
    }
    return this.#credential;
  }

  /** What a program may ask of the cluster, as JSON. */
  #info(): object {
    const { ca, server, extensions = [], ...cluster } = this.#cluster;
    const { extension: config = null } = extensions.find(({ name }) => name === EXTENSION) ?? {};
    return {
      server,
      'tls-server-name': cluster['tls-server-name'] || undefined,
      'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'] || undefined,
      'certificate-authority-data': ca && Buffer.from(ca).toString('base64'),
      'proxy-url': cluster['proxy-url'] || undefined,
      'disable-compression': cluster['disable-compression'] || undefined,
      config,
    };
  }

  #unsuccessful(problem: string, { isMissing, stderr }: Ended): TerminalError {
    const { installHint = '' } = this.#exec;
    const said = this.#masked(
      stderr
        .trim()
        .split(/[\r\n]+/)
        .at(-1) ?? '',
    );
    const remedy = isMissing
      ? `install it${installHint === '' ? '' : `: ${cut(installHint)}`}`
      : 'log in with it, or run kubectl with this context to see what it says';
    return this.#failed(said === '' ? problem : `${problem}: ${cut(said)}`, remedy);
  }

  #failed(problem: string, remedy: string): TerminalError {
    const program = cut(this.#exec.command ?? '');
    return new TerminalError(LOGIN_FAILED, `${this.#context}: the login program ${program}: ${problem} (${remedy})`);
  }

  /** What a program says of itself may hold what the kubeconfig has given to it, or a token. */
  #masked(text: string): string {
    const given = (this.#exec.env ?? []).map(({ value = '' }) => value).filter((value) => value.length >= 4);
    const open = given.reduce((masked, value) => masked.replaceAll(value, '***'), text);
    return open.replaceAll(/eyJ[\w-]+\.[\w.-]+|\b(?:k8s-aws-v1\.|ya29\.)[\w.-]+/g, '***');
  }
}

/** @throws Error that completes "the login program `name`: …" */
function credentialOf(stdout: string, apiVersion: string): Credential {
  let printed: unknown;
  try {
    printed = loadAll(stdout)[0];
  } catch {
    printed = undefined;
  }
  const { kind, apiVersion: version, status } = isMap(printed) ? printed : {};
  if (kind !== 'ExecCredential') throw new Error('what it printed is not an ExecCredential');
  if (version !== apiVersion) {
    throw new Error(`it printed another apiVersion than the ${apiVersion} that the kubeconfig asks for`);
  }
  const text = (name: string): string | undefined => {
    const value = isMap(status) ? status[name] : undefined;
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [token, cert, key] = [text('token'), text('clientCertificateData'), text('clientKeyData')];
  if (token === undefined && cert === undefined && key === undefined) {
    throw new Error('it printed neither a token nor a certificate');
  }
  if ((cert === undefined) !== (key === undefined)) throw new Error('it printed a certificate or a key, not both');
  if (cert !== undefined && key !== undefined) {
    const parsed = privateKey(key);
    if (parsed === undefined || certificate(cert)?.checkPrivateKey(parsed) !== true) {
      throw new Error('it printed a certificate and a key that do not belong together');
    }
  }
  const expires = text('expirationTimestamp');
  const expiresMs = expires === undefined ? Infinity : Date.parse(expires);
  if (Number.isNaN(expiresMs)) throw new Error('it printed an expirationTimestamp that is not a time');
  return { token, cert, key, expiresMs };
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
