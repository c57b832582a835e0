/** What is measured of requests to API servers: that of the source cluster, and those of targets. */
import type { ClientHooks } from '../kube/client.ts';
import type { Instruments } from './instruments.ts';

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

  return {
    /** Options for clients, so that their requests are counted. */
    clientHooks: {
      onResponse: (host, method, code) => restRequests.inc({ host, method, code }),
      onRead: (host, bytes) => bytesRead.inc({ host }, bytes),
    } satisfies ClientHooks,
  };
}
