import { describe, expect, it, test } from 'vitest';
import { ApiError, ConnectionError } from '../../../operator/kube/errors.ts';
import { ENDPOINT_SLICES, ENDPOINTS, NAMESPACES, type Resource, SERVICES } from '../../../operator/kube/objects.ts';
import { type Manifests, NOTHING } from '../../../operator/mirror/manifests.ts';
import type { OwnedObjects } from '../../../operator/mirror/observed.ts';
import type { MirrorPass } from '../../../operator/mirror/reasons.ts';
import { goalOf, MIRROR_TEXTS } from '../../../operator/mirror/goal.ts';
import { type Retain, takeStep } from '../../../operator/runtime/pass.ts';
import type { Outcome } from '../../../operator/runtime/applier.ts';
import type { Action, Desired } from '../../../operator/runtime/plan.ts';
import { NOTHING_OWNED, ownedEndpoints, ownedService, ownedSlice } from './observed.ts';

const CONFLICT = new ApiError(409, { reason: 'Conflict' }, 'apply');
const FORBIDDEN = new ApiError(403, { reason: 'Forbidden' }, 'apply');
const NO_NAMESPACE = new ApiError(404, { reason: 'NotFound', details: { kind: 'namespaces' } }, 'apply');
const BAD_NAME = new ApiError(422, { reason: 'Invalid', details: { causes: [{ field: 'metadata.name' }] } }, 'apply');
const BAD_PORT = new ApiError(422, { reason: 'Invalid', details: { causes: [{ field: 'spec.ports' }] } }, 'apply');
const TERMINATING = new ApiError(
  403,
  { reason: 'Forbidden', details: { causes: [{ reason: 'NamespaceTerminating' }] } },
  'apply',
);

const metadata = (name: string) => ({ name, namespace: 'shop' });
const service = (name: string): Desired => ({ of: SERVICES, object: { metadata: metadata(name) } });
const endpoints = (name: string): Desired => ({ of: ENDPOINTS, object: { metadata: metadata(name) } });
const slice = (of: string): Desired => ({ of: ENDPOINT_SLICES, object: ownedSlice(`${of}-ipv4`, of, undefined) });
const shop: Desired = { of: NAMESPACES, object: { metadata: { name: 'shop' } } };

/** What a cluster makes of the actions on an object; by default it is done. */
type Answers = Readonly<Record<string, Outcome | Error>>;

interface Given {
  readonly desired?: Partial<Manifests>;
  readonly owned?: Partial<OwnedObjects>;
  readonly retain?: Retain;
  readonly answers?: Answers;
}

const nameOf = ({ op, of, object }: Action): string => `${op} ${of.kind} ${object.metadata.name}`;

/** One pass, and what it did, in order. */
async function pass({ desired = {}, owned = {}, retain = () => false, answers = {} }: Given) {
  const did: string[] = [];
  const applier = {
    execute: async (action: Action): Promise<Outcome> => {
      const name = nameOf(action);
      did.push(name);
      await Promise.resolve();
      const answer = answers[name];
      if (answer instanceof Error) throw answer;
      return answer ?? (action.op === 'delete' ? { result: 'deleted' } : { result: 'written', object: action.object });
    },
  };
  const context = { applier, conflictRetryMs: 30_000, random: () => 0, texts: MIRROR_TEXTS };
  const goal = goalOf({ ...NOTHING, ...desired }, { ...NOTHING_OWNED, ...owned }, retain);
  const result: MirrorPass = await takeStep(goal, context, new AbortController().signal);
  return { ...result, did };
}

const foreign = (of: Resource, name: string): Outcome => ({
  result: 'foreign',
  of,
  object: { metadata: metadata(name) },
});

