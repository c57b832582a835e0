/** H8, L281: what `linkspan explain` says of the operator that keeps federated Services and ServiceImports. */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../operator/kube/errors.ts';
import type { Cluster } from '../../../../synth/commands/common/cluster.ts';
import { CommandError } from '../../../../synth/commands/common/command-error.ts';
import { operatorSteps } from '../../../../synth/commands/explain/operator-step.ts';
import { link } from '../../../support/builders.ts';

const leaseOf = (name: string, holderIdentity: string) => ({
  metadata: { name, namespace: 'mesh' },
  spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: new Date().toISOString() },
});

const FORBIDDEN = 'forbidden';
const answer = <T>(found: T | typeof FORBIDDEN): T => {
  if (found !== FORBIDDEN) return found;
  const cause = new ApiError(403, { reason: 'Forbidden' }, 'leases is forbidden');
  throw new CommandError([{ object: 'Leases of east', reason: 'may not be read', remedy: '' }], undefined, cause);
};

interface Has {
  readonly operators?: object | typeof FORBIDDEN;
  readonly links?: readonly object[] | typeof FORBIDDEN;
  readonly leases?: readonly object[] | typeof FORBIDDEN;
}

const outline = async ({ operators, links = [], leases = [] }: Has) => {
  const source = {
    context: 'east',
    kubeconfig: undefined,
    find: async () => answer(operators),
    list: async ({ kind }: { readonly kind: string }) => answer<readonly object[]>(kind === 'Lease' ? leases : links),
  } as unknown as Cluster;
  const steps = await operatorSteps(source, 'mesh');
  return steps.map(({ step, state, message }) => `${state} ${step}: ${message}`);
};

const READY = {
  ...link('west'),
  status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' }] },
};
const OF_WEST = leaseOf('service-mirror-write-west', 'linkspan-0');

describe('the step of the operator', () => {
  it.each<[string, Has]>([
    [
      'its Lease is renewed, which is all that is read',
      { operators: leaseOf('linkspan-operator', 'linkspan-0'), links: FORBIDDEN },
    ],
    ['one that elects no leader serves a Link', { links: [READY], leases: [OF_WEST] }],
  ])('is left out where %s', async (_, has) => {
    expect(await outline(has)).toEqual([]);
  });

  it('is a warning where nobody serves anything', async () => {
    const nobody = 'warning operator: in namespace mesh, no operator holds its Lease: what it reports may be old';
    expect(await outline({})).toEqual([nobody]);
    expect(await outline({ links: [READY] })).toEqual([nobody]);
    expect(await outline({ operators: leaseOf('linkspan-operator', ''), links: [READY], leases: [OF_WEST] })).toEqual([
      nobody,
    ]);
  });

  it.each<[string, Has]>([
    ['its Lease', { operators: FORBIDDEN }],
    ['Links', { links: FORBIDDEN }],
    ['the Leases of Links', { links: [READY], leases: FORBIDDEN }],
  ])('is unknown where %s may not be read', async (_, has) => {
    expect(await outline(has)).toEqual([
      expect.stringMatching(/^unknown operator: in namespace mesh, whether an operator serves it is not known: /),
    ]);
  });
});
