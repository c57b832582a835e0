/**
 * The derivation of federated Services (rule I2). A key is the `namespace/name` that the members have in all clusters.
 * The derivation observes each cluster that takes part, and reports the status of each cluster's Service.
 */
import { federatedName, Label } from '../../crds/wire.ts';
import { describe, isConflict } from '../kube/errors.ts';
import { type KubeObject, type Resource, SERVICES, splitKey } from '../kube/objects.ts';
import { goalOf, MIRROR_TEXTS } from '../mirror/goal.ts';
import type { Seniority } from '../mirror/names.ts';
import type { MirrorPass, Refusal } from '../mirror/reasons.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import type { Derivation, Why } from '../runtime/derivation.ts';
import type { MayWrite } from '../runtime/fence.ts';
import type { Outcome } from '../runtime/outcome.ts';
import type { Goal } from '../runtime/pass.ts';
import type { SharedEnvironment } from '../served/environment.ts';
import { federationOf, isFederated } from '../source/owner.ts';
import type { SourceStores } from '../source/stores.ts';
import { namespaceStateOf, operatorsOf } from '../source/write-scope.ts';
import { isConfirmed } from '../target/aspect.ts';
import { decideFederation, type FederationDecision } from './decide.ts';
import { ownedOf } from './desired.ts';
import { listedClusters } from './membership.ts';
import type { LocalParty, ObservedFederation, TargetParty } from './observed.ts';
import type { FederationParty, Participant } from './party.ts';
import { invalidShape } from './refusals.ts';

/** The clusters that take part in federated Services, and what Links and their Leases say about target clusters. */
export interface Participants {
  readonly local: Participant<LocalParty>;
  /**
   * The target clusters that take part. The session of each serves a Link, or removes what a Link left. Key: name of
   * the cluster.
   */
  readonly parties: ReadonlyMap<string, FederationParty>;
  /**
   * Reports whether a cluster has a Link, or might have one. The membership of such a cluster stays even while the
   * cluster is not among {@link parties} (rule I6).
   */
  readonly mayHaveLink: (cluster: string) => boolean;
  /**
   * Reports whether a Link of this operator has named a cluster, or a Lease has recorded the cluster, at any time since
   * the operator started. Suspended and invalid Links count. If neither has, the cluster might belong to another
   * operator (rule I9).
   */
  readonly isLinked: (cluster: string) => boolean;
  /**
   * Returns the age and the name of the Link that has a cluster. If no Link has it, returns those of the oldest Link
   * that names the cluster, even if that Link is suspended or invalid. Undefined if no Link has or names the cluster.
   */
  readonly seniorityOf: (cluster: string) => Seniority | undefined;
  /**
   * Returns these target clusters, even if they are not among {@link parties} yet (rule I6):
   * - The cluster of each Link that selects members, and that is served by its present spec or will be. These Links do
   *   not count: suspended and invalid Links, Links that do not have the cluster that they name (rule E9), and Links
   *   that a suspended Link keeps from leaving their former cluster (`FormerClusterSuspended`).
   * - The cluster that the Lease of a Link records, if the Link is not suspended, and is invalid or exchanges clusters
   *   with other Links. The cluster is returned until it is known whether the Link can be served by a former spec,
   *   because that spec might select members.
   */
  readonly selecting: () => Iterable<string>;
}

export interface FederationOptions extends Participants {
  readonly env: Pick<SharedEnvironment, 'config' | 'log'> & {
    readonly source: Pick<SourceStores, 'federation' | 'federations' | 'namespaces' | 'ownedBy' | 'isTaken'>;
  };
  /**
   * How long the controller waits before it reconciles a key again, in milliseconds, in two cases:
   * - The federated Service is kept without members ({@link FederationDecision.awaited}).
   * - The federated Service keeps naming this operator only because a target might have a member
   *   ({@link FederationDecision.isUnsure}).
   */
  readonly awaitedRetryMs: number;
}