describe('a pass', () => {
  it('that finds everything as it should be does nothing (C5)', async () => {
    expect(await pass({})).toMatchObject({ did: [], writes: 0, again: false, errors: [], refusals: [] });
  });

  it('writes namespaces first, then Services, and leaves what follows from these to the next', async () => {
    const { did, writes, again } = await pass({
      desired: { namespaces: [shop], services: [service('a'), service('b')], endpoints: [endpoints('a')] },
      owned: { services: [ownedService('old')] },
    });
    expect(did).toEqual(['create Namespace shop', 'create Service a', 'create Service b']);
    expect([writes, again]).toEqual([3, true]);
  });

  it('writes endpoints when no Service is to be written, and is the last one then', async () => {
    const { did, writes, again } = await pass({ desired: { endpoints: [endpoints('a')] } });
    expect([did, writes, again]).toEqual([['create Endpoints a'], 1, false]);
  });

  it('is followed by another when more is desired once endpoints are written', async () => {
    expect(await pass({ desired: { endpoints: [endpoints('a')], isPartial: true } })).toMatchObject({ again: true });
  });

  it('is not followed by another when those endpoints cannot be written', async () => {
    const given = { desired: { endpoints: [endpoints('a')], isPartial: true } };
    const failed = await pass({ ...given, answers: { 'create Endpoints a': FORBIDDEN } });
    expect(failed).toMatchObject({ again: false, writes: 0, errors: [FORBIDDEN] });
    const blocked = await pass({ ...given, answers: { 'create Endpoints a': foreign(ENDPOINTS, 'a') } });
    expect(blocked).toMatchObject({ again: false, refusals: [{ reason: 'NameConflict' }] });
  });

  it('deletes only if it has written nothing, and comes again to do so', async () => {
    const owned = { services: [ownedService('old')], endpoints: [ownedEndpoints('old', [])] };
    const first = await pass({ desired: { endpoints: [endpoints('a')] }, owned });
    expect([first.did, first.again]).toEqual([['create Endpoints a'], true]);
    const second = await pass({ owned });
    expect([second.did, second.again, second.writes]).toEqual([
      ['delete Service old', 'delete Endpoints old'],
      false,
      2,
    ]);
  });

  it('deletes nothing that is retained, and does not come again for it', async () => {
    const owned = { services: [ownedService('old')], endpoints: [ownedEndpoints('old', [])] };
    const retain: Retain = (of) => of === SERVICES;
    expect((await pass({ owned, retain })).did).toEqual(['delete Endpoints old']);
    const written = await pass({ desired: { endpoints: [endpoints('a')] }, owned, retain: () => true });
    expect([written.did, written.again]).toEqual([['create Endpoints a'], false]);
  });

  it('deletes nothing on the strength of a view that met a conflict', async () => {
    const { did, errors } = await pass({
      desired: { endpoints: [endpoints('a')] },
      owned: { services: [ownedService('old')], endpoints: [ownedEndpoints('a', [])] },
      answers: { 'update Endpoints a': CONFLICT },
    });
    expect([did, errors]).toEqual([['update Endpoints a'], [CONFLICT]]);
  });

  it('gives up a name although the one that it wants is not free yet, as two that swap names must (A7)', async () => {
    const { did, errors } = await pass({
      desired: { endpoints: [endpoints('a')] },
      owned: { endpoints: [ownedEndpoints('b', [])] },
      answers: { 'create Endpoints a': CONFLICT },
    });
    expect([did, errors]).toEqual([['create Endpoints a', 'delete Endpoints b'], [CONFLICT]]);
  });

  it('deletes what is to go although something else cannot be written', async () => {
    const { did, errors } = await pass({
      desired: { endpoints: [endpoints('a')] },
      owned: { services: [ownedService('old')] },
      answers: { 'create Endpoints a': FORBIDDEN },
    });
    expect([did, errors]).toEqual([['create Endpoints a', 'delete Service old'], [FORBIDDEN]]);
  });

  it('that is refused one object writes the others (H4)', async () => {
    const { did, writes, errors, again } = await pass({
      desired: { services: [service('a'), service('b'), service('c')] },
      answers: { 'create Service b': FORBIDDEN },
    });
    expect([did.length, writes, errors, again]).toEqual([3, 2, [FORBIDDEN], true]);
  });

  it('goes on to endpoints when no Service could be written', async () => {
    const { did, again } = await pass({
      desired: { services: [service('a')], endpoints: [endpoints('b')] },
      answers: { 'create Service a': FORBIDDEN },
    });
    expect([did, again]).toEqual([['create Service a', 'create Endpoints b'], false]);
  });

  it('whose write a webhook undoes is followed by another, which keeps nothing for it (L286)', async () => {
    const slices = { endpoints: [ownedEndpoints('a', [])] };
    const given = { desired: { services: [service('a')] }, owned: { services: [ownedService('a')], ...slices } };
    const undone = { result: 'deferred', afterMs: 3_600_000, by: 'webhook' } as const;
    const answers = (outcome: Outcome) => ({ 'replace Service a': outcome, 'update Service a': outcome });
    const first = await pass({ ...given, answers: answers({ ...undone, isWritten: true }) });
    expect(first).toMatchObject({ writes: 1, again: true, errors: [], refusals: [{ reason: 'Error' }] });
    expect(first.did).toHaveLength(1);
    const second = await pass({ ...given, answers: answers(undone) });
    expect(second).toMatchObject({ writes: 1, again: false, errors: [], refusals: [{ reason: 'Error' }] });
    expect(second.did.at(-1)).toBe('delete Endpoints a');
    // What somebody else undoes is waited for.
    const others = await pass({ ...given, answers: answers({ result: 'deferred', afterMs: 1_000 }) });
    expect(others.did).toHaveLength(1);
  });

  it('has one note for all objects to which the same is added (L286)', async () => {
    const added = { result: 'deferred', afterMs: 1_000, by: 'webhook', additions: ['team'] } as const;
    const names = ['a', 'b', 'c'];
    const { notes } = await pass({
      desired: { services: names.map((name) => service(name)) },
      owned: { services: names.map((name) => ownedService(name)) },
      answers: Object.fromEntries(
        names.flatMap((name) => [
          [`update Service ${name}`, added],
          [`replace Service ${name}`, added],
        ]),
      ),
    });
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain('team to Service shop/a and 2 more');
  });
});

