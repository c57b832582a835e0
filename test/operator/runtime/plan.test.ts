import { describe, expect, it } from 'vitest';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  type KubeObject,
  type Resource,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import { type Action, plan } from '../../../operator/runtime/plan.ts';

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
    expect([1, 2, 3].map(() => brief(plan(wanted, ours)))).toEqual([[], [], []]);
  });

  it('is changed back, made again or taken away when something of it is not so any more', () => {
    plan(wanted, ours);
    const edited = { of, object: serviceNamed('b', { by: 'somebody' }, { uid: 'b', resourceVersion: '8' }) };
    expect(brief(plan(wanted, [ours[0]!, edited, ours[2]!]))).toEqual(['update b']);
    expect(brief(plan(wanted, [ours[0]!, ours[2]!]))).toEqual(['create b']);
    expect(brief(plan([wanted[0]!, wanted[2]!], ours))).toEqual(['delete b']);
    expect(brief(plan([{ of, object: serviceNamed('d') }, ...wanted.slice(1)], ours))).toEqual([
      'create d',
      'delete a',
    ]);
    expect(brief(plan([], ours))).toEqual(['delete a', 'delete b', 'delete c']);
  });

  it('is found again once it is as it was', () => {
    plan(wanted, ours);
    const elsewhere = ours.map(({ object }) => ({ of, object: { ...object } }));
    expect(brief(plan(wanted, elsewhere))).toEqual([]);
    expect(brief(plan(wanted, ours))).toEqual([]);
  });
});

describe('what is desired twice (C5)', () => {
  const twice = [...wanted, { of, object: serviceNamed('b', { second: 'yes' }) }];

  it('is written once, as it is desired first', () => {
    const [a, b, c, ...more] = plan(twice, []);
    expect(brief([a!, b!, c!])).toEqual(['create a', 'create b', 'create c']);
    expect(b?.object).toBe(wanted[1]!.object);
    expect(more).toEqual([]);
  });

  it('is not written at all when the first is there, however often it is looked at', () => {
    expect([1, 2, 3].map(() => brief(plan(twice, ours)))).toEqual([[], [], []]);
  });
});

describe('what cannot be changed in place (D3)', () => {
  const live = { uid: 'a', resourceVersion: '7' };
  const headless = { ...serviceNamed('a'), spec: { clusterIP: 'None' } } as KubeObject;
  const slice = (addressType: string, metadata: object = {}): KubeObject =>
    ({ metadata: { name: 'a', namespace: 'shop', ...metadata }, addressType, endpoints: [] }) as unknown as KubeObject;
  const actionOn = (kind: Resource, desired: KubeObject, owned: KubeObject): readonly string[] =>
    brief(plan([{ of: kind, object: desired }], [{ of: kind, object: owned }]));

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
