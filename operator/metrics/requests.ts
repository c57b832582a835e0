/** What is measured of requests to API servers: that of the source cluster, and those of targets. */
import type { ClientHooks } from '../kube/client.ts';
import { forget, type Instruments } from './instruments.ts';

export function requestMetrics({ counter }: Instruments) {
  const restRequests = counter(
    'rest_client_requests_total',
    'Requests to API servers; code is the HTTP status, or <error> if no answer came',
    'code',
    'method',
    'host',
  );
  const bytesRead = counter(
    'linkspan_http_bytes_read_total',
    'Bytes of response bodies read from API servers, watches included',
    'host',
  );

  /** Number of open clients of each API server. */
  const clients = new Map<string, number>();

  return {
    /** Options for clients, so that their requests are counted until the last client of an API server is closed. */
    clientHooks: {
      onOpen: (host) => void clients.set(host, (clients.get(host) ?? 0) + 1),
      onResponse: (host, method, code) => {
        if (clients.has(host)) restRequests.inc({ host, method, code });
      },
      onRead: (host, bytes) => {
        if (clients.has(host)) bytesRead.inc({ host }, bytes);
      },
      onClose: async (host) => {
        const left = (clients.get(host) ?? 0) - 1;
        if (left > 0) {
          clients.set(host, left);
          return;
        }
        clients.delete(host);
        await Promise.all([restRequests, bytesRead].map((metric) => forget(metric, 'host', host)));
      },
    } satisfies ClientHooks,
  };
}
