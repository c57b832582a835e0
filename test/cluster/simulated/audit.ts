/** The audit log of a simulated API server: what was asked, by whom, how it was answered and in how many bytes. */
import type { AuditEntry } from '../types.ts';
import type { RequestInfo } from './request.ts';

/** A request under way, or over. */
export interface AuditRecord {
  readonly request: RequestInfo;
  code: number;
  /** Bytes of the body sent so far. */
  bytes: number;
  done: boolean;
}

const entryOf = ({ request, code }: AuditRecord): AuditEntry => {
  const { verb, user, userAgent, group, resource, subresource, namespace, name, uri } = request;
  return {
    ...{ verb, user, userAgent, group, resource, code, uri },
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
};

/** Requests in the order of their completion. */
export class AuditLog {
  readonly #enabled: boolean;
  #completed: AuditRecord[] = [];
  readonly #running = new Set<AuditRecord>();

  /** @param enabled whether completed requests are kept */
  constructor(enabled: boolean) {
    this.#enabled = enabled;
  }

  open(request: RequestInfo): AuditRecord {
    const record: AuditRecord = { request, code: 0, bytes: 0, done: false };
    this.#running.add(record);
    return record;
  }

  close(record: AuditRecord): void {
    if (record.done) return;
    record.done = true;
    this.#running.delete(record);
    if (this.#enabled) this.#completed.push(record);
  }

  entries(): readonly AuditEntry[] {
    return this.#completed.map(entryOf);
  }

  /** Bytes of bodies sent, running watches included, since the start or the last {@link clear}. */
  bytesSent(matches: (request: RequestInfo) => boolean): number {
    return [...this.#completed, ...this.#running]
      .filter(({ request }) => matches(request))
      .reduce((sum, { bytes }) => sum + bytes, 0);
  }

  clear(): void {
    this.#completed = [];
    for (const record of this.#running) record.bytes = 0;
  }
}
