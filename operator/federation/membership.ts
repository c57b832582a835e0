/** What a federated Service says of itself: whether it is ours to write (rule I8), and who its members are. Pure. */
import type { MirrorMode } from '../../constructs/mirror/index.ts';
import { Annotation, federatedEntry, Label, Value } from '../../crds/wire.ts';
import type { KubeObject, Service } from '../kube/objects.ts';
import type { ObservedFederation } from './observed.ts';

/** The members that a federated Service has now. */
export interface Membership {
  readonly mode: MirrorMode;
  /** Target clusters. */
  readonly clusters: ReadonlySet<string>;
  /** Whether the local Service is a member. */
  readonly local: boolean;
}

/**
 * Reports whether a Service is a federated one, made by us or by Linkerd's controllers: a mirror names its cluster, and
 * a Service of a user's has no such label.
 */
export function isFederated({ metadata: { labels = {}, annotations = {} } }: Service): boolean {
  return (
    labels[Label.mirroredService] === Value.true &&
    labels[Label.clusterName] === undefined &&
    (isFlat(annotations) || labels[Label.federation] === Value.gatewayFederation)
  );
}

/** Returns the members that there are; of a Service that is not ours, none. */
export function membershipOf({ name, live, slices }: ObservedFederation): Membership | undefined {
  if (live === undefined || !isFederated(live)) return undefined;
  const { annotations = {} } = live.metadata;
  // Either annotation hides the slices from Linkerd.
  if (!isFlat(annotations)) {
    const members = slices.map(memberOf);
    return {
      mode: 'gateway',
      clusters: new Set(members.filter((cluster) => cluster !== undefined)),
      local: members.includes(undefined),
    };
  }
  const entries = (annotations[Annotation.remoteDiscovery] ?? '').split(',');
  const clusters = entries.filter((entry) => entry.startsWith(federatedEntry(name, '')));
  return {
    mode: 'remote-discovery',
    clusters: new Set(clusters.map((entry) => entry.slice(federatedEntry(name, '').length))),
    local: annotations[Annotation.localDiscovery] === name,
  };
}

/** Returns the target cluster that a slice of a federated Service is of; undefined: it is the local member's. */
export const memberOf = ({ metadata }: KubeObject): string | undefined => metadata.labels?.[Label.federationMember];

const isFlat = (annotations: Readonly<Record<string, string>>): boolean =>
  Annotation.remoteDiscovery in annotations || Annotation.localDiscovery in annotations;
