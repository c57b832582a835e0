import type { Defect } from '../defect.ts';

const LEASE = { file: 'operator/runtime/lease.ts', tests: ['test/operator/runtime/lease.test.ts'] };
const LEASE_RECORD = { ...LEASE, file: 'operator/runtime/lease-record.ts' };
const APPLIER = { file: 'operator/runtime/applier.ts', tests: ['test/operator/runtime/applier.test.ts'] };
const STATUS_WRITER = { file: 'operator/link/status-writer.ts', tests: ['test/operator/link/status-writer.test.ts'] };
const WRITE_LEASE = { file: 'operator/link/write-lease.ts', tests: ['test/operator/link/write-lease.test.ts'] };
const CANDIDATE = { file: 'operator/candidate.ts', tests: ['test/operator/candidate.test.ts'] };
const STOP_CLOCK = { file: 'operator/stop-clock.ts', tests: ['test/operator/stop-clock.test.ts'] };
const CONFIG = { file: 'operator/config/config.ts', tests: ['test/operator/config/config.test.ts'] };
const RECORDS = { file: 'operator/link/records.ts', tests: ['test/operator/link/records.test.ts'] };
const MAIN = { file: 'operator/main.ts', tests: ['test/operator/main.test.ts'] };

export const PROCESS: readonly Defect[] = [
  {
    ...LEASE,
    name: 'L76 what was sent under a Lease that is lost is waited for',
    rule: 'H1',
    find: 'lost.abort(new RevokedError(`',
    replace: 'lost.abort(new Error(`',
    tests: ['test/operator/link/write-lease.test.ts'],
  },
  {
    ...LEASE_RECORD,
    name: 'L72 a Lease stays held that was about to be acquired when it was given up',
    rule: 'H2',
    find: 'if ((await this.#leaveOnce(how, leaving)) || attempts === undefined) return;',
    replace: 'await this.#leaveOnce(how, leaving); if (attempts !== null) return;',
  },
  {
    ...LEASE_RECORD,
    name: 'L72 a write that acquires a Lease is given up, and may be made later',
    rule: 'H2',
    find: 'this.#writer = options.client.fenced(() => undefined);',
    replace: 'this.#writer = options.client;',
  },
  {
    ...LEASE,
    name: 'a process that was paused goes on writing',
    rule: 'H2',
    find: 'return this.#leftMs(sinceMs) > 0 && Date.now()',
    replace: 'return Date.now()',
  },
  {
    ...CANDIDATE,
    name: 'L64 a replica that came to lead goes on taking Leases when it does not lead any more',
    rule: 'H1',
    find: 'return this.#lock.mayWrite && this.#lock.predecessor === identity;',
    replace: 'return this.#lock.predecessor === identity;',
  },
  {
    ...CANDIDATE,
    name: 'L64 whoever holds the Lease of a Link has ceased',
    rule: 'H1',
    find: 'return this.#lock.mayWrite && this.#lock.predecessor === identity;',
    replace: 'return this.#lock.mayWrite && identity !== "";',
  },
  {
    ...LEASE,
    name: 'a machine that slept goes on writing',
    rule: 'H2',
    find: '&& Date.now() < sinceWallMs + this.#lostAfterMs &&',
    replace: '&& sinceWallMs > 0 &&',
  },
  {
    ...LEASE,
    name: 'a renewal does not prolong the time to write',
    rule: 'H2',
    find: 'this.#held = renewal;',
    replace: '',
  },
  {
    ...LEASE,
    name: 'a Lease that is released may be written under',
    rule: 'H2',
    find: 'this.#held = undefined;',
    replace: '',
  },
  {
    ...LEASE,
    name: 'a failure that lasts is reported once',
    rule: 'H5',
    find: '|| performance.now() - reportedMs >= REPEAT_MS;',
    replace: ';',
  },
  {
    ...APPLIER,
    name: 'mirrors are written although the Lease may have expired',
    rule: 'H2',
    find: 'this.#writer = fenced(options.client, options.mayWrite);',
    replace: 'this.#writer = options.client;',
  },
  {
    file: 'operator/kube/transport.ts',
    tests: ['test/operator/kube/client.test.ts'],
    name: 'a write that waited for its turn is sent although the Lease may have expired meanwhile',
    rule: 'H2',
    find: 'fence();',
    replace: '',
  },
  {
    ...RECORDS,
    name: 'the Lease of another Link is deleted although another replica may lead',
    rule: 'H2',
    find: 'await fenced(client, mayWrite).delete(',
    replace: 'await client.delete(',
  },
  {
    ...MAIN,
    name: 'Events are written although another replica leads',
    rule: 'H2',
    find: 'client: fenced(client, mayWrite),',
    replace: 'client,',
  },
  {
    ...MAIN,
    name: 'Events that are pending when the operator stops are lost',
    rule: 'G3',
    find: 'await events.flush(stop.leftMs / 2);',
    replace: '',
  },
  {
    ...MAIN,
    name: 'lines that stand for others are lost when an operator stops before all is released',
    rule: 'G3',
    find: 'log.flush();',
    replace: '',
  },
  {
    ...STATUS_WRITER,
    name: 'a status is written although the Lease may have expired',
    rule: 'H2',
    find: 'await fenced(client, mayWrite).patch',
    replace: 'await client.patch',
  },
  {
    ...WRITE_LEASE,
    name: 'mirrors are written although another replica leads',
    rule: 'H2',
    find: 'this.#lock.mayWrite && this.#env.mayWrite();',
    replace: 'this.#lock.mayWrite;',
  },
  {
    ...WRITE_LEASE,
    name: 'a Lease of a Link that cannot be written is only logged',
    rule: 'H5',
    find: 'this.#problem = problem;',
    replace: 'if (this.#isHeld) this.#problem = problem; return;',
  },
  {
    ...CANDIDATE,
    name: 'a replica that cannot read the Lease says that it stands by',
    rule: 'H5',
    find: 'const ok = heardMs !== undefined && performance.now() - heardMs <',
    replace: 'const ok = heardMs === undefined || performance.now() - heardMs > -',
  },
  {
    ...CANDIDATE,
    name: 'a replica that stands by is not ready',
    rule: 'H5',
    find: 'const ok = heardMs !== undefined && performance.now() - heardMs <',
    replace: 'const ok = heardMs !== undefined && performance.now() - heardMs < -',
  },
  {
    ...STOP_CLOCK,
    name: 'a second reason to stop prolongs the first',
    rule: 'H2',
    find: 'if (this.#dueMs !== undefined) return;',
    replace: '',
  },
  {
    ...MAIN,
    name: 'an operator that stops waits for whatever hangs',
    rule: 'H2',
    find: "(await Promise.race([running, stop.overdue(ended.signal)])) === 'ended'",
    replace: "(await running) === 'ended'",
  },
  {
    ...MAIN,
    name: 'an operator that is not ready says so to the kubelet alone',
    rule: 'H5',
    find: "if (!ok) log.warn({ checks: checks.filter((each) => !each.ok) }, 'linkspan operator is not ready');",
    replace: 'if (!ok) checks.filter((each) => !each.ok);',
  },
  {
    ...CONFIG,
    name: 'two operators on one host are one holder',
    rule: 'H8',
    find: '${hostname()}_${Math.random().toString(36).slice(2, 10)}',
    replace: '${hostname()}_a',
  },
  {
    ...MAIN,
    name: 'an operator is up before its API server has answered',
    find: 'if (isUp || !(Number(code) < 300)) return;',
    replace: 'if (isUp) return;',
  },
  {
    ...CONFIG,
    name: 'a log on a terminal is JSON',
    find: "around.isTerminal ? 'pretty' : 'json'",
    replace: "'json'",
  },
];
