/** What stands in the way of new credentials in a Secret that somebody keeps: they would be taken back. Pure. */
import { OUR_MANAGERS } from '../../../crds/wire.ts';
import type { Cluster } from '../common/cluster.ts';
import type { Problem } from '../common/command-error.ts';
import { keeperOf } from '../../../operator/kube/keeper.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';

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
  const keeper = keeperOf(secret, OUR_MANAGERS);
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
