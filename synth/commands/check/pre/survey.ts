/** What must be there before the extension is installed, and what an installation would write. Plain values. */
import { LinkApi } from '../../../../crds/wire.ts';
import { PODS as OPERATOR_PODS } from '../../../../constructs/operator/pods.ts';
import { type KubeObject, NAMESPACES, type Resource } from '../../../../operator/kube/objects.ts';
import {
  AUTHORIZATION_POLICIES,
  CRDS,
  DEPLOYMENTS,
  LINKERD_SERVERS,
  MESH_TLS_AUTHENTICATIONS,
  NETWORK_AUTHENTICATIONS,
  resourceOf,
} from '../../common/kinds.ts';
import { installManifests } from '../../install/manifests.ts';
import { type LinkerdRead, readLinkerd } from '../linkerd.ts';
import type { Crd, Deployment } from '../objects.ts';
import type { Read, Reader, Right, Unread } from '../reader.ts';
import type { Scope } from '../survey.ts';
import type { Granted } from '../target.ts';

export interface PreSurvey extends Scope {
  readonly server: string;
  readonly kubernetes: Read<string>;
  readonly unread: readonly Unread[];
  readonly linkerd: LinkerdRead;
  readonly extensionNamespace: Read<KubeObject | undefined>;
  readonly crd: Read<Crd | undefined>;
  /** Linkerd's policy, and whether the API server serves it. */
  readonly policy: readonly { readonly of: Resource; readonly served: Read<boolean> }[];
  /** Operators of Linkspan, in all namespaces. */
  readonly operators: Read<readonly Deployment[]>;
  /** Deployments of the extension's namespace. */
  readonly deployments: Read<readonly Deployment[]>;
  /** What an installation writes. */
  readonly rights: readonly Granted[];
}

const POLICY: readonly Resource[] = [
  LINKERD_SERVERS,
  AUTHORIZATION_POLICIES,
  MESH_TLS_AUTHENTICATIONS,
  NETWORK_AUTHENTICATIONS,
];

/** Reads everything. */
export const preSurvey = async (reader: Reader, scope: Scope): Promise<PreSurvey> => {
  const { namespace, linkerdNamespace } = scope;
  const kubernetes = await reader.version();
  const labelSelector = Object.entries(OPERATOR_PODS)
    .map(([name, value]) => `${name}=${value}`)
    .join();
  const [linkerd, extensionNamespace, crd, policy, operators, deployments, rights] = await Promise.all([
    readLinkerd(reader, linkerdNamespace),
    reader.find(NAMESPACES, namespace),
    reader.find<Crd>(CRDS, LinkApi.crd),
    Promise.all(POLICY.map(async (of) => ({ of, served: await reader.serves(of) }))),
    reader.list<Deployment>(DEPLOYMENTS, { labelSelector }),
    reader.list<Deployment>(DEPLOYMENTS, { namespace }),
    Promise.all(
      installRights(namespace, linkerdNamespace).map(async (right) => ({ right, granted: await reader.may(right) })),
    ),
  ]);
  const { server, unread } = reader;
  return {
    ...scope,
    server,
    kubernetes,
    unread,
    linkerd,
    extensionNamespace,
    crd,
    policy,
    operators,
    deployments,
    rights,
  };
};

/** The rights to write what `linkspan install` writes, each once. */
export const installRights = (namespace: string, linkerdNamespace: string): readonly Right[] => {
  const { objects } = installManifests(namespace, { linkerdNamespace }, undefined);
  const rights = objects.flatMap((object) => {
    const { group, plural, namespaced } = resourceOf(object);
    // Server-side apply creates with both.
    return ['create', 'patch'].map((verb) => ({ verb, group, resource: plural, ...(namespaced && { namespace }) }));
  });
  return [...new Map(rights.map((right) => [JSON.stringify(right), right])).values()];
};
