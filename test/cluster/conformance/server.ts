/**
 * What every suite of conformance is made of: a server with a namespace and a custom resource, and the requests that the
 * suites make. The simulated API server is held to the real one: every expectation is what kube-apiserver does, and is held
 * against both. Whatever the operator relies on belongs here; where the two differ, the simulation is wrong.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import { borrowCluster, startCluster, type StartOptions, type TestCluster } from '../index.ts';
import { onBothBackings } from '../on-each-backing.ts';
import { type Answer, type Api, api, eventually, installCrd, type WatchEvent } from '../workload/index.ts';

export interface Status {
  readonly kind: string;
  readonly reason?: string;
  readonly message: string;
  readonly code: number;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly group?: string;
    readonly causes?: readonly { readonly reason: string; readonly message: string; readonly field?: string }[];
    readonly retryAfterSeconds?: number;
  };
  readonly metadata: { readonly continue?: string };
}

/** Anything the server answers with; tests name the fields they read. */
export interface Any {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly managedFields?: readonly {
      readonly manager: string;
      readonly operation: string;
      readonly subresource?: string;
      readonly fieldsV1: unknown;
    }[];
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly items: readonly Any[];
}

export const APPLY = 'application/apply-patch+yaml';
export const MERGE = 'application/merge-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';

const widgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.linkspan.test' },
  spec: {
    group: 'linkspan.test',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: false,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
        subresources: { status: {} },
      },
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1 },
                  colour: { type: 'string', enum: ['red', 'green'] },
                  code: { type: 'string', pattern: '^[a-z]+$' },
                  unit: { type: 'string', default: 'mm' },
                  tags: { type: 'object', additionalProperties: { type: 'string' } },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
              status: {
                type: 'object',
                properties: {
                  phase: { type: 'string' },
                  conditions: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                    items: {
                      type: 'object',
                      required: ['type'],
                      properties: { type: { type: 'string' }, status: { type: 'string' } },
                    },
                  },
                },
              },
            },
          },
        },
        subresources: { status: {} },
      },
    ],
  },
};

/** A server, and the requests that suites make of it. */
export type Server = ReturnType<typeof serverOf>;

/** A suite that holds on every server; one that is started for it alone if it needs more than a borrowed one has. */
export const onEachServer = (
  title: string,
  suite: (server: Server) => void,
  options?: Omit<StartOptions, 'name'>,
): void => {
  onBothBackings(title, (backing) => {
    const server = serverOf(() =>
      options === undefined
        ? borrowCluster(backing, 'east')
        : startCluster({ name: 'conformance', backing, ...options }),
    );
    beforeAll(() => server.start());
    afterAll(() => server.stop());
    suite(server);
  });
};

const serverOf = (startIt: () => Promise<TestCluster>) => {
  let cluster: TestCluster;
  let client: Api;
  const namespace = `c-${randomUUID().slice(0, 8)}`;
  let counter = 0;

  const start = async (): Promise<void> => {
    cluster = await startIt();
    client = api(cluster, { userAgent: 'conformance/1.0' });
    expect((await client.request('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } })).code).toBe(
      201,
    );
    await installCrd(cluster, widgets);
  };
  const stop = async (): Promise<void> => {
    await client.close();
    await cluster.stop();
  };

  const unique = (prefix = 'x'): string => `${prefix}-${++counter}`;
  const core = (plural: string, name?: string): string =>
    `/api/v1/namespaces/${namespace}/${plural}${name === undefined ? '' : `/${name}`}`;
  const group = (groupVersion: string, plural: string, name?: string): string =>
    `/apis/${groupVersion}/namespaces/${namespace}/${plural}${name === undefined ? '' : `/${name}`}`;
  const get = async (path: string): Promise<Any> => (await client.request<Any>('GET', path)).body;
  const post = <T = Any>(path: string, body: object, query = {}): Promise<Answer<T>> =>
    client.request<T>('POST', path, { body, query });
  const put = <T = Any>(path: string, body: object, query = {}): Promise<Answer<T>> =>
    client.request<T>('PUT', path, { body, query });
  const patch = <T = Any>(path: string, body: object, contentType = MERGE, query = {}): Promise<Answer<T>> =>
    client.request<T>('PATCH', path, { body, contentType, query });
  const remove = <T = Status>(path: string, body: object = {}): Promise<Answer<T>> =>
    client.request<T>('DELETE', path, { body: { kind: 'DeleteOptions', apiVersion: 'v1', ...body } });
  const apply = <T = Any>(path: string, body: object, fieldManager = 'one', force = false): Promise<Answer<T>> =>
    client.request<T>('PATCH', path, { body, contentType: APPLY, query: { fieldManager, force } });

  const configMap = (name: string, data: object, metadata: object = {}): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, ...metadata },
    data,
  });
  const service = (name: string, spec: object = {}, metadata: object = {}): object => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, ...metadata },
    spec: { ports: [{ name: 'http', port: 80 }], ...spec },
  });
  const widget = (name: string, spec: object, more: object = {}, version = 'v1'): object => ({
    apiVersion: `linkspan.test/${version}`,
    kind: 'Widget',
    metadata: { name, namespace },
    spec,
    ...more,
  });
  const owners = ({ metadata }: Any): readonly string[] =>
    (metadata.managedFields ?? []).map(({ manager, operation, subresource }) =>
      [manager, operation, ...(subresource === undefined ? [] : [subresource])].join('/'),
    );
  const fieldsOf = ({ metadata }: Any, manager: string): unknown =>
    metadata.managedFields?.find((entry) => entry.manager === manager)?.fieldsV1;

  /** Collects the events of a watch until `count` have come. */
  const watch = async (
    path: { readonly kind: string; readonly labelSelector?: string },
    query: Record<string, string | number | boolean>,
    count: number,
    during: () => Promise<unknown> = async () => undefined,
  ): Promise<readonly WatchEvent<Any & Status>[]> => {
    const controller = new AbortController();
    const events: WatchEvent<Any & Status>[] = [];
    const reading = (async () => {
      for await (const event of client.watch<Any & Status>(
        { apiVersion: 'v1', namespace, ...path },
        query,
        controller.signal,
      )) {
        events.push(event);
        if (events.length === count) break;
      }
    })();
    await during();
    await Promise.race([reading, eventually('the events of the watch', async () => events.length >= count, 10_000)]);
    controller.abort();
    await reading.catch(() => undefined);
    return events;
  };
  const seen = (events: readonly WatchEvent<Any>[]): readonly string[] =>
    events.map(({ type, object }) => `${type} ${object.metadata.name}`);
  const versionNow = async (): Promise<string> => (await get(core('configmaps'))).metadata.resourceVersion;

  return {
    start,
    stop,
    namespace,
    get cluster() {
      return cluster;
    },
    get client() {
      return client;
    },
    unique,
    core,
    group,
    get,
    post,
    put,
    patch,
    remove,
    apply,
    configMap,
    service,
    widget,
    owners,
    fieldsOf,
    watch,
    seen,
    versionNow,
  };
};
