import { expect, it } from 'vitest';
import { ApiError } from '../../../operator/kube/errors.ts';
import { ENDPOINT_SLICES, ENDPOINTS, NAMESPACES, SERVICES } from '../../../operator/kube/objects.ts';
import { MIRROR_TEXTS } from '../../../operator/mirror/goal.ts';
import { type Goal, takeStep } from '../../../operator/runtime/pass.ts';
import type { Outcome } from '../../../operator/runtime/applier.ts';
import type { Action, Desired, Owned } from '../../../operator/runtime/plan.ts';
import { byKind } from '../../support/planned.ts';

it('gives the loop back before each step is planned, as one may be of thousands of pods (E10)', async () => {
  const log: string[] = [];
  const stepOf = (name: string) => ({
    get desired() {
      log.push(name);
      return [];
    },
    owned: [],
  });
  await takeStep(
    { steps: [stepOf('services'), stepOf('endpoints')], isPartial: false, isBlocked: false },
    {
      applier: { execute: () => Promise.reject(new Error('nothing is to be written')) },
      conflictRetryMs: 1,
      texts: MIRROR_TEXTS,
      turns: { isOver: () => true, next: () => Promise.resolve(log.push('turn')).then(() => undefined) },
    },
    new AbortController().signal,
  );
  expect(log).toEqual(['services', 'turn', 'endpoints', 'turn']);
});

const SIGNAL = new AbortController().signal;
const metadata = { name: 'web-west', namespace: 'shop' };

/** A mirror whose endpoints are as the gateway is. */
const mirror = (gateway: 'alive' | 'dead', given: Partial<Goal> = {}): Goal => ({
  steps: [
    { desired: [{ of: SERVICES, object: { metadata } }], owned: [] },
    { desired: [{ of: ENDPOINTS, object: { metadata: { ...metadata, annotations: { gateway } } } }], owned: [] },
  ],
  isPartial: false,
  isBlocked: false,
  ...given,
});

/** Takes a step while the gateway dies, with these requests unanswered; returns what was written. */
const whileItDies = async (goal: Goal, unanswered: (action: Action) => boolean, renewed: () => Promise<Goal>) => {
  const written: unknown[] = [];
  const execute = (action: Action) => {
    if (unanswered(action)) return Promise.reject(new Error('no answer in 10 s'));
    written.push(`${action.of.kind} ${action.object.metadata.annotations?.['gateway'] ?? ''}`.trim());
    return Promise.resolve({ result: 'written', object: action.object } as const);
  };
  const pass = await takeStep(goal, { applier: { execute }, conflictRetryMs: 1, texts: MIRROR_TEXTS, renewed }, SIGNAL);
  return { written, errors: pass.errors.length, again: pass.again };
};

it('writes what follows a request without an answer by what is known then (L104)', async () => {
  const found = await whileItDies(
    mirror('alive'),
    ({ of }) => of === SERVICES,
    () => Promise.resolve(mirror('dead')),
  );
  expect(found).toEqual({ written: ['Endpoints dead'], errors: 1, again: false });
});

it('writes nothing more where something of another sort is decided meanwhile (L104)', async () => {
  const found = await whileItDies(
    mirror('alive'),
    ({ of }) => of === SERVICES,
    () => Promise.resolve({ ...mirror('dead'), steps: [] }),
  );
  expect(found).toEqual({ written: [], errors: 1, again: false });
});

it('writes a mirror by what is known when its namespace was asked for (L104)', async () => {
  const namespaces = [{ of: NAMESPACES, object: { metadata: { name: 'shop' } } }];
  const goal = mirror('alive', { namespaces });
  const later = { ...mirror('dead'), steps: [{ desired: [], owned: [] }, mirror('dead').steps[1]!] };
  const found = await whileItDies(
    goal,
    ({ of }) => of === NAMESPACES,
    () => Promise.resolve(later),
  );
  expect(found.written).toEqual(['Endpoints dead']);
});

const labelled = {
  ...metadata,
  uid: 'u1',
  resourceVersion: '7',
  labels: { 'mirror.linkerd.io/mirrored-service': 'true' },
};
const sliceOf = (service: string, name: string): Owned => ({
  of: ENDPOINT_SLICES,
  object: {
    metadata: { ...labelled, name, labels: { ...labelled.labels, 'kubernetes.io/service-name': service } },
  },
});

