/**
 * What kubectl does, without kubectl: the same requests, and what it prints about the answers. Each method prints the
 * command that a user would type. A `get` waits until there is what it is meant to show, and prints that.
 */
import { dumpYaml } from '@kubernetes/client-node';
import { Agent, request } from 'undici';
import { FailoverApi, RouteApi } from '../../crds/wire.ts';
import type { TestCluster } from '../../test/cluster/index.ts';
import {
  type Api,
  api,
  type Collection,
  collectionPath,
  type KubeObject,
  type ObjectRef,
} from '../../test/cluster/workload/index.ts';
import { layOut, type Row, rowsOf, type ServerTable, TABLE_TYPE } from './table.ts';
import type { Terminal } from './terminal.ts';
import { until } from './until.ts';

const RESOURCES = {
  pods: { apiVersion: 'v1', kind: 'Pod' },
  services: { apiVersion: 'v1', kind: 'Service' },
  endpoints: { apiVersion: 'v1', kind: 'Endpoints' },
  endpointslices: { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
  links: { apiVersion: 'multicluster.linkerd.io/v1alpha3', kind: 'Link' },
  servicefailovers: { apiVersion: FailoverApi.apiVersion, kind: FailoverApi.kind },
  httproute: { apiVersion: RouteApi.HTTPRoute, kind: 'HTTPRoute' },
} as const;

export type ResourceName = keyof typeof RESOURCES;

const NAMESPACE = 'default';

/** Which objects, and what must be so before they are printed. */
export interface GetOptions<T> {
  readonly namespace?: string;
  readonly selector?: string;
  /** What is waited for, in words. */
  readonly what: string;
  readonly holds: (state: T) => boolean;
}

/** kubectl with `--context`. */
export class Kubectl {
  readonly context: string;
  readonly #cluster: TestCluster;
  readonly #api: Api;
  readonly #agent: Agent;
  readonly #terminal: Terminal;
  readonly #signal: AbortSignal;

  /** @param signal ends every wait */
  constructor(cluster: TestCluster, terminal: Terminal, signal: AbortSignal) {
    this.context = cluster.name;
    this.#cluster = cluster;
    this.#api = api(cluster, { userAgent: 'linkspan-demo' });
    this.#agent = new Agent({ connect: { ca: Buffer.from(cluster.caData, 'base64').toString() } });
    this.#terminal = terminal;
    this.#signal = signal;
  }

  /** `get RESOURCE`: the rows that were printed. */
  async get(resource: ResourceName, options: GetOptions<readonly Row[]>): Promise<readonly Row[]> {
    const { namespace = NAMESPACE, selector, what, holds } = options;
    const collection = {
      ...RESOURCES[resource],
      namespace,
      ...(selector !== undefined && { labelSelector: selector }),
    };
    const lines = (rows: readonly Row[]): readonly string[] =>
      rows.length === 0 ? [`No resources found in ${namespace} namespace.`] : layOut(rows);
    this.#typed(`${inNamespace(namespace)}get ${resource}${selector === undefined ? '' : ` -l ${selector}`}`);
    const rows = await until({
      what,
      read: async () => rowsOf(await this.#table(collection)),
      holds,
      show: (seen) => lines(seen).join('\n'),
      signal: this.#signal,
    });
    this.#terminal.print(...lines(rows));
    return rows;
  }

  /** `get endpoints NAME -o yaml`; only the subsets are printed. */
  async getSubsets(name: string, options: GetOptions<Endpoints>): Promise<void> {
    await this.#getYaml('endpoints', name, 'subsets', options);
  }

  /** `get httproute NAME -o yaml`; only the spec is printed. */
  async getRoute(name: string, options: GetOptions<HttpRoute>): Promise<void> {
    await this.#getYaml('httproute', name, 'spec', options);
  }

  /**
   * `get RESOURCE -o custom-columns=…`, by heading and path, as in `.spec.rules[0].backendRefs[*].name`: of one object by
   * its name, else of those that the selector selects.
   */
  async getColumns(
    resource: ResourceName,
    columns: Readonly<Record<string, string>>,
    { name, namespace = NAMESPACE, selector, what, holds }: GetOptions<readonly Row[]> & { readonly name?: string },
  ): Promise<void> {
    const spec = Object.entries(columns).map(([heading, path]) => `${heading}:${path}`);
    const which = `${name === undefined ? '' : ` ${name}`}${selector === undefined ? '' : ` -l ${selector}`}`;
    this.#typed(`${inNamespace(namespace)}get ${resource}${which} -o custom-columns='${spec.join()}'`);
    const rowOf = (object: KubeObject): Row =>
      Object.fromEntries(Object.entries(columns).map(([heading, path]) => [heading, textAt(object, path)]));
    const rows = await until({
      what,
      read: async () => {
        const labelSelector = selector !== undefined && { labelSelector: selector };
        const found = await this.#api.list({ ...RESOURCES[resource], namespace, ...labelSelector });
        return found.filter(({ metadata }) => name === undefined || metadata.name === name).map(rowOf);
      },
      holds,
      show: (seen) => layOut(seen).join('\n'),
      signal: this.#signal,
    });
    this.#terminal.print(...layOut(rows));
  }

  /** `apply --server-side -f`, from a file or from what another command prints. */
  async apply(source: { readonly file: string } | { readonly command: string }, objects: readonly ObjectRef[]) {
    const apply = `kubectl --context=${this.context} apply --server-side -f`;
    this.#terminal.command('file' in source ? `${apply} ${source.file}` : `${source.command} | ${apply} -`);
    for (const { metadata, ...object } of objects) {
      await this.#api.apply(
        { ...object, metadata: { namespace: NAMESPACE, ...metadata } },
        { fieldManager: 'kubectl' },
      );
      this.#terminal.print(`${printedName({ ...object, metadata })} serverside-applied`);
    }
  }

  /** `label service NAME KEY=VALUE`, or `KEY-` to remove it. */
  async label(service: string, key: string, value: string | null): Promise<void> {
    this.#typed(`label service ${service} ${key}${value === null ? '-' : `=${value}`}`);
    const ref = { ...RESOURCES.services, metadata: { name: service, namespace: NAMESPACE } };
    await this.#api.patch(ref, { metadata: { labels: { [key]: value } } }, { fieldManager: 'kubectl-label' });
    this.#terminal.print(`service/${service} ${value === null ? 'unlabeled' : 'labeled'}`);
  }

  /** `scale statefulset NAME --replicas=N`. */
  async scale(statefulSet: string, replicas: number): Promise<void> {
    this.#typed(`scale statefulset ${statefulSet} --replicas=${replicas}`);
    const ref = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: statefulSet, namespace: NAMESPACE } };
    await this.#api.patch(ref, { spec: { replicas } }, { subresource: 'scale', fieldManager: 'kubectl-scale' });
    this.#terminal.print(`statefulset.apps/${statefulSet} scaled`);
  }

  async close(): Promise<void> {
    await Promise.all([this.#api.close(), this.#agent.destroy()]);
  }

  /** `get RESOURCE NAME -o yaml`; only one field is printed. */
  async #getYaml<T extends KubeObject>(
    resource: ResourceName,
    name: string,
    field: keyof T & string,
    { namespace = NAMESPACE, what, holds }: GetOptions<T>,
  ): Promise<void> {
    const show = (object: T | undefined): string =>
      object === undefined
        ? `${RESOURCES[resource].kind} ${name} not found`
        : dumpYaml({ [field]: object[field] }, { seqNoIndent: true, sortKeys: true }).trimEnd();
    this.#typed(`${inNamespace(namespace)}get ${resource} ${name} -o yaml`);
    const object = await until({
      what,
      read: () => this.#api.get<T>({ ...RESOURCES[resource], metadata: { name, namespace } }),
      holds: (seen) => seen !== undefined && holds(seen),
      show,
      signal: this.#signal,
    });
    this.#terminal.print('...', show(object));
  }

  #typed(line: string): void {
    this.#signal.throwIfAborted();
    this.#terminal.command(`kubectl --context=${this.context} ${line}`);
  }

  async #table({ labelSelector, ...collection }: Collection): Promise<ServerTable> {
    const path = collectionPath(collection);
    const { statusCode, body } = await request(`${this.#cluster.server}${path}`, {
      dispatcher: this.#agent,
      headers: { accept: TABLE_TYPE, authorization: `Bearer ${this.#cluster.adminToken}` },
      query: { ...(labelSelector !== undefined && { labelSelector }) },
      signal: this.#signal,
    });
    if (statusCode !== 200) throw new Error(`GET ${path}: ${statusCode} ${await body.text()}`);
    return (await body.json()) as ServerTable;
  }
}

