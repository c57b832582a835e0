import { expect, test } from 'vitest';
import type { KubeClient } from '../../../operator/kube/client.ts';
import { ConnectionError } from '../../../operator/kube/errors.ts';
import type { Logger } from '../../../operator/runtime/logger.ts';
import { sourceFamilies } from '../../../operator/source/families.ts';

const log = { debug: () => undefined } as unknown as Logger;

const families = async (env: Record<string, string>, answer: readonly string[] | Error) => {
  const read = async () => {
    if (answer instanceof Error) throw answer;
    return { spec: { ipFamilies: answer } };
  };
  const found = await sourceFamilies({ read } as unknown as KubeClient, env, new AbortController().signal, log);
  return [...found].sort();
};

test.each<[string, Record<string, string>, readonly string[] | Error, readonly string[]]>([
  ['of the pod', { POD_IPS: 'fd00::7,10.0.0.7' }, ['IPv4'], ['IPv4', 'IPv6']],
  ['of the API server’s Service, where the pod’s are not known', { POD_IPS: '' }, ['IPv6'], ['IPv6']],
  ['of that Service, both where it has two', {}, ['IPv6', 'IPv4'], ['IPv4', 'IPv6']],
  ['IPv4, where the Service names none', {}, [], ['IPv4']],
  ['IPv4, where the Service cannot be read', {}, new ConnectionError('refused'), ['IPv4']],
])('the IP families of the source cluster are those %s', async (_, env, answer, expected) => {
  expect(await families(env, answer)).toEqual(expected);
});
