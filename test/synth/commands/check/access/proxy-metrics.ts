/** Metrics of the proxy of a gateway, in the form in which Linkerd's proxy prints them. */

/** `shop/a` and its like, in the trust domain of these tests. */
export const identity = (client: string): string => {
  const [namespace = '', account = ''] = client.split('/');
  return `${account}.${namespace}.serviceaccount.identity.linkerd.cluster.local`;
};

/** A count of connections: of whom, to what, and whether they are opaque. */
export interface CountedUse {
  readonly client: string;
  readonly host: string;
  readonly port?: number;
  readonly opaque?: boolean;
  readonly count?: number;
}

export const inShop = (name: string): string => `${name}.shop.svc.cluster.local`;

export const connections = ({ client, host, port = 80, opaque = false, count = 1 }: CountedUse): string =>
  `inbound_tcp_transport_header_connections_total{session_protocol="${opaque ? '' : 'http/2'}",target_port="${port}",target_name="${host}",client_id="${client.includes('/') ? identity(client) : client}"} ${count}`;

/** What an older proxy has, too: who was let in, and not what for. */
export const admitted = (client: string): string =>
  `inbound_http_authz_allow_total{target_addr="203.0.113.10:4143",target_ip="203.0.113.10",target_port="4143",srv_group="policy.linkerd.io",srv_kind="server",srv_name="linkerd-gateway",srv_port="4143",route_group="",route_kind="default",route_name="default",authz_group="policy.linkerd.io",authz_kind="authorizationpolicy",authz_name="linkerd-gateway",tls="true",client_id="${identity(client)}"} 18`;

const PROBE =
  'inbound_http_authz_allow_total{target_addr="0.0.0.0:4191",target_ip="0.0.0.0",target_port="4191",srv_group="policy.linkerd.io",srv_kind="server",srv_name="linkerd-admin",srv_port="4191",route_group="",route_kind="default",route_name="probe",authz_group="",authz_kind="default",authz_name="probe",tls="no_identity",no_tls_reason="no_tls_from_remote"} 14';

/** All that a proxy prints, with these lines in it. */
export const metricsText = (...lines: readonly string[]): string =>
  [
    '# HELP proxy_build_info Proxy build info',
    '# TYPE proxy_build_info gauge',
    'proxy_build_info{version="v2.300.0",git_sha="29637b6",profile="release",date="2026-08-01T00:00:00Z",vendor="linkerd"} 1',
    PROBE,
    '# HELP inbound_tcp_transport_header_connections TCP connections with transport headers.',
    '# TYPE inbound_tcp_transport_header_connections counter',
    ...lines,
    'request_total{direction="outbound",authority="web.shop.svc.cluster.local",target_port="8080",tls="true"} 7',
    '',
  ].join('\n');

/** What `linkerd diagnostics proxy-metrics` prints of several pods: metrics, or why there are none. */
export const diagnosticsText = (pods: Readonly<Record<string, string | { readonly error: string }>>): string =>
  Object.entries(pods)
    .map(([pod, metrics], at, { length }) => {
      const head = `#\n# POD ${pod} (${at + 1} of ${length})\n`;
      return typeof metrics === 'string' ? `${head}#\n${metrics}` : `${head}# ERROR ${metrics.error}\n`;
    })
    .join('');