describe('many writes of one key (H7)', () => {
  it('are under way sixteen at a time, and one that hangs holds up no other', async () => {
    let underWay = 0;
    let most = 0;
    let done = 0;
    let release: () => void = () => undefined;
    const hanging = new Promise<void>((resolve) => (release = resolve));
    const applier = {
      execute: async ({ object }: Action): Promise<Outcome> => {
        underWay += 1;
        most = Math.max(most, underWay);
        await (object.metadata.name === 'web-3' ? hanging : Promise.resolve());
        underWay -= 1;
        done += 1;
        if (done === 99) release();
        return { result: 'written', object };
      },
    };
    const services = Array.from({ length: 100 }, (_, at) => service(`web-${at}`));
    const { signal } = new AbortController();
    const context = { applier, conflictRetryMs: 30_000, texts: MIRROR_TEXTS };
    const { writes } = await takeStep(goalOf({ ...NOTHING, services }, NOTHING_OWNED), context, signal);
    expect([writes, most]).toEqual([100, 16]);
  });
});

describe("a name that somebody else's object has (A6)", () => {
  test.each<[string, Given]>([
    ['as it is known', { desired: { isBlocked: true } }],
    [
      'as is found on the way (L36)',
      { desired: { services: [service('a')] }, answers: { 'create Service a': foreign(SERVICES, 'a') } },
    ],
  ])('%s is tried again after a while, and is not an error', async (_, given) => {
    expect(await pass(given)).toMatchObject({ requeueAfterMs: 30_000, errors: [], again: false });
  });

  it('is reported with what the user knows: the Service, also where its Endpoints stand in the way', async () => {
    const { refusals } = await pass({
      desired: { services: [service('a')] },
      answers: { 'create Service a': foreign(ENDPOINTS, 'a') },
    });
    expect(refusals).toEqual([
      {
        reason: 'NameConflict',
        message: expect.stringContaining('a Service shop/a, or Endpoints without one, exists') as string,
      },
    ]);
  });

  it('does not matter of a Namespace, which somebody else may have made meanwhile (A3)', async () => {
    const result = await pass({
      desired: { namespaces: [shop] },
      answers: { 'create Namespace shop': foreign(NAMESPACES, 'shop') },
    });
    expect(result).toMatchObject({ refusals: [], errors: [], requeueAfterMs: undefined });
  });
});

describe.each<[string, Outcome | Error, boolean]>([
  ['whose name somebody else has taken', foreign(SERVICES, 'a'), false],
  ['of whose name there are Endpoints of others', foreign(ENDPOINTS, 'a'), false],
  ['whose name the API server refuses', BAD_NAME, false],
  ['that cannot be made anew yet', FORBIDDEN, true],
  ['that somebody deletes again and again', { result: 'deferred', afterMs: 5000 }, true],
])('of a Service %s, slices that are left', (_, answer, stay) => {
  const desired = { services: [service('a')], endpoints: [slice('a'), slice('b')] };
  const answers = { 'create Service a': answer };
  const owned = { slices: [ownedSlice('a-ipv4', 'a', undefined), ownedSlice('b-ipv4', 'b', undefined)] };

  it(stay ? 'stay for the next one (E5, L95)' : 'go (A6)', async () => {
    const { did } = await pass({ desired, owned, answers });
    expect(did).toEqual(['create Service a', ...(stay ? [] : ['delete EndpointSlice a-ipv4'])]);
  });

  it('are looked at again after a pass that has written something', async () => {
    const { did, again } = await pass({ desired, owned: { slices: owned.slices.slice(0, 1) }, answers });
    expect([did, again]).toEqual([['create Service a', 'create EndpointSlice b-ipv4'], !stay]);
  });

  it('stay where they are retained', async () => {
    expect((await pass({ desired, owned, answers, retain: () => true })).did).toEqual(['create Service a']);
  });
});

