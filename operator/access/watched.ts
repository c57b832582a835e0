/**
 * Watches everything that the policy of the gateway depends on: ServiceExports in all namespaces; the gateway's Server
 * and the objects of the policy in the gateway's own namespace. While one of these kinds cannot be read, nothing is
 * written or deleted. The CRD of ServiceExports may be missing.
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

/** Notified of changes that the policy depends on. */
export interface AccessListener {
  /** Called when a watched object has changed, or when a kind has become readable or unreadable. */
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
    // Objects of these kinds are read without a label selector, because those of others count too.
    this.authentications = new OptionalKind<Authentication>(AUTHENTICATIONS, own, { trim: trimPolicy }, any);
    this.authorizations = new OptionalKind<Authorization>(AUTHORIZATIONS, own, { trim: trimPolicy }, any);
    // NetworkAuthentications too are read without a label selector, because others make that of the gateway.
    this.networks = new OptionalKind<Networks>(NETWORKS, own, { trim: trimPolicy }, any);
  }

  /**
   * The kinds that cannot be read, so that the policy cannot be kept. Undefined if all kinds can be read, or if no
   * answer has arrived yet.
   */
  get unreadable(): string | undefined {
    const found = this.#policy.filter((kind) => kind.isUnreadable).map(({ of }) => of.plural);
    if (this.exports.isUnreadable && !this.exports.isMissing) found.push(SERVICE_EXPORTS.plural);
    return found.length === 0 ? undefined : found.join(', ');
  }

  /**
   * Whether all kinds have been read. If the CRD of ServiceExports is missing, Services are exported by their labels
   * alone.
   */
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

/** Keeps of a ServiceExport the annotation that names its clients, and the metadata that identifies it. */
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
