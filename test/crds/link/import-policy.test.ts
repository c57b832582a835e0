import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { isApproved, readApprovals } from '../../../crds/link/approvals.ts';
import { notAdmittedBy } from '../../../crds/link/import-policy.ts';
import { matches } from '../../../crds/link/pattern.ts';
import { readLink } from '../../../crds/link/settings.ts';

const WEB = { namespace: 'shop', name: 'web', ports: [80, 8080], type: 'ClusterIP' };
const LINK = { metadata: { name: 'west' }, spec: { targetClusterName: 'west' } };

const policyOf = (importPolicy: unknown) => readLink({ ...LINK, spec: { ...LINK.spec, importPolicy } });
const errorsOf = (importPolicy: unknown): readonly string[] => {
  const read = policyOf(importPolicy);
  return read.ok ? [] : read.errors.map(({ path, reason }) => `${path} ${reason}`);
};

describe('a pattern', () => {
  const letters = fc.constantFrom('a', 'b', '-');
  const text = fc.array(letters, { maxLength: 8 }).map((each) => each.join(''));
  const pattern = fc.array(fc.oneof(letters, fc.constant('*')), { maxLength: 8 }).map((each) => each.join(''));

  it('matches what a regular expression of it does', () => {
    fc.assert(
      fc.property(pattern, text, (each, name) => {
        const expression = new RegExp(`^${each.replaceAll('*', '.*')}$`);
        expect([each, name, matches(each, name)]).toEqual([each, name, expression.test(name)]);
      }),
      { numRuns: 5_000 },
    );
  });

  it('takes no longer the more of its stars may stand for anything', () => {
    const began = performance.now();
    expect(matches(`${'a*'.repeat(30)}b`, 'a'.repeat(63))).toBe(false);
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

describe('a policy (N1)', () => {
  it.each([
    [{}, undefined],
    [{ namespaces: ['shop'], names: ['w*'], types: ['ClusterIP'] as const }, undefined],
    [{ namespaces: ['bank', 'till-*'] }, 'namespace shop'],
    [{ names: ['api', '*-web'] }, 'name web'],
    [{ types: ['Headless'] as const }, 'type ClusterIP'],
    [{ ports: [{ first: 80, last: 8079 }] }, 'port 8080'],
    [{ ports: [{ first: 80, last: 80 }, { first: 8080, last: 8089 }] }, undefined], // prettier-ignore
  ])('%j', (policy, obstacle) => {
    expect(notAdmittedBy(policy, WEB)).toEqual(obstacle && { reason: 'NotAdmitted', what: obstacle });
  });

  test('of a Link is read with its ranges of ports', () => {
    const read = policyOf({ namespaces: ['shop', 'till-*'], ports: ['80', '8000-8999'], types: ['Headless'] });
    expect(read.ok && read.value.importPolicy).toEqual({
      namespaces: ['shop', 'till-*'],
      ports: [
        { first: 80, last: 80 },
        { first: 8000, last: 8999 },
      ],
      types: ['Headless'],
    });
    const without = policyOf(undefined);
    expect(without.ok && without.value).not.toHaveProperty('importPolicy');
  });

  it.each([
    [{ namespaces: [] }, 'spec.importPolicy.namespaces must not be empty'],
    [{ names: ['Web'] }, 'spec.importPolicy.names[0] must be a name, or a pattern with *'],
    [{ names: ['a'.repeat(64)] }, 'spec.importPolicy.names[0] must be a name, or a pattern with *'],
    [{ ports: ['0'] }, 'spec.importPolicy.ports[0] must be a port, or a range of ports'],
    [{ ports: ['80', '90-80'] }, 'spec.importPolicy.ports[1] must be a port, or a range of ports'],
    [{ ports: ['65536'] }, 'spec.importPolicy.ports[0] must be a port, or a range of ports'],
    [{ names: Array.from({ length: 101 }, () => 'a') }, 'spec.importPolicy.names must have at most 100 entries'],
    [
      { types: ['ExternalName'] },
      'spec.importPolicy.types[0] must be one of ClusterIP, Headless, NodePort, LoadBalancer',
    ],
    [{ ports: [80] }, 'spec.importPolicy.ports[0] must be a string'],
    [[], 'spec.importPolicy must be an object'],
    [{ approval: 'maybe' }, 'spec.importPolicy.approval must be one of none, required'],
    [
      { approval: 'required' },
      'spec.importPolicy.approved is required, since spec.importPolicy.approval is "required"',
    ],
    [
      { approved: ['web'] },
      'spec.importPolicy.approved[0] must be the namespace and the name of a Service, as shop/web',
    ],
    [
      { approved: ['shop/a/b'] },
      'spec.importPolicy.approved[0] must be the namespace and the name of a Service, as shop/web',
    ],
    [{ approval: 'required', approved: 'shop/web' }, 'spec.importPolicy.approved must be an array'],
    [{ approved: ['shop/web', 'shop/api', 'shop/web'] }, 'spec.importPolicy.approved[2] must be unique'],
    [{ approved: ['shop/*', 'shop/*'] }, 'spec.importPolicy.approved[1] must be unique'],
    [
      { approved: Array.from({ length: 1_001 }, (_, at) => `shop/web-${at}`) },
      'spec.importPolicy.approved must have at most 1000 entries',
    ],
    [
      { approved: Array.from({ length: 101 }, (_, at) => `shop-${at}/*`) },
      'spec.importPolicy.approved must have at most 100 entries with *',
    ],
  ])('%j is refused by name', (policy, error) => {
    expect(errorsOf(policy)).toEqual([error]);
  });
});

describe('what is approved (N2)', () => {
  const approvalsOf = (importPolicy: unknown) => {
    const read = policyOf(importPolicy);
    if (!read.ok) throw new Error(JSON.stringify(read.errors));
    return read.value.importPolicy ?? {};
  };

  it('is what is named, or what a pattern of both parts matches', () => {
    const { approvals } = approvalsOf({ approval: 'required', approved: ['shop/web', 'till-*/*', 'bank/*-api'] });
    const isOne = (key: string): boolean => {
      const [namespace = '', name = ''] = key.split('/');
      return approvals !== undefined && isApproved(approvals, { namespace, name });
    };
    const keys = ['shop/web', 'shop/api', 'web/shop', 'till-1/x', 'till/x', 'bank/pay-api', 'bank/pay'];
    expect(keys.filter(isOne)).toEqual(['shop/web', 'till-1/x', 'bank/pay-api']);
  });

  it('counts only where approval is required', () => {
    for (const approval of [undefined, 'none']) {
      expect(approvalsOf({ ...(approval && { approval }), approved: ['shop/api'] })).toEqual({});
    }
  });

  it('is nothing where the list is none', () => {
    const report = (): void => undefined;
    for (const approved of [null, undefined, 'shop/web'] as unknown as readonly (readonly string[])[]) {
      const approvals = readApprovals({ approval: 'required', approved }, 'west', report);
      expect(approvals && isApproved(approvals, WEB)).toBe(false);
      expect(policyOf({ approval: 'required', ...(approved !== undefined && { approved }) }).ok).toBe(false);
    }
  });

  it('does not admit what the rest of the policy excludes', () => {
    const policy = approvalsOf({ names: ['api'], approval: 'required', approved: ['shop/web'] });
    expect(notAdmittedBy(policy, WEB)).toEqual({ reason: 'NotAdmitted', what: 'name web' });
    expect(notAdmittedBy(policy, { ...WEB, name: 'api' })).toEqual({ reason: 'WaitingForApproval', what: 'shop/api' });
    expect(notAdmittedBy(approvalsOf({ approval: 'required', approved: [] }), WEB)?.what).toBe('shop/web');
  });

  it('is asked for by the command with the name of the Link', () => {
    const read = policyOf({ approval: 'required' });
    expect(read.ok ? [] : read.errors.map(({ remedy }) => remedy)).toEqual([
      'run `linkspan approve --existing --from west`, or write [] if nothing is approved yet',
    ]);
  });
});
