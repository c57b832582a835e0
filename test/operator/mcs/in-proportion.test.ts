/** What one decision about a headless ServiceImport reads of what there is grows with its pods, and no faster (E10). */
import { describe, expect, it } from 'vitest';
import { decideImport } from '../../../operator/mcs/decide.ts';
import { gonePods } from '../../../operator/mcs/pods.ts';
import { Reads } from '../mirror/reads.ts';
import {
  NOTHING,
  observed,
  podSlice,
  service,
  settled,
  type Standing,
  target,
  type TargetOptions,
} from './observed.ts';

const FEW = 20;
const FACTOR = 4;

type Hostnames = readonly string[];

const west = (hostnames: Hostnames, options: TargetOptions = {}) => {
  const slices = [podSlice(hostnames.map((hostname) => ({ hostname })))];
  return target('west', { service: service({ clusterIP: 'None' }), slices, ...options });
};

/** What there is of the pods. */
const THERE: Readonly<Record<string, (all: Standing) => Standing>> = {
  nothing: () => NOTHING,
  Services: (all) => ({ ...all, imported: [] }),
  slices: (all) => ({ ...all, podServices: [] }),
  'Services and slices': (all) => all,
};

/** What the target says of them. */
const TARGETS: Readonly<Record<string, (hostnames: Hostnames) => TargetOptions>> = {
  'that are listed': () => ({}),
  'that are gone': () => ({ slices: [] }),
  'that are gone, and stay for now': (hostnames) => ({
    slices: [],
    departed: new Map(hostnames.map((each) => [each, 60_000])),
  }),
  'behind a gateway without an address': () => ({
    gateway: { port: 4143, identity: 'gw', addresses: [], alive: true },
  }),
  'behind no gateway': () => ({ gateway: undefined }),
  'of a cluster that is not known': () => ({ isKnown: false }),
  'that are not known': () => ({ slices: undefined }),
  'that no construct takes': (hostnames) => ({
    slices: [
      podSlice(
        hostnames.map((hostname) => ({ hostname })),
        [{ name: 'dns', port: 53, protocol: 'SCTP' }],
      ),
    ],
  }),
};

function readsOf(pods: number, there: (all: Standing) => Standing, said: (hostnames: Hostnames) => TargetOptions) {
  const reads = new Reads();
  const hostnames = Array.from({ length: pods }, (_, at) => `web-${at}`);
  const [all] = settled(observed([west(hostnames)], { maxPods: 10_000 }));
  const { podServices, imported, ...rest } = there(all);
  const standing = { ...rest, podServices: reads.of(podServices), imported: reads.of(imported) };
  const of = west(hostnames, said(hostnames));
  gonePods({ ...standing, name: 'web' }, of);
  decideImport(observed([of], { maxPods: 10_000, ...standing }));
  return reads.count;
}

describe.each(Object.entries(THERE))('with %s of each pod', (_, there) => {
  it.each(Object.entries(TARGETS))('a decision about pods %s costs what they cost (L212)', (_, said) => {
    const few = readsOf(FEW, there, said);
    expect(readsOf(FEW * FACTOR, there, said)).toBeLessThanOrEqual((few + 20) * FACTOR * 1.1);
  });
});
