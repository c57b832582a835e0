/**
 * The stage of one history: a source and two targets of its own, two gateways, and the operator in this process, in
 * periods so short that a history is over in a moment. Every command of a history is played here, and every write of
 * the operator's to the source cluster is judged as it happens.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { linkCrd } from '../../crds/index.ts';
import { parseOperatorConfig } from '../../operator/config/config.ts';
import type { Logger } from '../../operator/runtime/logger.ts';
import { runOperator } from '../../operator/main.ts';
import type { Tuning } from '../../operator/config/tuning.ts';
import type { Failure, RequestMatcher } from '../cluster/simulated/faults.ts';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { EXPORTED, link as linkObject, LINKS_NAMESPACE, namespace as namespaceObject } from '../support/builders.ts';
import { TestGateway } from '../support/gateway.ts';
import { HistoryCluster } from './cluster.ts';
import {
  CLUSTER_OF,
  type Command,
  type Failing,
  type History,
  type LinkEdit,
  type LinkName,
  LINKS,
  MANY,
  NAMESPACES,
  TARGET_OF,
  TARGETS,
  type TargetName,
} from './command.ts';
import { Judge } from './judge.ts';
import { editMirror, putForeign } from './source-users.ts';
import { EXPORT_LABEL, putService, setExport, setPods, setSlice } from './target-users.ts';

const LINK_API = 'multicluster.linkerd.io/v1alpha3';
/** Rule H2 says 5 s; the machine may be busy. */
const STOP_DEADLINE_MS = 20_000;
const SECRET_TYPE = 'mirror.linkerd.io/remote-kubeconfig';

const TUNING: Tuning = {
  sourceTimings: { idleTimeoutMs: 4_000, backoff: { baseMs: 10, capMs: 60 } },
  targetTimings: { idleTimeoutMs: 4_000, backoff: { baseMs: 10, capMs: 60 } },
  retryBackoff: { baseMs: 5, capMs: 60 },
  conflictRetryMs: 60,
  requestTimeoutMs: 5_000,
  statusPeriodMs: 40,
  removalGraceMs: 20,
  processMetrics: false,
};

/** Exported selectors of a Link, as users write them. */
const SELECTORS = {
  value: { matchLabels: EXPORTED },
  exists: { matchExpressions: [{ key: EXPORT_LABEL, operator: 'Exists' }] },
  empty: {},
} as const;

const FLAT_SELECTOR = { matchLabels: { [EXPORT_LABEL]: 'remote-discovery' } };

const CONFIRM = 'linkspan.dev/confirm-prune';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

interface RunningOperator {
  readonly token: string;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

export class Stage {
  readonly history: History;
  readonly east: HistoryCluster;
  readonly targets: Readonly<Record<TargetName, HistoryCluster>>;
  readonly judge: Judge;
  readonly logged: string[] = [];
  readonly #gateways: Readonly<Record<TargetName, TestGateway>> = { west: new TestGateway(), bar: new TestGateway() };
  readonly #alive: Record<TargetName, boolean> = { west: true, bar: true };
  readonly #readToken: Record<TargetName, string>;
  readonly #directory = mkdtempSync(join(tmpdir(), 'linkspan-fuzz-'));
  readonly #ended: Promise<void>[] = [];
  #operator: RunningOperator | undefined;

  constructor(history: History, random: () => number) {
    this.history = history;
    const namespaces = [LINKS_NAMESPACE, ...NAMESPACES].map(namespaceObject);
    const target = (name: LinkName): HistoryCluster =>
      new HistoryCluster({ name, controllers: ['endpointslice-controller'], objects: namespaces, random });
    // What histories are about does not depend on TLS, which costs more than all else that they do.
    this.east = new HistoryCluster({ name: 'east', objects: [linkCrd, ...namespaces], plain: true, random });
    this.targets = { west: target('west'), bar: target('bar') };
    this.#readToken = { west: this.targets.west.admit(), bar: this.targets.bar.admit() };
    this.judge = new Judge(this.east);
  }

