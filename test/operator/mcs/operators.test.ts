/** Which operator serves a ServiceImport (rule K7). */
import { describe, expect, it } from 'vitest';
import type { KubeObject, Service } from '../../../operator/kube/objects.ts';
import type { ServiceImport } from '../../../operator/mcs/objects.ts';
import { derivedName } from '../../../crds/mcs/derived-name.ts';
import { isBegunBesidePods, isInDoubt, isOfLocalAlone, operatorOf } from '../../../operator/mcs/operators.ts';
import { observed, ownSlice, podSlice, service, settled, target, type TargetOptions } from './observed.ts';

const OPERATORS = { own: 'ours', isGone: (namespace: string) => namespace === 'gone' };

const named = (
  operator: string | undefined,
  isOurs = true,
  more: Readonly<Record<string, string>> = {},
): KubeObject => ({
  metadata: {
    name: 'web',
    namespace: 'shop',
    labels: { 'linkspan.dev/service-import': isOurs ? 'web' : 'other' },
    annotations: { ...more, ...(operator !== undefined && { 'linkspan.dev/operator': operator }) },
  },
});

const standing = (live: KubeObject | undefined, derived?: KubeObject) => ({
  name: 'web',
  live: live as ServiceImport | undefined,
  derived: derived as Service | undefined,
});

describe('the operator of a ServiceImport', () => {
  const of = (live: KubeObject | undefined, derived?: KubeObject) => operatorOf(standing(live, derived), OPERATORS);

  it('is the one that it names, else the one that its derived Service names, if its namespace is there', () => {
    expect([of(named('a'), named('b')), of(named(undefined), named('b')), of(undefined, named('b'))]).toEqual([
      'a',
      'b',
      'b',
    ]);
    expect([of(named('gone'), named('b')), of(named('gone')), of(undefined)]).toEqual(['b', undefined, undefined]);
    const withoutAnnotations = { metadata: { name: 'web', labels: { 'linkspan.dev/service-import': 'web' } } };
    expect(of(withoutAnnotations, named('b'))).toBe('b');
    expect(operatorOf(standing(named('gone')), { ...OPERATORS, own: 'gone' })).toBe('gone');
  });

  it('is none that an object of others names', () => {
    expect([of(named('a', false), named('b')), of(named('a', false), named('b', false))]).toEqual(['b', undefined]);
  });

  it('is in doubt while the one says that it is us, and the other names another', () => {
    const doubt = (live: KubeObject | undefined, derived?: KubeObject) => isInDoubt(standing(live, derived), OPERATORS);
    expect(doubt(named('ours'), named('b'))).toBe(true);
    expect([
      doubt(named('ours'), named('ours')),
      doubt(named('ours'), named(undefined)),
      doubt(named('ours'), named('gone')),
      doubt(named('ours'), named('b', false)),
      doubt(named('ours')),
      doubt(named('b'), named('b')),
      doubt(named('ours', false), named('b')),
      doubt(undefined, named('b')),
    ]).toEqual(Array.from({ length: 8 }, () => false));
  });

  it('may be any where all exports are of the cluster itself', () => {
    const local = (exports: string | undefined) =>
      isOfLocalAlone(standing(named('a', true, exports === undefined ? {} : { 'linkspan.dev/exports': exports })));
    expect([local('/a/1'), local('/a/1,west/b/1'), local('west/b/1'), local(undefined)]).toEqual([
      true,
      ...[false, false, false],
    ]);
    expect(isOfLocalAlone(standing(undefined))).toBe(false);
  });
});

describe('a ServiceImport that somebody deleted, and another has begun to make anew', () => {
  const west = (options: TargetOptions = {}) =>
    target('west', {
      service: service({ clusterIP: 'None' }),
      slices: [podSlice([{ hostname: 'web-0' }])],
      ...options,
    });
  const [all] = settled(observed([west()]));
  const begun = (options: TargetOptions = {}, more: Partial<typeof all> = {}, ...others: readonly TargetOptions[]) =>
    isBegunBesidePods(
      observed([west(options), ...others.map((each) => target('north', each))], { ...all, live: undefined, ...more }),
    );

  it('is taken over while there are Services of pods of our targets', () => {
    expect([begun({}, { imported: [] }), begun({}, { imported: [] }, {})]).toEqual([true, true]);
  });

  it('is not where it is there, the target may be of another, no Service is left, or slices lead to a target', () => {
    expect([
      begun({}, { imported: [], live: all.live }),
      begun({ isLinked: false }, { imported: [] }),
      begun({}, { imported: [], podServices: [] }),
    ]).toEqual([false, false, false]);
  });

  it('is not where slices of its derived Service lead to a target: the other one knows it', () => {
    const derived = (labels: Readonly<Record<string, string>>) => {
      const slice = ownSlice();
      const ofDerived = { 'kubernetes.io/service-name': derivedName('web') };
      return { ...slice, metadata: { ...slice.metadata, labels: { ...ofDerived, ...labels } } };
    };
    const from = { 'linkspan.dev/imported-from': 'west' };
    const elsewhere = { ...from, 'kubernetes.io/service-name': 'other' };
    expect([derived(from), derived({}), derived(elsewhere)].map((slice) => begun({}, { imported: [slice] }))).toEqual([
      false,
      ...[true, true],
    ]);
  });
});
