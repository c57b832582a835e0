/**
 * Reads the audit log that a kube-apiserver writes, as entries in the form both backings share. The requests by which
 * the test cluster itself asks how far the log has come are left out.
 */
import { open } from 'node:fs/promises';
import type { AuditEntry } from '../types.ts';

/** As much of an `audit.k8s.io/v1` Event as is used. */
interface AuditEvent {
  readonly requestURI: string;
  readonly verb: string;
  readonly user: { readonly username?: string };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}

const MARKER_URI = '/version?marker=';

/** What is logged: every request when it is complete, but for those that the API server makes to itself. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [{ level: 'None', users: ['system:apiserver'] }, { level: 'Metadata' }],
};

/** The audit log in one file. */
export class AuditLog {
  readonly file: string;
  #from = 0;

  constructor(file: string) {
    this.file = file;
  }

  /** Flags of a kube-apiserver that writes this log, under the policy in a file. */
  flags(policyFile: string): readonly string[] {
    return [
      `--audit-policy-file=${policyFile}`,
      `--audit-log-path=${this.file}`,
      '--audit-log-mode=blocking',
      // Never rotated: entries are read from where the last clear() left off.
      '--audit-log-maxsize=10000',
    ];
  }

  /** Entries since the last {@link clear}, oldest first. */
  async read(): Promise<readonly AuditEntry[]> {
    const events = (await this.#lines())
      .toString()
      .split('\n')
      .filter((line) => line !== '');
    return events
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter((event) => !event.requestURI.startsWith(MARKER_URI))
      .map(toEntry);
  }

  /** Forgets the entries so far. */
  async clear(): Promise<void> {
    this.#from += (await this.#lines()).length;
  }

  /** Whether the request with this marker has been logged. */
  async reached(marker: string): Promise<boolean> {
    return (await this.#lines()).includes(MARKER_URI + marker);
  }

  /** Whole lines only: the last one may be half written. */
  async #lines(): Promise<Buffer> {
    const file = await open(this.file);
    try {
      const length = (await file.stat()).size - this.#from;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, this.#from);
      return buffer.subarray(0, buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1);
    } finally {
      await file.close();
    }
  }
}

const toEntry = ({ requestURI, verb, user, userAgent, objectRef, responseStatus }: AuditEvent): AuditEntry => ({
  verb,
  user: user.username ?? '',
  userAgent: userAgent ?? '',
  group: objectRef?.apiGroup ?? '',
  resource: objectRef?.resource ?? '',
  ...(objectRef?.subresource !== undefined && { subresource: objectRef.subresource }),
  ...(objectRef?.namespace !== undefined && { namespace: objectRef.namespace }),
  ...(objectRef?.name !== undefined && { name: objectRef.name }),
  code: responseStatus?.code ?? 0,
  uri: requestURI,
});