describe('an object that somebody changes again and again', () => {
  it('is reported, and put right when it is due', async () => {
    const result = await pass({
      desired: { endpoints: [endpoints('a')] },
      answers: { 'create Endpoints a': { result: 'deferred', afterMs: 5000 } },
    });
    expect(result).toMatchObject({ requeueAfterMs: 5000, errors: [], refusals: [{ reason: 'Error' }] });
  });

  it('is reported as a note where what we want is there', async () => {
    const result = await pass({
      desired: { endpoints: [endpoints('a')] },
      answers: { 'create Endpoints a': { result: 'deferred', afterMs: 5000, additions: ['example.com/added'] } },
    });
    expect(result).toMatchObject({
      requeueAfterMs: 5000,
      refusals: [],
      notes: [expect.stringMatching(/adding example\.com\/added to Endpoints shop\/a/) as string],
    });
  });

  it('is due at the earliest of several times', async () => {
    const { requeueAfterMs } = await pass({
      desired: { isBlocked: true, endpoints: [endpoints('a'), endpoints('b')] },
      answers: {
        'create Endpoints a': { result: 'deferred', afterMs: 7000 },
        'create Endpoints b': { result: 'deferred', afterMs: 5000 },
      },
    });
    expect(requeueAfterMs).toBe(5000);
  });
});

describe('a namespace that is gone when it is written to (A3)', () => {
  test.each([
    ['is missing', NO_NAMESPACE],
    ['is being deleted', TERMINATING],
  ])('%s: that is reported, in doubt, and tried again without backoff', async (_, error) => {
    const result = await pass({
      desired: { endpoints: [endpoints('a')] },
      answers: { 'create Endpoints a': error },
    });
    expect(result).toMatchObject({
      errors: [],
      refusals: [{ reason: 'MissingNamespace', message: expect.stringContaining('namespace shop') as string }],
      namespaceInDoubt: true,
      requeueAfterMs: 30_000,
    });
  });

  test.each<[string, Error, boolean]>([
    ['is in doubt after a write that is not allowed', FORBIDDEN, true],
    ['is not in doubt after a conflict', CONFLICT, false],
    ['is not in doubt after a write without an answer', new ConnectionError('reset'), false],
    ['is not in doubt when the object is not found', new ApiError(404, { reason: 'NotFound' }, 'apply'), false],
  ])('%s, which is an error to be tried again', async (_, error, namespaceInDoubt) => {
    const result = await pass({
      desired: { endpoints: [endpoints('a')] },
      answers: { 'create Endpoints a': error },
    });
    expect(result).toMatchObject({ errors: [error], refusals: [], namespaceInDoubt, requeueAfterMs: undefined });
  });
});

describe('a name that the API server refuses (A4)', () => {
  it('is reported and tried again without backoff, and nothing else of that name is written', async () => {
    const result = await pass({
      desired: { services: [service('0a'), service('b')], endpoints: [endpoints('0a')] },
      answers: { 'create Service 0a': BAD_NAME },
    });
    expect(result.did).toEqual(['create Service 0a', 'create Service b']);
    expect(result).toMatchObject({
      errors: [],
      refusals: [{ reason: 'InvalidName', message: expect.stringContaining('must begin with a letter') as string }],
      requeueAfterMs: 30_000,
    });
    const alone = await pass({
      desired: { services: [service('0a')], endpoints: [endpoints('0a')] },
      answers: { 'create Service 0a': BAD_NAME },
    });
    expect(alone.did).toEqual(['create Service 0a']);
  });

  it('keeps endpoints that it has already true: they follow the gateway (F3, L86)', async () => {
    const result = await pass({
      desired: { services: [service('0a')], endpoints: [endpoints('0a')] },
      owned: { endpoints: [ownedEndpoints('0a', [])] },
      answers: { 'create Service 0a': BAD_NAME },
    });
    expect(result.did).toEqual(['create Service 0a', 'update Endpoints 0a']);
  });

  it('is no other mistake', async () => {
    const result = await pass({
      desired: { services: [service('a')] },
      answers: { 'create Service a': BAD_PORT },
    });
    expect([result.errors, result.refusals]).toEqual([[BAD_PORT], []]);
  });
});
