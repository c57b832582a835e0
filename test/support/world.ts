/**
 * Two clusters as in the guides, east (source) and west (target), a gateway, and the operator between them, in this
 * process. The same on both backings; a test says what it does to the clusters, and what must become of it.
 */
import { linkCrd } from '../../crds/index.ts';
import { parseOperatorConfig } from '../../operator/config/config.ts';
import type { FlagValues } from '../../operator/config/flags.ts';
import type { Logger } from '../../operator/runtime/logger.ts';
import { runOperator } from '../../operator/main.ts';
import type { Manager } from '../../operator/link/manager.ts';
import type { Tuning } from '../../operator/config/tuning.ts';
import { type Backing, borrowCluster, startCluster, type StartOptions, type TestCluster } from '../cluster/index.ts';
import { api, type Api, eventually, installCrd, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { credentials, link, namespace } from './builders.ts';
import { TestGateway } from './gateway.ts';

export const LINKS_NAMESPACE = 'linkerd-multicluster';

/** Periods for tests that cannot wait; what they prove does not depend on them. */
export const FAST: Tuning = {
  sourceTimings: { idleTimeoutMs: 20_000, backoff: { baseMs: 50, capMs: 500 } },
  targetTimings: { idleTimeoutMs: 20_000, backoff: { baseMs: 50, capMs: 500 } },
  retryBackoff: { baseMs: 20, capMs: 1_000 },
  conflictRetryMs: 500,
  requestTimeoutMs: 5_000,
  statusPeriodMs: 200,
  labelCopyMs: 0,
};

/** Flags for Leases that a busy machine does not lose: for all tests but those of Leases. */
export const LASTING_LEASE = { leaseDuration: '30s', renewDeadline: '20s', retryPeriod: '200ms' };

export interface WorldOptions {
  readonly backing: Backing;
  /** What east is started with, for one that other suites do not share. @default a shared one */
  readonly east?: Partial<StartOptions>;
  /** The same of west. */
  readonly west?: Partial<StartOptions>;
  /** Namespaces made in both clusters. @default shop */
  readonly namespaces?: readonly string[];
  /** Put in place of our Link CRD. */
  readonly crd?: ObjectRef;
}

export interface OperatorOptions {
  /** As commander hands them over: camelCase. */
  readonly flags?: FlagValues;
  readonly tuning?: Tuning;
  readonly kubeconfigFile?: string;
  readonly log?: Logger;
}

/** What an operator logged. */
export interface LogLine {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export class TestOperator {
  readonly lines: LogLine[] = [];
  manager: Manager | undefined;
  admin: { readonly host: string; readonly port: number } | undefined;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(kubeconfig: string, gateway: TestGateway, { flags = {}, tuning = {}, log }: OperatorOptions) {
    const parsed = parseOperatorConfig(
      {
        kubeconfig,
        adminAddress: '127.0.0.1:0',
        identity: 'linkspan-0',
        enableHeadlessServices: true,
        probeConnectTo: [`probe-west.${LINKS_NAMESPACE}.svc=127.0.0.1:${gateway.address.port}`],
        leaseDuration: '2s',
        renewDeadline: '1500ms',
        retryPeriod: '100ms',
        ...flags,
      },
      {},
    );
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
    this.#running = runOperator({
      config: parsed.value,
      log: log ?? recorder(this.lines),
      signal: this.#stop.signal,
      tuning: { ...FAST, ...tuning },
      onListening: (address) => (this.admin = address),
      onLeading: (manager) => (this.manager = manager),
    }).catch((error: unknown) => error);
  }

  /** Stops as SIGTERM does. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the test stops the operator'));
    await this.#running;
  }

  /** What the process ended with; undefined for a clean end. */
  ended(): Promise<unknown> {
    return this.#running;
  }
}

const recorder = (lines: LogLine[]): Logger => {
  const at = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) => {
    lines.push({ level, fields, message });
    if (process.env['LINKSPAN_TEST_LOG'] !== undefined) console.error(level, message, JSON.stringify(fields));
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } as Logger;
};

export class World {
  readonly backing: Backing;
  readonly eastCluster: TestCluster;
  readonly westCluster: TestCluster;
  readonly east: Api;
  readonly west: Api;
  readonly gateway: TestGateway;
  readonly #operators = new Set<TestOperator>();

  private constructor(east: TestCluster, west: TestCluster, gateway: TestGateway) {
    this.backing = east.backing;
    this.eastCluster = east;
    this.westCluster = west;
    this.east = api(east);
    this.west = api(west);
    this.gateway = gateway;
  }

  /** Both clusters up, with namespaces, the Link CRD and a gateway that is alive; no Link and no operator yet. */
  static async start({ backing, east, west, namespaces = ['shop'], crd }: WorldOptions): Promise<World> {
    const cluster = (name: string, options: Partial<StartOptions> | undefined): Promise<TestCluster> =>
      options === undefined ? borrowCluster(backing, name) : startCluster({ backing, name, ...options });
    const [eastCluster, westCluster] = await Promise.all([cluster('east', east), cluster('west', west)]);
    const gateway = new TestGateway();
    await gateway.revive();
    const world = new World(eastCluster, westCluster, gateway);
    await Promise.all([
      installCrd(eastCluster, crd ?? (linkCrd as unknown as ObjectRef)),
      ...[LINKS_NAMESPACE, ...namespaces].map((name) => world.east.apply(namespace(name))),
      ...namespaces.map((name) => world.west.apply(namespace(name))),
    ]);
    return world;
  }

