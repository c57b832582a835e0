import type { Defect } from '../defect.ts';

const APPLIER = { file: 'operator/runtime/applier.ts', tests: ['test/operator/runtime/applier.test.ts'] };
const STATUS_PATCH = { file: 'operator/runtime/status-patch.ts', tests: ['test/operator/link/status/writer.test.ts'] };

const MAIN = { file: 'operator/main.ts', tests: ['test/operator/main.test.ts'] };

export const PROCESS: readonly Defect[] = [
  {
    ...APPLIER,
    name: 'mirrors are written although the Lease may have expired',
    rule: 'H2',
    find: 'this.#writer = fenced(options.client, options.mayWrite);',
    replace: 'this.#writer = options.client;',
  },
  {
    ...STATUS_PATCH,
    name: 'a status is written although the Lease may have expired',
    rule: 'H2',
    find: 'return fenced(client, mayWrite).patch',
    replace: 'return client.patch',
  },
  {
    ...MAIN,
    name: 'an operator that stops waits for whatever hangs',
    rule: 'H2',
    find: "(await Promise.race([running, stop.overdue(ended.signal)])) === 'ended'",
    replace: "(await running) === 'ended'",
  },
  {
    name: 'L155 the requests to the API server of a target that is gone are counted for ever',
    file: 'operator/metrics/requests.ts',
    rule: 'G4',
    find: "await Promise.all([restRequests, bytesRead].map((metric) => forget(metric, 'host', host)));",
    replace: '',
    tests: ['test/operator/metrics/index.test.ts'],
  },
  {
    name: 'L155 a client that is closed is counted among the open ones',
    file: 'operator/kube/transport.ts',
    rule: 'G4',
    find: 'if (wasOpen) await this.#options.onClose(this.#host);',
    replace: 'void wasOpen;',
    tests: ['test/operator/kube/client.test.ts'],
  },
  {
    name: 'L155 a client that is closed twice counts for two',
    file: 'operator/kube/transport.ts',
    rule: 'G4',
    find: 'if (wasOpen) await',
    replace: 'void wasOpen; await',
    tests: ['test/operator/kube/client.test.ts'],
  },
];
