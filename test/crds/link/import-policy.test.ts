import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { matches, notAdmittedBy } from '../../../crds/link/import-policy.ts';
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
    expect(notAdmittedBy(policy, WEB)).toBe(obstacle);
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
  ])('%j is refused by name', (policy, error) => {
    expect(errorsOf(policy)).toEqual([error]);
  });
});