  /** Servers and gateways up, both Links there, the operator at work. */
  async start(): Promise<void> {
    await Promise.all([
      ...[this.east, ...Object.values(this.targets)].map((cluster) => cluster.start()),
      ...Object.values(this.#gateways).map((gateway) => gateway.revive()),
    ]);
    for (const name of LINKS) this.#putSecret(name, 'good');
    for (const name of TARGETS) this.#putLink(name);
    this.#startOperator();
  }

  async stop(): Promise<void> {
    this.#endOperator(false);
    await Promise.all(this.#ended);
    await Promise.all([
      ...[this.east, ...Object.values(this.targets)].map((cluster) => cluster.stop()),
      ...Object.values(this.#gateways).map((gateway) => gateway.die()),
    ]);
    rmSync(this.#directory, { recursive: true, force: true });
  }

  isAlive(name: LinkName): boolean {
    return this.#alive[TARGET_OF[name]];
  }

  /** Whether the operator says of a Link that it is accepted, as it is now. */
  isAccepted(name: LinkName): boolean {
    const link = this.linkOf(name);
    const { conditions = [] } = (link?.status ?? {}) as { conditions?: readonly Condition[] };
    const accepted = conditions.find(({ type }) => type === 'Accepted');
    return accepted?.status === 'True' && accepted.observedGeneration === link?.metadata.generation;
  }

  linkOf(name: LinkName): KubeObject | undefined {
    return this.east.get(LINK_API, 'Link', LINKS_NAMESPACE, name);
  }

  /** Everything that was broken works again; what users did stays done. */
  async calm(): Promise<void> {
    for (const cluster of [this.east, ...Object.values(this.targets)]) cluster.faults.clear();
    for (const name of LINKS) {
      if (this.linkOf(name) === undefined) continue;
      this.#editLink(name, { field: 'period', value: '50ms' });
      this.#putSecret(name, 'good');
    }
    await this.play({ do: 'start operator' });
  }

  /** Confirms a mass deletion that is held, as its condition says how (E6); anew each time, or it would not count. */
  confirmPrunes(): void {
    for (const name of LINKS) {
      const link = this.linkOf(name);
      const { conditions = [] } = (link?.status ?? {}) as { conditions?: readonly Condition[] };
      const held = conditions.find(({ type, status }) => type === 'PruneHeld' && status === 'True');
      const count = /confirm-prune="(\d+)"/.exec(held?.message ?? '')?.[1];
      if (link === undefined || count === undefined) continue;
      const { [CONFIRM]: before, ...annotations } = link.metadata.annotations ?? {};
      const confirmed = before === undefined ? { ...annotations, [CONFIRM]: count } : annotations;
      this.east.put({ ...link, metadata: { ...link.metadata, annotations: confirmed } });
    }
  }

  async play(command: Command): Promise<void> {
    switch (command.do) {
      case 'put service':
        putService(this.targets[command.link], command);
        break;
      case 'remove service':
        this.targets[command.link].remove('v1', 'Service', command.namespace, command.name);
        break;
      case 'put many':
        for (const name of MANY) {
          const plain = { kind: 'clusterIP', exported: 'true', ports: 0, tag: 'a', publishNotReady: false } as const;
          putService(this.targets[command.link], { namespace: 'shop', name, ...plain });
        }
        break;
      case 'lose all':
        this.targets[command.link].faults.wipe(({ kind }) => kind === 'Service');
        break;
      case 'export':
        setExport(this.targets[command.link], command);
        break;
      case 'set pods':
        setPods(this.targets[command.link], command);
        break;
      case 'set slice':
        setSlice(this.targets[command.link], command);
        break;
      case 'put foreign':
        putForeign(this.east, command);
        break;
      case 'remove foreign': {
        const { kind, namespace, name } = command;
        const there = this.east.get('v1', kind, namespace, name);
        if (there !== undefined && !this.judge.isOurs(there)) this.east.remove('v1', kind, namespace, name);
        break;
      }
      case 'edit mirror':
        editMirror(this.east, command, (object) => this.judge.isOurs(object));
        break;
      case 'put namespace':
        if (this.east.get('v1', 'Namespace', undefined, command.namespace) === undefined) {
          this.east.put(namespaceObject(command.namespace));
        }
        break;
      case 'remove namespace':
        this.east.removeNamespace(command.namespace);
        break;
      case 'kill gateway':
        this.#alive[command.link] = false;
        await this.#gateways[command.link].die();
        break;
      case 'revive gateway':
        this.#alive[command.link] = true;
        await this.#gateways[command.link].revive();
        break;
      case 'edit link':
        this.#editLink(command.link, command.edit);
        break;
      case 'remove link':
        this.east.remove(LINK_API, 'Link', LINKS_NAMESPACE, command.link);
        break;
      case 'put link':
        if (this.linkOf(command.link) === undefined) this.#putLink(command.link);
        break;
      case 'rename link': {
        const from = this.linkOf('west') === undefined ? 'west-v2' : 'west';
        const to = from === 'west' ? 'west-v2' : 'west';
        if (command.first === 'put') await this.play({ do: 'put link', link: to });
        this.east.remove(LINK_API, 'Link', LINKS_NAMESPACE, from);
        await this.play({ do: 'put link', link: to });
        break;
      }
      case 'put secret':
        this.#putSecret(command.link, command.as);
        break;
      case 'stop operator':
      case 'kill operator':
        this.#endOperator(command.do === 'kill operator');
        break;
      case 'start operator':
        if (this.#operator !== undefined) break;
        await Promise.all(this.#ended);
        this.#startOperator();
        break;
      case 'fail':
        this.#fail(command);
        break;
      case 'drop watches':
        this.#at(command.at).faults.dropWatches();
        break;
      case 'expire watches':
        this.#at(command.at).faults.expireWatches();
        break;
      case 'silence watches':
        this.#at(command.at).faults.silenceWatches();
        break;
      case 'delay':
        this.#at(command.at).faults.latency(40);
        break;
      case 'heal':
        this.#at(command.at).faults.clear();
        break;
      case 'wait':
        await sleep(command.ms);
    }
  }

  #at(at: 'east' | TargetName): HistoryCluster {
    return at === 'east' ? this.east : this.targets[at];
  }

  #putLink(name: LinkName): void {
    const object = linkObject(name, {
      targetClusterName: CLUSTER_OF[name],
      clusterCredentialsSecret: `credentials-${name}`,
      gatewayIdentity: 'gateway.one',
      // Which Link a mirror was written for shows in its endpoints.
      ...(name === TARGET_OF[name] ? {} : { gatewayPort: '31143' }),
      probeSpec: PROBE,
      selector: SELECTORS.value,
      remoteDiscoverySelector: FLAT_SELECTOR,
      enableHeadlessServices: true,
    });
    this.east.put(object);
  }

  #editLink(name: LinkName, edit: LinkEdit): void {
    const link = this.linkOf(name);
    if (link === undefined) return;
    const spec = link.spec as Readonly<Record<string, unknown>>;
    this.east.put({ ...link, spec: { ...spec, ...specOf(spec, edit) } });
    this.judge.namespacesMayBeMade ||= edit.field === 'enableNamespaceCreation' && edit.value;
  }

  #putSecret(name: LinkName, as: Extract<Command, { do: 'put secret' }>['as']): void {
    const secret = `credentials-${name}`;
    if (as === 'absent') {
      this.east.remove('v1', 'Secret', LINKS_NAMESPACE, secret);
      return;
    }
    const at = TARGET_OF[name];
    const target = this.targets[at];
    if (as === 'renewed') this.#readToken[at] = target.admit();
    const text =
      as === 'garbage'
        ? 'no kubeconfig: {'
        : target.kubeconfigFor(as === 'unauthorized' ? 'expired' : this.#readToken[at]);
    this.east.put({
      apiVersion: 'v1',
      kind: 'Secret',
      type: SECRET_TYPE,
      metadata: { name: secret, namespace: LINKS_NAMESPACE },
      data: { kubeconfig: Buffer.from(text).toString('base64') },
    });
  }

  #startOperator(): void {
    const token = this.east.admit();
    const kubeconfig = join(this.#directory, token);
    writeFileSync(kubeconfig, this.east.kubeconfigFor(token), { mode: 0o600 });
    const parsed = parseOperatorConfig(
      {
        kubeconfig,
        adminAddress: '127.0.0.1:0',
        identity: 'linkspan-0',
        leaderElect: false,
        leaseDuration: '10s',
        renewDeadline: '8s',
        retryPeriod: '100ms',
        endpoints: this.history.endpoints,
        probeConnectTo: LINKS.map(
          (name) => `probe-${name}.${LINKS_NAMESPACE}.svc=127.0.0.1:${this.#gateways[TARGET_OF[name]].address.port}`,
        ),
      },
      {},
    );
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
    const stop = new AbortController();
    const ended = runOperator({ config: parsed.value, log: this.#log(), signal: stop.signal, tuning: TUNING }).catch(
      (error: unknown) => this.judge.complain(`the operator ended with ${String(error)}`),
    );
    this.#operator = { token, stop, ended };
  }

  /** In order, as SIGTERM does; or cut off from the cluster at once, its Leases not released. */
  #endOperator(killed: boolean): void {
    const operator = this.#operator;
    if (operator === undefined) return;
    if (killed) this.east.expel(operator.token);
    operator.stop.abort(new Error('the history stops the operator'));
    this.#ended.push(this.#inTime(operator.ended));
    this.#operator = undefined;
  }

  /** An operator that was told to stop stops in time (H2). */
  async #inTime(ended: Promise<void>): Promise<void> {
    const deadline = new AbortController();
    await Promise.race([
      ended,
      sleep(STOP_DEADLINE_MS, undefined, { signal: deadline.signal }).then(
        () => this.judge.complain(`the operator has not stopped after ${STOP_DEADLINE_MS} ms`),
        () => undefined,
      ),
    ]);
    deadline.abort();
  }

  #fail({ at, how, fraction, times }: Extract<Command, { do: 'fail' }>): void {
    this.#at(at).faults.refuse({ failure: FAILURES[how], match: MATCHES[how] ?? isAny, fraction, times });
  }

  #log(): Logger {
    const at = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) => {
      this.logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
    };
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }
}

