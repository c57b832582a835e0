/** Why a Link cannot be handed back yet: Linkerd's controller renews no token, and ends with the one that it has. */
import { type AccountToken, readAccountToken } from '../../../operator/kube/account-token.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import type { Problem } from '../common/command-error.ts';
import { shellWord } from '../common/command-text.ts';
import { ifAllowed } from '../common/readable.ts';
import { namespaceWords, quoted } from '../common/remedies.ts';
import { secretNameOf, tokensIn } from '../link/held.ts';
import type { LinkState } from './state.ts';

/** The obstacles, as far as the Secrets of the Links may be read. */
export const endingTokenProblems = async (
  states: readonly LinkState[],
  cluster: Cluster,
  namespace: string,
): Promise<readonly Problem[]> => {
  const problems = states.map(async ({ name, link }): Promise<readonly Problem[]> => {
    const ref = { namespace, name: secretNameOf(link, name) };
    const read = await ifAllowed(() => cluster.find<Secret>(SECRETS, ref));
    const [token = ''] = tokensIn(['found' in read ? read.found : undefined]);
    const ending = readAccountToken(token);
    if (ending === undefined) return [];
    const ends = new Date(ending.expiresAtMs).toISOString();
    const reason = `its token ends at ${ends}, and Linkerd's controller cannot renew it`;
    const remedy = lastingRemedy(ending, link.spec?.targetClusterName ?? name);
    return [{ object: cluster.title(SECRETS.kind, ref), reason, remedy }];
  });
  return (await Promise.all(problems)).flat();
};

/** Both commands are for the target, whose context only the user knows. */
const lastingRemedy = ({ namespace, account }: AccountToken, target: string): string => {
  const command = (...words: readonly string[]): string => {
    const all = ['linkspan', ...words, '--long-lived-token', '--service-account-name', account];
    return quoted([...all, ...namespaceWords(namespace)].map(shellWord).join(' '));
  };
  const give = command('allow', '--ignore-cluster', '--apply');
  const print = command('link-gen', '--cluster-name', target);
  return `give its account one that does not end, ${give}, and put the Secret in its place that ${print} prints: both with --context and that of ${target}`;
};
