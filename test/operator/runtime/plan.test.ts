import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  type KubeObject,
  type Resource,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import { type Action, type Desired, idOf, type Owned, plan, Settled } from '../../../operator/runtime/plan.ts';
import { inTurns, type Turns } from '../../../operator/runtime/turns.ts';
import { byKind, planned } from '../../support/planned.ts';

type Labelled = Readonly<Record<string, string>>;

const serviceNamed = (name: string, labels: Labelled = {}, live = {}): KubeObject =>
  ({ metadata: { name, namespace: 'shop', labels, ...live }, spec: { ports: [{ port: 80 }] } }) as KubeObject;

const of = SERVICES;
const wanted = ['a', 'b', 'c'].map((name) => ({ of, object: serviceNamed(name) }));
const ours = ['a', 'b', 'c'].map((name) => ({
  of,
  object: serviceNamed(name, {}, { uid: name, resourceVersion: '7' }),
}));

const brief = (actions: readonly Action[]): readonly string[] =>
  actions.map(({ op, object }) => `${op} ${object.metadata.name}`);

describe('what is as it should be (B4)', () => {
  it('needs nothing, however often it is looked at', () => {
    expect([1, 2, 3].map(() => brief(planned(wanted, ours)))).toEqual([[], [], []]);
  });

  it('is changed back, made again or taken away when something of it is not so any more', () => {
    planned(wanted, ours);
    const edited = { of, object: serviceNamed('b', { by: 'somebody' }, { uid: 'b', resourceVersion: '8' }) };
    expect(brief(planned(wanted, [ours[0]!, edited, ours[2]!]))).toEqual(['update b']);
    expect(brief(planned(wanted, [ours[0]!, ours[2]!]))).toEqual(['create b']);
    expect(brief(planned([wanted[0]!, wanted[2]!], ours))).toEqual(['delete b']);
    expect(brief(planned([{ of, object: serviceNamed('d') }, ...wanted.slice(1)], ours))).toEqual([
      'create d',
      'delete a',
    ]);
    expect(brief(planned([], ours))).toEqual(['delete a', 'delete b', 'delete c']);
  });

  it('is found again once it is as it was', () => {
    planned(wanted, ours);
    const elsewhere = ours.map(({ object }) => ({ of, object: { ...object } }));
    expect(brief(planned(wanted, elsewhere))).toEqual([]);
    expect(brief(planned(wanted, ours))).toEqual([]);
  });
});

describe('what is desired twice (C5)', () => {
  const twice = [...wanted, { of, object: serviceNamed('b', { second: 'yes' }) }];

  it('is written once, as it is desired first', () => {
    const [a, b, c, ...more] = planned(twice, []);
    expect(brief([a!, b!, c!])).toEqual(['create a', 'create b', 'create c']);
    expect(b?.object).toBe(wanted[1]!.object);
    expect(more).toEqual([]);
  });

  it('is not written at all when the first is there, however often it is looked at', () => {
    expect([1, 2, 3].map(() => brief(planned(twice, ours)))).toEqual([[], [], []]);
  });
});

describe('what cannot be changed in place (D3)', () => {
  const live = { uid: 'a', resourceVersion: '7' };
  const headless = { ...serviceNamed('a'), spec: { clusterIP: 'None' } } as KubeObject;
  const slice = (addressType: string, metadata: object = {}): KubeObject =>
    ({ metadata: { name: 'a', namespace: 'shop', ...metadata }, addressType, endpoints: [] }) as unknown as KubeObject;
  const actionOn = (kind: Resource, desired: KubeObject, owned: KubeObject): readonly string[] =>
    brief(planned([{ of: kind, object: desired }], [{ of: kind, object: owned }]));

  it('is replaced: a Service that becomes headless, or has been', () => {
    const there = { ...headless, metadata: { ...headless.metadata, ...live } };
    expect(actionOn(of, headless, serviceNamed('a', {}, live))).toEqual(['replace a']);
    expect(actionOn(of, serviceNamed('a'), there)).toEqual(['replace a']);
    expect(actionOn(of, { ...headless, spec: { clusterIP: 'None', ports: [] } } as KubeObject, there)).not.toContain(
      'replace a',
    );
  });

  it('is replaced: a slice of the other family', () => {
    expect(actionOn(ENDPOINT_SLICES, slice('IPv6'), slice('IPv4', live))).toEqual(['replace a']);
    expect(actionOn(ENDPOINT_SLICES, slice('IPv4'), slice('IPv4', { ...live, labels: { by: 'us' } }))).toEqual([
      'update a',
    ]);
  });

  it('is no other kind', () => {
    expect(actionOn(ENDPOINTS, headless, { ...serviceNamed('a', { x: 'y' }, live) })).toEqual(['update a']);
  });
});

