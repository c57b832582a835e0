/** Why a Link keeps a token that does not end: Linkerd's controller writes for it, and renews none. */
import { OPERATOR_LEASE, writeLeaseName } from '../../../crds/wire.ts';
import { type Lease, LEASES, SECRETS } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import type { Problem } from '../common/command-error.ts';
import { linkspan } from '../common/command-text.ts';
import { ifAllowed } from '../common/readable.ts';
import { namespaceWords, quoted } from '../common/remedies.ts';
import { isOperator } from '../common/link-served.ts';
import { writingUnder } from '../migrate/state.ts';
import { lifetimeOf } from './ending-token.ts';
import { type Held, tokensIn } from './held.ts';

/** The obstacle to giving a Link a token that ends, as far as its Lease may be read. */
export const linkerdTokenProblems = async (
  source: Cluster,
  { link, secret }: Pick<Held, 'link' | 'secret'>,
  { namespace, forceConflicts }: { readonly namespace: string; readonly forceConflicts?: true },
): Promise<readonly Problem[]> => {
  const isLasting = [...tokensIn([secret])].some((token) => lifetimeOf(token) === undefined);
  if (forceConflicts || link === undefined || secret === undefined || !isLasting) return [];
  const { name } = link.metadata;
  const leases = [writeLeaseName(name), OPERATOR_LEASE];
  const read = await ifAllowed(() =>
    Promise.all(leases.map((each) => source.find<Lease>(LEASES, { namespace, name: each }))),
  );
  const [lease, operators] = 'found' in read ? read.found : [];
  const { writer, holder = '' } = writingUnder(lease, (each) => isOperator(each, operators, link));
  if (writer !== 'another') return [];
  const migrate = quoted(linkspan(source, 'migrate', name, ...namespaceWords(namespace), '--apply'));
  return [
    {
      object: source.title(SECRETS.kind, secret.metadata),
      reason: `has a token that does not end, and ${holder}, which writes for the Link, could not renew one that does`,
      remedy: `hand the Link over to the operator first with ${migrate}, or add --force-conflicts to replace it`,
    },
  ];
};