/** Takes a step that changes two Services, and needs no slice of them any more; returns which slices were deleted. */
const deletedWhere = async (outcomeOf: (action: Action) => Outcome | Error) => {
  const deleted: string[] = [];
  const names = ['web-west', 'api-west'];
  const goal: Goal = {
    steps: [
      {
        desired: names.map((name) => ({
          of: SERVICES,
          object: { metadata: { ...metadata, name, labels: { a: 'b' } } },
        })),
        owned: byKind(names.map((name) => ({ of: SERVICES, object: { metadata: { ...labelled, name } } }))),
      },
      { desired: [], owned: byKind(names.map((name) => sliceOf(name, `${name}-ipv4`))) },
    ],
    isPartial: false,
    isBlocked: false,
  };
  const execute = (action: Action) => {
    if (action.op === 'delete') deleted.push(action.object.metadata.name);
    const outcome = outcomeOf(action);
    return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
  };
  await takeStep(goal, { applier: { execute }, conflictRetryMs: 1, texts: MIRROR_TEXTS }, SIGNAL);
  return deleted;
};

const isChange = ({ op, object }: Action): boolean => op === 'update' && object.metadata.name === 'web-west';

it.each<[string, Outcome | Error]>([
  ['failed', new Error('503')],
  ['is put off, since somebody changes it again and again', { result: 'deferred', afterMs: 1000 }],
])('keeps the slices of a Service whose change %s, and deletes those of others (L105)', async (_, outcome) => {
  const unchanged = { result: 'unchanged' } as const;
  expect(await deletedWhere((action) => (isChange(action) ? outcome : unchanged))).toEqual(['api-west-ipv4']);
  expect(await deletedWhere(() => unchanged)).toEqual(['web-west-ipv4', 'api-west-ipv4']);
});

const sliceWithPorts = (name: string, port: number): Owned => {
  const { of, object } = sliceOf('web-clusterset', name);
  return { of, object: { ...object, addressType: 'IPv4', endpoints: [], ports: [{ port }] } as typeof object };
};

it.each<[string, Action['op'], Outcome | Error, readonly string[]]>([
  ['could not be changed', 'update', new Error('500'), ['web-clusterset.from-bar-ipv4']],
  ['is contested', 'update', { result: 'deferred', afterMs: 1000 }, ['web-clusterset.from-bar-ipv4']],
  // It may be what is to replace the others, when a cluster is renamed.
  ['could not be created', 'create', new Error('500'), []],
])('deletes slices of a cluster that has left while one of another cluster %s (L178)', async (_, op, outcome, gone) => {
  const deleted: string[] = [];
  const west = 'web-clusterset.from-west-ipv4';
  // Pods of one cluster may come from one of its slices to another, also where these are copies of its own.
  const ofWest = ['web-clusterset.from-west-ipv4-2', 'web-clusterset.from-west.web-f6547'];
  const left = ['web-clusterset.from-bar-ipv4', ...ofWest].map((name) => sliceWithPorts(name, 80));
  const goal: Goal = {
    steps: [
      {
        desired: [sliceWithPorts(west, 8080)],
        owned: byKind([...(op === 'update' ? [sliceWithPorts(west, 80)] : []), ...left]),
      },
    ],
    isPartial: false,
    isBlocked: false,
  };
  const execute = (action: Action): Promise<Outcome> => {
    if (action.op === 'delete') deleted.push(action.object.metadata.name);
    if (action.op !== op) return Promise.resolve({ result: 'deleted' } as const);
    return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
  };
  await takeStep(goal, { applier: { execute }, conflictRetryMs: 1, texts: MIRROR_TEXTS }, SIGNAL);
  // What is left of the cluster whose slice was not written waits for it.
  expect(deleted).toEqual(gone);
});

const keeping = (name: string): Desired => ({ of: SERVICES, object: { metadata: { ...metadata, name } } });

