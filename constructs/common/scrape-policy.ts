/**
 * Linkerd's policy for the metrics of pods in the mesh: a Server for the port, and the clients that may use it. It does
 * not apply to probes of the kubelet. A Prometheus outside the mesh has no identity that the policy could name.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { PolicyApi } from '../../crds/wire.ts';
import { dnsLabel, dnsSubdomain } from './prop-rules.ts';

/** A ServiceAccount of the same cluster. */
export interface ServiceAccountRef {
  /** Name of the ServiceAccount. */
  readonly name: string;
  /** Namespace of the ServiceAccount. */
  readonly namespace: string;
}

/** All clients, or only meshed clients of these ServiceAccounts. */
export type Scrapers = 'anybody' | readonly ServiceAccountRef[];

/** Properties of {@link ScrapePolicy}. */
export interface ScrapePolicyProps {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  /** Labels of the pods. */
  readonly pods: Readonly<Record<string, string>>;
  /** Name of the port of their container. */
  readonly port: string;
  readonly scrapers: Scrapers;
}

/** The Prometheus of Linkerd's viz extension. */
export const VIZ_PROMETHEUS: ServiceAccountRef = { name: 'prometheus', namespace: 'linkerd-viz' };

/** A Server, and for ServiceAccounts an AuthorizationPolicy; for several of them, their MeshTLSAuthentication. */
export class ScrapePolicy extends Construct {
  /** The port. */
  readonly server: ApiObject;
  /** The clients that may use the port; undefined if all may, or none. */
  readonly authorizationPolicy: ApiObject | undefined;

  constructor(scope: Construct, id: string, { metadata, pods, port, scrapers }: ScrapePolicyProps) {
    super(scope, id);
    this.server = new ApiObject(this, 'Resource', {
      apiVersion: PolicyApi.server,
      kind: 'Server',
      metadata,
      spec: {
        podSelector: { matchLabels: pods },
        port,
        proxyProtocol: 'HTTP/1',
        ...(scrapers === 'anybody' && { accessPolicy: 'all-unauthenticated' }),
      },
    });
    if (scrapers === 'anybody' || scrapers.length === 0) return;
    const [first, ...others] = scrapers.map((scraper) => ({ kind: 'ServiceAccount', ...scraper }));
    if (others.length > 0)
      new ApiObject(this, 'MeshTLSAuthentication', {
        apiVersion: PolicyApi.authorization,
        kind: 'MeshTLSAuthentication',
        metadata,
        spec: { identityRefs: [first, ...others] },
      });
    this.authorizationPolicy = new ApiObject(this, 'AuthorizationPolicy', {
      apiVersion: PolicyApi.authorization,
      kind: 'AuthorizationPolicy',
      metadata,
      spec: {
        targetRef: { group: PolicyApi.group, kind: 'Server', name: metadata.name },
        // All listed authentications are required, so several ServiceAccounts need one that names them.
        requiredAuthenticationRefs: [
          others.length === 0
            ? first
            : {
                group: PolicyApi.group,
                kind: 'MeshTLSAuthentication',
                name: metadata.name,
                namespace: metadata.namespace,
              },
        ],
      },
    });
  }
}

/** Errors of the names of scrapers. */
export const scraperErrors = (path: string, scrapers: Scrapers): readonly (FieldError | undefined)[] => {
  if (typeof scrapers === 'string')
    return [
      scrapers === 'anybody' ? undefined : fieldError(path, scrapers, 'must be "anybody" or a list of ServiceAccounts'),
    ];
  return scrapers.flatMap(({ name, namespace }, index) => [
    dnsSubdomain(`${path}[${index}].name`, name),
    dnsLabel(`${path}[${index}].namespace`, namespace),
  ]);
};
