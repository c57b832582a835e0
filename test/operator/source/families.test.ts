import { expect, test, vi } from 'vitest';
import type { KubeClient } from '../../../operator/kube/client.ts';
import { ApiError, ConnectionError } from '../../../operator/kube/errors.ts';
import type { Logger } from '../../../operator/runtime/logger.ts';
import { sourceFamilies } from '../../../operator/source/families.ts';

const log = { debug: () => undefined } as unknown as Logger;

const FORBIDDEN = new ApiError(403, { reason: 'Forbidden' }, 'get Service default/kubernetes');

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
  ['IPv4, where the Service may not be read', {}, FORBIDDEN, ['IPv4']],
  [
    'of the address of the API server, where the Service may not be read',
    { KUBERNETES_SERVICE_HOST: 'fd00::1' },
    FORBIDDEN,
    ['IPv6'],
  ],
  ['IPv4, where that address is a name', { KUBERNETES_SERVICE_HOST: 'kubernetes.default' }, FORBIDDEN, ['IPv4']],
])('the IP families of the source cluster are those %s', async (_, env, answer, expected) => {
  expect(await families(env, answer)).toEqual(expected);
});

test('the IP families of the source cluster are asked for until there is an answer', async () => {
  vi.useFakeTimers();
  let attempts = 0;
  const read = async () => {
    attempts += 1;
    if (attempts < 4) throw new ConnectionError('refused');
    return { spec: { ipFamilies: ['IPv6'] } };
  };
  try {
    const found = sourceFamilies({ read } as unknown as KubeClient, {}, new AbortController().signal, log);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([...(await found)]).toEqual(['IPv6']);
  } finally {
    vi.useRealTimers();
  }
});