  /** Applies the Link to west and its credentials. */
  async link(spec: object = {}): Promise<void> {
    await this.east.apply(credentials('west', this.westCluster.kubeconfig));
    await this.east.apply(link('west', spec));
  }

  operator(options: OperatorOptions = {}): TestOperator {
    const operator = new TestOperator(options.kubeconfigFile ?? this.eastCluster.kubeconfigFile, this.gateway, options);
    this.#operators.add(operator);
    return operator;
  }

  /** An object of the source cluster, or undefined. */
  async get<T = KubeObject>(kind: string, name: string, within = 'shop'): Promise<T | undefined> {
    return this.east.get<T>({ apiVersion: VERSIONS[kind] ?? 'v1', kind, metadata: { name, namespace: within } });
  }

  /** The IPs of an Endpoints object, `!` before those that are not ready; undefined if there is no such object. */
  async addresses(name: string, within = 'shop'): Promise<readonly string[] | undefined> {
    const found = await this.get<EndpointsObject>('Endpoints', name, within);
    return found?.subsets === undefined && found !== undefined
      ? []
      : found?.subsets?.flatMap((subset) => [
          ...(subset.addresses ?? []).map(({ ip }) => ip),
          ...(subset.notReadyAddresses ?? []).map(({ ip }) => `!${ip}`),
        ]);
  }

  /** The Link's condition of a type. */
  async condition(type: string, name = 'west'): Promise<LinkCondition | undefined> {
    const found = await this.get<LinkObject>('Link', name, LINKS_NAMESPACE);
    return found?.status?.conditions?.find((condition) => condition.type === type);
  }

  /** The status entry of a target Service. */
  async mirrorCondition(name: string, within = 'shop'): Promise<LinkCondition | undefined> {
    const found = await this.get<LinkObject>('Link', 'west', LINKS_NAMESPACE);
    return found?.status?.mirrorServices?.find(
      ({ remoteRef }) => remoteRef.name === name && remoteRef.namespace === within,
    )?.conditions[0];
  }

  /** Waits until the Link is Ready: listed, caught up, gateway alive. */
  async ready(): Promise<void> {
    await eventually('the Link is Ready', async () => (await this.condition('Ready'))?.status === 'True');
  }

  /** Requests that changed anything but Leases in the source cluster, since the audit was cleared. */
  async writes(): Promise<readonly string[]> {
    const entries = await this.eastCluster.audit();
    return entries
      .filter(({ verb, userAgent }) => WRITES.has(verb) && userAgent.startsWith('linkspan-operator'))
      .filter(({ resource }) => resource !== 'leases' && resource !== 'events')
      .map(({ verb, resource, subresource, namespace: within, name, code }) =>
        [
          verb,
          `${resource}${subresource === undefined ? '' : `/${subresource}`}`,
          `${within ?? ''}/${name ?? ''}`,
          code,
        ].join(' '),
      );
  }

  async stopOperators(): Promise<void> {
    await Promise.all([...this.#operators].map((operator) => operator.stop()));
    this.#operators.clear();
  }

  async stop(): Promise<void> {
    await this.stopOperators();
    await Promise.all([this.east.close(), this.west.close(), this.gateway.die()]);
    await Promise.all([this.eastCluster.stop(), this.westCluster.stop()]);
  }
}

const VERSIONS: Readonly<Record<string, string>> = {
  Link: 'multicluster.linkerd.io/v1alpha3',
  EndpointSlice: 'discovery.k8s.io/v1',
  Lease: 'coordination.k8s.io/v1',
  StatefulSet: 'apps/v1',
};

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

export interface EndpointsObject extends KubeObject {
  readonly subsets?: readonly {
    readonly addresses?: readonly { readonly ip: string; readonly hostname?: string }[];
    readonly notReadyAddresses?: readonly { readonly ip: string; readonly hostname?: string }[];
    readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
  }[];
}

export interface ServiceObject extends KubeObject {
  readonly spec: {
    readonly type: string;
    readonly clusterIP: string;
    readonly ports: readonly {
      readonly name?: string;
      readonly port: number;
      readonly targetPort?: number | string;
      readonly protocol?: string;
      readonly appProtocol?: string;
    }[];
  };
}

export interface LinkCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

export interface LinkObject extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly LinkCondition[];
    readonly mirrors?: { readonly total: number; readonly ready: number; readonly failed: number };
    readonly gateway?: { readonly addresses?: readonly string[]; readonly alive?: boolean };
    readonly mirrorServices?: readonly {
      readonly remoteRef: { readonly name: string; readonly namespace: string };
      readonly conditions: readonly LinkCondition[];
    }[];
  };
}