/** Services web-0 and web-1, of which the given ones stay; web-0 is to be changed. */
const pods = (names: readonly string[], given: Partial<Goal> = {}): Goal => ({
  steps: [
    {
      desired: names.map((name) =>
        name === 'web-0'
          ? { of: SERVICES, object: { metadata: { ...metadata, name, labels: { a: 'b' } } } }
          : keeping(name),
      ),
      owned: byKind(['web-0', 'web-1'].map((name) => ({ of: SERVICES, object: { metadata: { ...labelled, name } } }))),
    },
  ],
  isPartial: false,
  isBlocked: false,
  ...given,
});

it.each<[string, Goal, Goal, readonly string[]]>([
  ['what has come back since', pods(['web-0']), pods(['web-0', 'web-1']), []],
  ['what is held since', pods(['web-0']), pods(['web-0'], { retain: () => true }), []],
  ['what was to stay when the pass began', pods(['web-0', 'web-1']), pods(['web-0']), []],
  ['what was held when the pass began', pods(['web-0'], { retain: () => true }), pods(['web-0']), []],
  ['nothing that is still undesired', pods(['web-0']), pods(['web-0']), ['web-1']],
])('keeps %s, when a request has failed in between (L119)', async (_, begun, now, expected) => {
  const deleted: string[] = [];
  const execute = ({ op, object }: Action) => {
    if (op !== 'delete') return Promise.reject(new Error('no answer in 10 s'));
    deleted.push(object.metadata.name);
    return Promise.resolve({ result: 'deleted' } as const);
  };
  const renewed = () => Promise.resolve(now);
  await takeStep(begun, { applier: { execute }, conflictRetryMs: 1, texts: MIRROR_TEXTS, renewed }, SIGNAL);
  expect(deleted).toEqual(expected);
});

it('keeps what could not be replaced up to date by what is known then (L119)', async () => {
  const headless = { metadata, spec: { clusterIP: 'None' } };
  const live = { metadata: labelled, spec: { clusterIP: '10.96.0.1' } };
  const replacing = (gateway: 'alive' | 'dead'): Goal => ({
    steps: [{ desired: [{ of: SERVICES, object: headless }], owned: byKind([{ of: SERVICES, object: live }]) }],
    isPartial: false,
    isBlocked: false,
    unreplaced: () => Promise.resolve({ ...mirror(gateway), steps: mirror(gateway).steps.slice(1) }),
  });
  const found = await whileItDies(
    replacing('alive'),
    ({ op }) => op === 'replace',
    () => Promise.resolve(replacing('dead')),
  );
  expect(found.written).toEqual(['Endpoints dead']);
});

it.each<[string, Error, readonly string[]]>([
  ['stays while its successor is refused, which no other does', new ApiError(403, {}, 'apply'), ['db-1-read-west']],
  [
    'goes where another has the name of its successor',
    new ApiError(409, {}, 'apply'),
    ['db-0-read-west', 'db-1-read-west'],
  ],
])('what has a former name %s (A7, L120)', async (_, failure, expected) => {
  const deleted: string[] = [];
  const ofPod = (name: string, pod: string) => ({
    metadata: {
      ...labelled,
      name,
      annotations: { 'mirror.linkerd.io/remote-svc-fq-name': `${pod}.read.shop.svc.cluster.local` },
    },
  });
  const endpoints = (name: string): Owned => ({ of: ENDPOINTS, object: { metadata: { ...labelled, name } } });
  const former = ['db-0', 'db-1'].map((pod) => ({ of: SERVICES, object: ofPod(`${pod}-read-west`, pod) }));
  const goal: Goal = {
    steps: [
      { desired: [{ of: SERVICES, object: ofPod('db-0-west', 'db-0') }], owned: byKind(former) },
      { desired: [], owned: byKind(['db-0-read-west', 'db-1-read-west'].map(endpoints)) },
    ],
    isPartial: false,
    isBlocked: false,
  };
  const execute = ({ op, of, object }: Action) => {
    if (op !== 'delete') return Promise.reject(failure);
    deleted.push(`${of.kind} ${object.metadata.name}`);
    return Promise.resolve({ result: 'deleted' } as const);
  };
  await takeStep(goal, { applier: { execute }, conflictRetryMs: 1, texts: MIRROR_TEXTS }, SIGNAL);
  expect(deleted).toEqual(['Service', 'Endpoints'].flatMap((kind) => expected.map((name) => `${kind} ${name}`)));
});