const PROBE = { path: '/ready', port: '4191', period: '50ms', timeout: '5s', failureThreshold: '2' };

const isAny: RequestMatcher = () => true;
const isWrite: RequestMatcher = ({ verb }) => verb !== 'get' && verb !== 'list' && verb !== 'watch';

/** A list may take half a minute, which is no time for a history. */
const isNoList: RequestMatcher = ({ verb }) => verb !== 'list';
const MATCHES: Partial<Record<Failing, RequestMatcher>> = { '409': isWrite, 'hang after': isNoList };

const FAILURES: Readonly<Record<Failing, Failure>> = {
  '409': { kind: 'status', code: 409 },
  '429': { kind: 'status', code: 429, retryAfterSeconds: 1 },
  '503': { kind: 'status', code: 503 },
  'drop before': { kind: 'drop', effect: 'before' },
  'drop after': { kind: 'drop', effect: 'after' },
  'hang after': { kind: 'hang', effect: 'after' },
};

const specOf = (spec: Readonly<Record<string, unknown>>, edit: LinkEdit): object => {
  switch (edit.field) {
    case 'selector':
      return { selector: SELECTORS[edit.value] };
    case 'remoteDiscoverySelector':
      return { remoteDiscoverySelector: edit.value === 'empty' ? {} : FLAT_SELECTOR };
    case 'probe':
      return { probeSpec: edit.value ? PROBE : undefined };
    case 'period':
      return spec['probeSpec'] === undefined ? {} : { probeSpec: { ...PROBE, period: edit.value } };
    case 'excluded':
      return { excludedAnnotations: edit.value ? ['excluded.io/*'] : undefined };
    default:
      return { [edit.field]: edit.value };
  }
};
