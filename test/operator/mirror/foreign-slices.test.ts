import { expect, it } from 'vitest';
import { SERVICES, type EndpointSlice, type Service } from '../../../operator/kube/objects.ts';
import { type Goal, takeStep } from '../../../operator/runtime/pass.ts';
import type { PassTexts } from '../../../operator/runtime/tally.ts';
import type { Outcome } from '../../../operator/runtime/applier.ts';
import type { Action } from '../../../operator/runtime/plan.ts';
import { byKind } from '../../support/planned.ts';

const service: Service = {
  metadata: { name: 'web-west', namespace: 'shop', uid: 'u', resourceVersion: '1' },
  spec: { ports: [{ port: 80 }] },
};
const slice: EndpointSlice = { metadata: { name: 'web-west-x2y3z', namespace: 'shop' }, addressType: 'IPv4' };
const foreign = [{ service, slices: [slice] }];
const own = { of: SERVICES, object: service };

/** One pass, and what it did, in order. */
async function pass(goal: Partial<Goal>, outcome: Outcome = { result: 'deleted' }) {
  const did: string[] = [];
  const applier = {
    execute: (action: Action): Promise<Outcome> => {
      did.push(`${action.op} ${action.of.kind} ${action.object.metadata.name}`);
      return Promise.resolve(action.op === 'clear' ? outcome : { result: 'written', object: action.object });
    },
  };
  const steps = [{ desired: [own], owned: byKind([own]) }];
  const whole = { steps, isPartial: false, isBlocked: false, foreign, ...goal };
  const context = { applier, conflictRetryMs: 30_000, random: () => 0, texts: TEXTS };
  return { ...(await takeStep(whole, context, new AbortController().signal)), did };
}

const TEXTS: PassTexts<{ readonly reason: string; readonly message: string }> = {
  foreign: (_, name) => ({ reason: 'foreign', message: name }),
  contested: (object) => ({ reason: 'contested', message: object }),
  vanished: (namespace) => ({ reason: 'vanished', message: namespace }),
  refusedName: (_: string, name: string) => ({ reason: 'InvalidName', message: name }),
  added: (object: string) => object,
};

it('clears a Service of the slices of others, and looks again: one may have had a name that is needed (C3)', async () => {
  const { did, again } = await pass({});
  expect(did).toEqual(['clear EndpointSlice web-west']);
  expect(again).toBe(true);
});

it('clears it although all that is not desired is retained (C1, C3)', async () => {
  expect((await pass({ retain: () => true })).did).toEqual(['clear EndpointSlice web-west']);
});

it('does so in the pass after what it writes: the Service may have had a selector (C3)', async () => {
  const selecting = { ...service, spec: { ...service.spec, selector: { app: 'web' } } };
  const steps = [{ desired: [own], owned: byKind([{ of: SERVICES, object: selecting }]) }];
  const { did, again } = await pass({ steps });
  expect(did).toEqual(['update Service web-west']);
  expect(again).toBe(true);
});

it('leaves the slices of a Service that goes to the garbage collector of Kubernetes (C3)', async () => {
  const steps = [{ desired: [], owned: byKind([own]) }];
  expect((await pass({ steps })).did).toEqual(['delete Service web-west']);
});

it('says that somebody keeps making them, and comes back later (C3)', async () => {
  const { again, refusals, requeueAfterMs } = await pass({}, { result: 'deferred', afterMs: 4_000 });
  expect([again, refusals, requeueAfterMs !== undefined]).toEqual([
    false,
    [{ reason: 'contested', message: 'EndpointSlice shop/web-west' }],
    true,
  ]);
});
