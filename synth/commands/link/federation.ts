/** How the members of federated Services are reached, as the flags of the commands that make Links have it. Pure. */
import type { Problem } from '../common/command-error.ts';
import type { Federation } from './flags.ts';

interface Needs {
  readonly federation?: Federation | undefined;
  /** Whether the target has a gateway. */
  readonly gateway: boolean;
  /** Whether Linkerd may read the target, which a flat network needs. */
  readonly flat: boolean;
}

/** What is given, or what the other flags allow; undefined if the Link need not say. */
export const federationOf = ({ federation, flat, gateway }: Needs): Federation | undefined =>
  federation ?? (gateway && !flat ? 'gateway' : undefined);

/** Flags that exclude each other. */
export const federationProblems = ({ federation, gateway, flat }: Partial<Needs>): readonly Problem[] => {
  const excluded = (by: string): Problem => ({
    object: `--federation=${federation}`,
    reason: `must not be used with ${by}`,
    remedy: 'remove one of them',
  });
  if (federation === 'gateway' && gateway === false) return [excluded('--gateway=false')];
  return federation === 'flat' && flat === false ? [excluded('--flat=false')] : [];
};
