/**
 * What is watched for the policy of the gateway: ServiceExports in all namespaces, and in the gateway's own, its Server
 * and the objects of the policy. A kind that cannot be read is not known, and nothing is written or deleted because of
 * it.
 */
import { Annotation, Default, Label } from '../../crds/wire.ts';
import type { KubeObject } from '../kube/objects.ts';
import { OptionalKind, type OptionalKindOptions } from '../runtime/optional-kind.ts';
import { SERVICE_EXPORTS } from '../target/read/mcs-objects.ts';
import {
  ACCESS_ROUTES,
  type AccessRoute,
  type Authentication,
  AUTHENTICATIONS,
  type Authorization,
  AUTHORIZATIONS,
  NETWORKS,
  type Networks,
  SERVERS,
} from './objects.ts';

/** Learns what decides about the policy. */
export interface AccessListener {
  /** Any of it has changed, or can be read or not any more. */
  accessChanged(): void;
}

export interface WatchedAccessOptions extends Omit<OptionalKindOptions, 'partitions'> {
  /** Namespace of the gateway. */
  readonly namespace: string;
  readonly listener: AccessListener;
}

export class WatchedAccess {
  readonly exports: OptionalKind<KubeObject>;
  readonly servers: OptionalKind<KubeObject>;
  readonly routes: OptionalKind<AccessRoute>;
  readonly authentications: OptionalKind<Authentication>;
  readonly authorizations: OptionalKind<Authorization>;
  readonly networks: OptionalKind<Networks>;
  readonly #namespace: string;

  constructor({ namespace, listener, ...options }: WatchedAccessOptions) {
    this.#namespace = namespace;
    const changed = (): void => listener.accessChanged();
    const any = { changed, stateChanged: changed };
    const own = { ...options, partitions: [namespace] };
    this.exports = new OptionalKind(
      SERVICE_EXPORTS,
      { ...options, partitions: [undefined] },
      { trim: trimExport },
      any,
    );
    this.servers = new OptionalKind(
      SERVERS,
      { ...own, fieldSelector: `metadata.name=${Default.gatewayName}` },
      { trim: ({ metadata }) => ({ metadata: trimMetadata(metadata) }) },
      any,
    );
    this.routes = new OptionalKind<AccessRoute>(ACCESS_ROUTES, own, { trim: trimRoute }, any, Label.gatewayAccess);
    // All of them: those of anybody else count as well.
    this.authentications = new OptionalKind<Authentication>(AUTHENTICATIONS, own, { trim: trimPolicy }, any);
    this.authorizations = new OptionalKind<Authorization>(AUTHORIZATIONS, own, { trim: trimPolicy }, any);
    // That of the gateway is made by others.
    this.networks = new OptionalKind<Networks>(NETWORKS, own, { trim: trimPolicy }, any);
  }

  /**
   * Why the policy cannot be kept: the kinds that cannot be read; undefined if all can, or none has been asked for yet.
   */
  get unreadable(): string | undefined {
    const found = this.#policy.filter((kind) => kind.isUnreadable).map(({ of }) => of.plural);
    if (this.exports.isUnreadable && !this.exports.isMissing) found.push(SERVICE_EXPORTS.plural);
    return found.length === 0 ? undefined : found.join(', ');
  }

  /** Whether all of it has been read. Where there is no ServiceExport, Services are exported by their labels alone. */
  get isRead(): boolean {
    const areExportsRead = this.exports.isMissing || this.exports.stateIn('') === 'readable';
    return areExportsRead && this.#policy.every((kind) => kind.stateIn(this.#namespace) === 'readable');
  }

  /** Watches until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.exports, ...this.#policy].map((each) => each.run(signal)));
  }

  get #policy() {
    const { servers, routes, authentications, authorizations, networks } = this;
    return [servers, routes, authentications, authorizations, networks] as const;
  }
}

/** Of a ServiceExport, whom it names. */
function trimExport({ metadata }: KubeObject): KubeObject {
  const clients = metadata.annotations?.[Annotation.clients];
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      ...(clients !== undefined && { annotations: { [Annotation.clients]: clients } }),
    },
  } as KubeObject;
}

const trimRoute = ({ metadata, spec, status }: AccessRoute): AccessRoute =>
  ({ metadata: trimMetadata(metadata), spec, status }) as AccessRoute;

const trimPolicy = <T extends KubeObject & { readonly spec?: unknown }>({ metadata, spec }: T): T =>
  ({ metadata: trimMetadata(metadata), spec }) as T;

const trimMetadata = ({ name, namespace, uid, resourceVersion, labels }: KubeObject['metadata']) =>
  ({ name, namespace, uid, resourceVersion, labels }) as KubeObject['metadata'];