export class FederationDerivation implements Derivation<ObservedFederation, FederationDecision, Refusal> {
  readonly texts = MIRROR_TEXTS;
  readonly #options: FederationOptions;
  /** Keys for which the last report contained the status of at least one cluster's Service. */
  readonly #reported = new Set<string>();
  /** Keys for which {@link isSettled} returns true. */
  readonly #settled = new Set<string>();

  constructor(options: FederationOptions) {
    this.#options = options;
  }

  keys(): ReadonlySet<string> {
    const { env, local, parties } = this.#options;
    const keys = [local, ...parties.values()].flatMap((each) => [...each.keys()]);
    return new Set([...env.source.federations(), ...keys, ...this.#reported]);
  }

  /**
   * Reports whether all targets' Services of a key have joined, according to the statuses last reported. Services
   * without a status do not count. False if no target's Service has a status.
   */
  isSettled(key: string): boolean {
    return this.#settled.has(key);
  }

  why(key: string, { namespaced }: Resource): Why {
    return {
      create: namespaced ? `Services ${key} join it` : `Services ${key} are to be in it`,
      delete: `it has no part in ${key} any more`,
    };
  }

  observe(key: string): ObservedFederation {
    const { env, local, parties, mayHaveLink, selecting } = this.#options;
    const { namespace, name } = splitKey(key);
    const federation = env.source.federation(key);
    const clusters = listedClusters({ name, ...federation });
    const known = [...parties.values()].map((party): TargetParty => {
      const target = party.observe(key);
      const isLeaving = clusters.has(party.cluster) && hasLeft(target);
      return isLeaving && !isConfirmed(party.members, key) ? { ...target, knowledge: 'unknown' } : target;
    });
    const listed = [...clusters].filter(mayHaveLink);
    const silent = [...new Set([...listed, ...selecting()])].filter((cluster) => !parties.has(cluster));
    return {
      namespace,
      name,
      namespaceState: namespaceStateOf(namespace, env),
      local: local.observe(key),
      targets: [...known, ...silent.map((each) => this.#silent(each))],
      operators: operatorsOf(env),
      ...federation,
    };
  }

  #silent(cluster: string): TargetParty {
    const { isLinked, seniorityOf } = this.#options;
    return { ...unknownParty(cluster, seniorityOf(cluster)), isLinked: isLinked(cluster) };
  }

  decide(observed: ObservedFederation): FederationDecision {
    return decideFederation(observed);
  }

  decided(key: string, { manifests }: FederationDecision): void {
    const creator = manifests.namespaces[0]?.object.metadata.labels?.[Label.clusterName];
    for (const { cluster, budget } of this.#options.parties.values())
      budget?.decided('federation', key, cluster === creator);
  }

  goal(observed: ObservedFederation, { manifests, isLeft }: FederationDecision): Goal {
    const owned = ownedOf(observed);
    // The desired objects include those that must stay, so no `retain` is needed.
    return goalOf(manifests, isLeft ? { ...owned, foreign: undefined } : owned);
  }

  /**
   * Returns a check that is made before each write of one federated Service. The check passes if writes are allowed now
   * by the local cluster and by every target whose membership the write could change ({@link Participant.mayWrite},
   * rule H1).
   */
  fence(observed: ObservedFederation): MayWrite {
    const { local, parties } = this.#options;
    const clusters = listedClusters(observed);
    const concerned = observed.targets.flatMap(({ knowledge, service, link: { cluster } }) => {
      const isConcerned = knowledge !== 'anothers' && (service !== undefined || clusters.has(cluster));
      const party = isConcerned ? parties.get(cluster) : undefined;
      return party === undefined ? [] : [party];
    });
    return () => [local, ...concerned].every(({ mayWrite }) => mayWrite());
  }

  wrote(
    _: string,
    { namespace, name }: ObservedFederation,
    { awaited }: FederationDecision,
    { done }: MirrorPass,
  ): void {
    const { log } = this.#options.env;
    const service = `${namespace}/${federatedName(name)}`;
    for (const { op, of, object } of done) {
      log.debug({ service, op, object: `${of.kind} ${object.metadata.name}` }, 'written');
      if (of === SERVICES && awaited.size > 0) {
        log.info({ service }, 'federated Service kept without members: not all clusters that may have one are known');
      }
      if (of !== SERVICES || op === 'update') continue;
      log.info(
        { service },
        op === 'delete' ? 'federated Service deleted: it has no member' : 'federated Service created',
      );
    }
  }

  settled(key: string, observed: ObservedFederation, decision: FederationDecision, pass: MirrorPass): Outcome {
    if (pass.errors.length === 0) this.#forgetAnswers(key, observed);
    if (!pass.errors.some(isConflict)) this.#report(key, decision, pass);
    // Some findings trigger no reconcile. Examples: a cluster that was just listed has no Service of this key, or
    // another controller holds the Lease of a cluster. The key is therefore reconciled again after `awaitedRetryMs`.
    return decision.awaited.size > 0 || decision.isUnsure ? { requeueAfterMs: this.#options.awaitedRetryMs } : {};
  }

  /**
   * Forgets what a target has answered about a key, for each target that is known to have no Service that could be a
   * member ({@link hasLeft}). Called after a pass without errors. A later removal of a membership then needs a new
   * answer.
   */
  #forgetAnswers(key: string, { targets }: ObservedFederation): void {
    for (const each of targets) {
      if (hasLeft(each)) this.#options.parties.get(each.link.cluster)?.members.forget(key);
    }
  }

  #report(key: string, { statuses, local: ofLocal, awaited }: FederationDecision, pass: MirrorPass): void {
    const { local, parties } = this.#options;
    const after = (status: MirrorStatus | undefined): MirrorStatus | undefined =>
      status?.mirrored === true ? afterPass(status, pass) : status;
    for (const [cluster, party] of parties) {
      party.report(key, after(statuses.get(cluster)), awaited.has(cluster));
    }
    local.report(key, after(ofLocal), awaited.has(undefined));
    if (statuses.size > 0 || ofLocal !== undefined) this.#reported.add(key);
    else this.#reported.delete(key);
    const members = [...statuses.values()].map(after);
    if (members.length > 0 && members.every((status) => status?.mirrored === true)) this.#settled.add(key);
    else this.#settled.delete(key);
  }
}

/**
 * Reports whether an object is a federated Service, or a slice of one. If a creation fails because such an object
 * exists, the object is not foreign: the store has merely not shown it yet.
 */
export const isOfFederation = (object: KubeObject): boolean =>
  'addressType' in object ? federationOf(object) !== undefined : isFederated(object);

/**
 * Returns the observed state of a cluster that has or might have a Link, but does not take part through a session.
 * Nothing is known about its member.
 * @param seniority age and name of the Link that has or names the cluster. Without such a Link, the cluster comes
 *   before all other targets. If its unknown member is then the first member, the labels, annotations and ports of an
 *   existing federated Service stay as they are (rule I6)
 */
export const unknownParty = (
  cluster: string,
  seniority: Seniority = { createdAt: '', name: cluster },
): TargetParty => ({
  knowledge: 'unknown',
  link: { cluster, clusterDomain: '', excludedLabels: [], excludedAnnotations: [], createNamespaces: false },
  seniority,
  mayHaveMember: true,
  mode: 'remote-discovery',
  isDiscoverable: undefined,
  isAdmitted: true,
  anyReady: undefined,
});

/**
 * Returns the status of a member after a pass. If the pass has refusals or errors, the status says so, with the first
 * refusal or else the first error.
 */
function afterPass(status: MirrorStatus, { refusals, errors }: MirrorPass): MirrorStatus {
  const [refusal] = refusals;
  if (refusal !== undefined) return { ...status, mirrored: false, ...refusal };
  if (errors.length === 0) return status;
  return { ...status, mirrored: false, reason: 'Error', message: describe(errors[0]) };
}

/**
 * Reports whether a target is known to have no Service that could be a member: no Service is selected, or the selected
 * Service has an invalid shape ({@link invalidShape}).
 */
const hasLeft = ({ knowledge, service }: TargetParty): boolean =>
  knowledge === 'known' && (service === undefined || invalidShape(service) !== undefined);