/** v1 Endpoints. */
export interface Endpoints extends KubeObject {
  readonly subsets?: readonly {
    readonly addresses?: readonly { readonly hostname?: string; readonly ip: string }[];
    readonly notReadyAddresses?: readonly { readonly ip: string }[];
  }[];
}

/** What is at a path, joined by commas, as custom columns show it. */
const textAt = (object: unknown, path: string): string => {
  const values = (path.match(/[^.[\]]+/g) ?? []).reduce<readonly unknown[]>(
    (found, step) =>
      found.flatMap((value) => {
        if (typeof value !== 'object' || value === null) return [];
        if (step === '*') return Object.values(value) as unknown[];
        const inner = (value as Readonly<Record<string, unknown>>)[step];
        return inner === undefined ? [] : [inner];
      }),
    [object],
  );
  return values.length === 0 ? '<none>' : values.map(String).join();
};

/** An HTTPRoute. */
export interface HttpRoute extends KubeObject {
  readonly spec: {
    readonly rules: readonly {
      readonly backendRefs: readonly { readonly name: string; readonly weight: number }[];
    }[];
  };
}

const inNamespace = (namespace: string): string => (namespace === NAMESPACE ? '' : `-n ${namespace} `);

/** `statefulset.apps/nginx-set`. */
const printedName = ({ apiVersion, kind, metadata }: ObjectRef): string => {
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]!}` : '';
  return `${kind.toLowerCase()}${group}/${metadata.name}`;
};
