/**
 * Who keeps a Secret as it is: a controller that owns it, as of External Secrets, or software that has set its data, as
 * Argo CD or Helm. What is written into it would be taken back, after the old token is gone. Pure.
 */
import { type Cluster, COMMAND_LINE } from '../common/cluster.ts';
import { managersOf } from '../common/change-set/fields.ts';
import type { Problem } from '../common/command-error.ts';
import { type KubeObject, type Secret, SECRETS } from '../../../operator/kube/objects.ts';

/** Whoever keeps an object. */
export interface Keeper {
  /** Its name, as in `ExternalSecret cluster-credentials-west`. */
  readonly name: string;
  /** Whether it owns the object, so that no write of ours can last. */
  readonly isController: boolean;
}

interface OwnerReference {
  readonly kind: string;
  readonly name: string;
  readonly controller?: boolean;
}

/** Managers that write when a person runs them. */
const BY_HAND = /^(kubectl|linkerd|before-first-apply$)/;

/** Whoever keeps a Secret; undefined if people write it. */
export const keeperOf = (secret: Secret): Keeper | undefined => {
  const { ownerReferences = [] } = secret.metadata as KubeObject['metadata'] & {
    readonly ownerReferences?: readonly OwnerReference[];
  };
  const controller = ownerReferences.find((each) => each.controller === true);
  if (controller !== undefined) return { name: `${controller.kind} ${controller.name}`, isController: true };
  const managers = managersOf(secret, ['data'], COMMAND_LINE).filter((manager) => !BY_HAND.test(manager));
  return managers.length === 0 ? undefined : { name: managers.join(', '), isController: false };
};

/**
 * The obstacle to writing new credentials into a Secret.
 * @param isForced whether `--force-conflicts` was given
 * @param minting the command that prints new credentials
 */
export const keptProblem = (
  source: Cluster,
  secret: Secret,
  { isForced, minting }: { readonly isForced: boolean; readonly minting: string },
): readonly Problem[] => {
  const keeper = keeperOf(secret);
  if (keeper === undefined || (isForced && !keeper.isController)) return [];
  const force = keeper.isController ? '' : ', or add --force-conflicts to write over it';
  return [
    {
      object: source.title(SECRETS.kind, secret.metadata),
      reason: `${keeper.name} keeps it, and would take back what is written`,
      remedy: `put new credentials where ${keeper.name} takes them from: \`${minting}\` prints them${force}`,
    },
  ];
};
