/**
 * Random histories of writes by two field managers, made on the simulated API server and on the real one side by side:
 * every answer must be the same, but for what each server makes up itself. This is where the two are found to differ;
 * what a difference teaches then gets a sentence in conformance.test.ts.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onReal } from '../on-each-backing.ts';
import { type Answer, type Api, api, installCrd } from '../workload/index.ts';
import { startReal } from '../real/real.ts';
import type { TestCluster } from '../types.ts';
import { startSimulated } from '../simulated/start.ts';

/** More of them, and others: LINKSPAN_TEST_HISTORIES and LINKSPAN_TEST_SEED. */
const HISTORIES = Number(process.env['LINKSPAN_TEST_HISTORIES'] ?? 60);
const SEED = Number(process.env['LINKSPAN_TEST_SEED'] ?? 1);
const STEPS = 8;

/** Mulberry32: from 0 up to 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

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
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', minimum: 1 },
                  colour: { type: 'string', enum: ['red', 'green'] },
                  unit: { type: 'string', default: 'mm' },
                  tags: { type: 'object', additionalProperties: { type: 'string' } },
                  selector: {
                    type: 'object',
                    'x-kubernetes-map-type': 'atomic',
                    properties: {
                      matchLabels: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                      matchExpressions: { type: 'array', items: { type: 'string' } },
                    },
                  },
                  list: { type: 'array', items: { type: 'string' } },
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
      },
    ],
  },
};

interface Body {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly status?: object;
}

/** Random objects of the kinds the operator reads and writes. */
class Generator {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!;
  }

  /** At least one: what an empty map that is applied owns is nothing anyone relies on. */
  some<T>(items: readonly T[]): readonly T[] {
    const chosen = items.filter(() => this.chance(0.5));
    return chosen.length > 0 ? chosen : items.slice(0, 1);
  }

  maybe(field: string, value: unknown): object {
    return this.chance(0.6) ? { [field]: value } : {};
  }

  map(...keys: readonly string[]): object {
    return Object.fromEntries(this.some(keys).map((key) => [key, this.pick(['1', '2'])]));
  }

  metadata(name: string): Readonly<Record<string, unknown>> {
    return {
      name,
      namespace: 'default',
      ...this.maybe('labels', this.map('a', 'b', 'c')),
      ...this.maybe('annotations', this.map('x/a', 'y')),
    };
  }

  readonly kinds: Readonly<Record<string, { readonly path: string; readonly make: (name: string) => Body }>> = {
    cm: {
      path: '/api/v1/namespaces/default/configmaps',
      make: (name) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: this.metadata(name),
        ...this.maybe('data', this.map('k', 'l', 'm')),
      }),
    },
    svc: {
      path: '/api/v1/namespaces/default/services',
      make: (name) => ({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: this.metadata(name),
        spec: {
          ports: [
            { name: 'base', port: 1 },
            ...this.some([80, 81, 82]).map((port) => ({
              name: this.pick([`p${port}`, `q${port}`]),
              port,
              ...this.maybe('protocol', 'TCP'),
              ...this.maybe('targetPort', this.pick([8080, 'web'])),
              ...this.maybe('appProtocol', 'http'),
            })),
          ],
          ...this.maybe('selector', this.map('s', 't')),
          ...this.maybe('publishNotReadyAddresses', true),
          ...this.maybe('sessionAffinity', this.pick(['None', 'ClientIP'])),
        },
      }),
    },
    ep: {
      path: '/api/v1/namespaces/default/endpoints',
      make: (name) => ({
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: this.metadata(name),
        ...this.maybe('subsets', [
          {
            ...this.maybe(
              'addresses',
              this.some([1, 2, 3]).map((last) => ({ ip: `192.0.2.${last}`, ...this.maybe('hostname', `h${last}`) })),
            ),
            notReadyAddresses: [{ ip: '192.0.2.9' }],
            ports: [{ name: 'a', port: 80 }, ...(this.chance(0.5) ? [{ name: 'b', port: 81, protocol: 'TCP' }] : [])],
          },
        ]),
      }),
    },
    slice: {
      path: '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
      make: (name) => ({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: this.metadata(name),
        addressType: 'IPv4',
        endpoints: this.some([1, 2, 3]).map((last) => ({
          addresses: [`192.0.2.${last}`],
          ...this.maybe('conditions', { ready: this.chance(0.5) }),
        })),
        ...this.maybe('ports', [{ name: 'a', port: 80 }]),
      }),
    },
    lease: {
      path: '/apis/coordination.k8s.io/v1/namespaces/default/leases',
      make: (name) => ({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: this.metadata(name),
        spec: { holderIdentity: this.pick(['a', 'b']), ...this.maybe('leaseDurationSeconds', 15) },
      }),
    },
    widget: {
      path: '/apis/linkspan.test/v1/namespaces/default/widgets',
      make: (name) => ({
        apiVersion: 'linkspan.test/v1',
        kind: 'Widget',
        metadata: this.metadata(name),
        spec: {
          size: this.pick([1, 2]),
          ...this.maybe('tags', this.map('a', 'b')),
          ...this.maybe('selector', {
            ...this.maybe('matchLabels', this.map('a', 'b')),
            ...this.maybe('matchExpressions', this.some(['a', 'b'])),
          }),
          ...this.maybe('colour', 'red'),
          ...this.maybe('free', { any: this.pick([1, 2]) }),
          ...this.maybe('list', this.some(['a', 'b'])),
          ...(this.chance(0.2) ? { unknown: 1 } : {}),
        },
        ...this.maybe('status', {
          phase: this.pick(['x', 'y']),
          ...this.maybe(
            'conditions',
            this.some(['A', 'B']).map((type) => ({ type, status: this.pick(['True', 'False']) })),
          ),
        }),
      }),
    },
  };
}