describe('a plan of thousands (E10)', () => {
  const named = (labels: Labelled = {}, prefix = 'pod'): readonly Owned[] =>
    Array.from({ length: 1_000 }, (_, at) => ({ of, object: serviceNamed(`${prefix}-${at}`, labels) }));

  /** Makes a plan in turns. Returns its length, and the most objects that were read in one turn. */
  async function inManyTurns(desired: readonly Desired[], owned: readonly Owned[]) {
    let read = new Set<object>();
    let most = 0;
    const noted = ({ of: kind, object: { metadata, ...rest } }: Owned): Owned => ({
      of: kind,
      object: {
        ...rest,
        get metadata() {
          read.add(rest);
          most = Math.max(most, read.size);
          return metadata;
        },
      },
    });
    const turns: Turns = { isOver: () => true, next: () => Promise.resolve((read = new Set())).then(() => undefined) };
    const actions = await inTurns(plan(desired.map(noted), byKind(owned.map(noted))), turns);
    return { actions: actions.length, most };
  }

  it.each<[string, readonly Desired[], readonly Owned[], number]>([
    ['all are new', named(), [], 1_000],
    ['all have changed', named({ now: 'so' }), named(), 1_000],
    ['all go', [], named(), 1_000],
    ['all get another name', named({}, 'new'), named(), 2_000],
    ['all are as they should be', named(), named(), 0],
  ])('lets others have a turn after each hundred objects: %s', async (_, desired, owned, actions) => {
    const found = await inManyTurns(desired, owned);
    expect(found.actions).toBe(actions);
    // The pair of each is read: what it should be, and what it is.
    expect(found.most).toBeLessThanOrEqual(200);
  });
});

describe('what earlier plans have found', () => {
  const kinds = fc.constantFrom(SERVICES, ENDPOINTS);
  const anyOf = fc.record({
    of: kinds,
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    version: fc.integer({ max: 2, min: 0 }),
  });
  const thing = ({ of: kind, name, version }: { of: Resource; name: string; version: number }): Owned => ({
    of: kind,
    object: serviceNamed(name, { version: String(version) }),
  });
  /** The things that each plan may be of: the very same ones, again and again. */
  const things = fc.uniqueArray(anyOf, { maxLength: 10 }).map((all) => all.map(thing));
  const idOfOne = ({ of: kind, object }: Owned): string => `${kind.kind} ${object.metadata.name}`;
  const history = fc.record({ desired: things, owned: things }).chain(({ desired, owned }) =>
    fc.array(
      fc.record({
        desired: fc.shuffledSubarray(desired),
        owned: fc.shuffledSubarray(owned).map((some) => [...new Map(some.map((one) => [idOfOne(one), one])).values()]),
      }),
      { maxLength: 6 },
    ),
  );

  const inAnyOrder = (actions: readonly Action[]): readonly Action[] =>
    actions.toSorted((a, b) => (`${a.op} ${idOf(a.of, a.object)}` < `${b.op} ${idOf(b.of, b.object)}` ? -1 : 1));

  it('changes nothing of what a plan comes to, whatever the plans before were of', () => {
    fc.assert(
      fc.property(history, (plans) => {
        const settled = new Settled();
        for (const { desired, owned } of plans) {
          expect(
            inAnyOrder(
              planned(
                desired,
                owned.map((one) => ({ ...one })),
                settled,
              ),
            ),
          ).toEqual(inAnyOrder(planned(desired, owned)));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is not read again: only what has changed on either side', () => {
    const read = new Set<string>();
    const noted = ({ of: kind, object: { metadata, ...rest } }: Owned): Owned => ({
      of: kind,
      object: {
        ...rest,
        get metadata() {
          read.add(metadata.name);
          return metadata;
        },
      },
    });
    const settled = new Settled();
    const [desired, owned] = [wanted.map(noted), ours.map(noted)];
    const edited = noted({ of, object: serviceNamed('b', { by: 'somebody' }, { uid: 'b' }) });
    expect(planned(desired, owned, settled)).toEqual([]);
    read.clear();
    const actions = planned(desired, [owned[0]!, edited, owned[2]!], settled);
    expect([...read]).toEqual(['b']);
    expect(brief(actions)).toEqual(['update b']);
  });
});
