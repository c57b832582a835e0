import type { Defect } from '../defect.ts';

const CLIENT = { file: 'operator/kube/client.ts', tests: ['test/operator/kube/client.test.ts'] };
const TRANSPORT = { file: 'operator/kube/transport.ts', tests: ['test/operator/kube/client.test.ts'] };

const LINES = { file: 'operator/kube/lines.ts', tests: ['test/operator/kube/client.test.ts'] };

const IN_CLUSTER = {
  file: 'operator/kube/access/in-cluster.ts',
  tests: ['test/operator/kube/access/in-cluster.test.ts'],
};

const SOCKETS = { file: 'operator/kube/network.ts', tests: ['test/operator/kube/network.test.ts'] };

export const KUBE: readonly Defect[] = [
  {
    ...TRANSPORT,
    name: 'L69 a write that was sent under a Lease is given up, and may be made later',
    rule: 'H1',
    find: 'fence(); commit();',
    replace: 'fence();',
  },
  {
    ...SOCKETS,
    name: 'connections look names up by threads of the process',
    rule: 'F4',
    find: 'lookup: lookupUntil(this.#closed.signal, timeoutMs),',
    replace: '',
  },
  {
    ...SOCKETS,
    name: 'probes look names up by threads of the process',
    rule: 'F4',
    find: ', lookup: lookupUntil(signal) };',
    replace: '};',
  },
  {
    ...CLIENT,
    name: 'a Lease waits behind the writes of mirrors',
    rule: 'H7',
    find: "return 'urgent';",
    replace: "return 'ordinary';",
  },
  {
    ...IN_CLUSTER,
    name: 'ca.crt is read once',
    rule: 'H8',
    find: 'currentTls: async () => ({ ca: await authority() })',
    replace: 'currentTls: async () => ({ ca })',
  },
  {
    ...LINES,
    name: 'a line or an item of any length is read',
    rule: 'E10',
    find: 'if (length > this.#maxBytes) throw',
    replace: 'if (length < 0) throw',
  },
  {
    file: 'operator/kube/client.ts',
    tests: ['test/operator/kube/client.test.ts'],
    name: 'L221 of a list, all is kept that a server sends, whatever was asked for',
    rule: 'L221',
    find: 'if (items.length < limit) items.push(item);',
    replace: 'if (items.length < limit || limit > 0) items.push(item);',
  },
];