const OPERATIONS = [
  'apply',
  'apply',
  'apply',
  'forced apply',
  'forced apply',
  'merge',
  'replace',
  'create',
  'status',
  'apply status',
  'delete',
] as const;

interface Step {
  readonly operation: (typeof OPERATIONS)[number];
  readonly fieldManager: string;
  readonly body: Body;
}

async function take(
  client: Api,
  path: string,
  name: string,
  { operation, fieldManager, body }: Step,
): Promise<Answer<unknown>> {
  const query = { fieldManager };
  const apply = { contentType: 'application/apply-patch+yaml' };
  const merge = { contentType: 'application/merge-patch+json' };
  const object = `${path}/${name}`;
  const live = (await client.request<Body>('GET', object)).body;
  switch (operation) {
    case 'apply':
      return client.request('PATCH', object, { body, query, ...apply });
    case 'forced apply':
      return client.request('PATCH', object, { body, query: { ...query, force: true }, ...apply });
    case 'merge':
      return client.request('PATCH', object, { body, query, ...merge });
    case 'replace': {
      const { resourceVersion } = live.metadata;
      return client.request('PUT', object, {
        body: { ...body, metadata: { ...body.metadata, resourceVersion } },
        query,
      });
    }
    case 'create':
      return client.request('POST', path, { body, query });
    case 'status':
      return client.request('PATCH', `${object}/status`, {
        body: { metadata: body.metadata, status: body.status ?? {} },
        query,
        ...merge,
      });
    case 'apply status': {
      // A status applied to what does not exist is refused, but in words that depend on the kind.
      if (live.metadata.name === undefined) return { code: 0, body: {} };
      const { apiVersion, kind, metadata, status = {} } = body;
      return client.request('PATCH', `${object}/status`, {
        body: { apiVersion, kind, metadata, status },
        query: { ...query, force: true },
        ...apply,
      });
    }
    case 'delete':
      return client.request('DELETE', object);
  }
}

/** What each server makes up itself, and what has no order. */
const MADE_UP = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'time']);
const UNORDERED = new Set(['managedFields', 'causes']);

function comparable(value: unknown, field = ''): unknown {
  if (typeof value === 'string')
    return value.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UID').replace(/10\.96\.\d+\.\d+/g, 'IP');
  if (Array.isArray(value)) {
    const items = value.map((item) => comparable(item));
    return UNORDERED.has(field) ? items.map((item) => JSON.stringify(item)).toSorted() : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => !MADE_UP.has(name));
  return Object.fromEntries(
    fields.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, item]) => [name, comparable(item, name)]),
  );
}

onReal('the simulated API server', () => {
  let clusters: readonly TestCluster[];
  let clients: readonly Api[];

  beforeAll(async () => {
    clusters = await Promise.all([startSimulated({ name: 'simulated' }), startReal({ name: 'real' })]);
    clients = clusters.map((cluster) => api(cluster, { userAgent: 'differential/1.0' }));
    for (const cluster of clusters) await installCrd(cluster, widgets);
  });

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(clusters.map((cluster) => cluster.stop()));
  });

  it(
    `answers random histories as the real one does (${HISTORIES} histories, seed ${SEED})`,
    async () => {
      const generator = new Generator(randomFrom(SEED));
      for (let history = 0; history < HISTORIES; history++) {
        const [kind, { path, make }] = generator.pick(Object.entries(generator.kinds));
        const name = `${kind}-${history}`;
        const steps: Step[] = [];
        for (let count = 0; count < STEPS; count++) {
          const step: Step = {
            operation: generator.pick(OPERATIONS),
            fieldManager: generator.pick(['one', 'two']),
            body: make(name),
          };
          steps.push(step);
          const [simulated, real] = await Promise.all(clients.map((client) => take(client, path, name, step)));
          expect(comparable(simulated), steps.map((taken) => JSON.stringify(taken)).join('\n')).toEqual(
            comparable(real),
          );
        }
      }
    },
    60_000 + HISTORIES * 1_000,
  );
});
