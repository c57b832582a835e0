import type { Defect } from '../defect.ts';

const APPLIER = { file: 'operator/runtime/applier.ts', tests: ['test/operator/runtime/applier.test.ts'] };
const STATUS_WRITER = { file: 'operator/link/status/writer.ts', tests: ['test/operator/link/status/writer.test.ts'] };

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
    ...STATUS_WRITER,
    name: 'a status is written although the Lease may have expired',
    rule: 'H2',
    find: 'await fenced(client, mayWrite).patch',
    replace: 'await client.patch',
  },
  {
    ...MAIN,
    name: 'an operator that stops waits for whatever hangs',
    rule: 'H2',
    find: "(await Promise.race([running, stop.overdue(ended.signal)])) === 'ended'",
    replace: "(await running) === 'ended'",
  },
];
