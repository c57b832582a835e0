/**
 * Local memberships handed from Linkerd's local mirror to the operator, and back. Each step is safe to repeat, and one that
 * fails is undone.
 */
import { LOCAL_MIRROR, LOCAL_WRITE_LEASE } from '../../../crds/wire.ts';
import { printLine } from '../../print.ts';
import { linkspan } from '../common/command-text.ts';
import { DEPLOYMENTS } from '../common/kinds.ts';
import { type LocalState, readLocal, STANDS_BY } from './local-state.ts';
import type { Standby } from './standby.ts';
import { replicasOf } from './state.ts';
import { type Awaited, isAvailable, orUndo, startAgain, type StepOptions, stop, until, verifyKept } from './step.ts';

/** Stops Linkerd's local mirror, and waits until the operator writes local memberships. */
export const migrateLocal = async (before: LocalState, standby: Standby, options: StepOptions): Promise<void> => {
  const { cluster, namespace } = options;
  await standby.wait([]);
  await orUndo(
    async () => {
      await stop(before.deployment, options);
      await until(LOCAL, 'the operator to write in place of', whyNotOperators, options);
    },
    async () => (before.writer === 'operator' ? undefined : putBack(options)),
    linkspan(cluster, 'migrate', '--back', '--apply', `--namespace=${namespace}`),
  );
  const now = await LOCAL.read(options);
  const { size } = before.federated;
  verifyKept(before.federated, now?.federated, `Deployment ${LOCAL_MIRROR}: ${size} federated Services`, options);
};

/** Why local memberships are not the operator's yet. */
const whyNotOperators = ({ writer, holder, deployment }: LocalState): string | undefined => {
  if (writer === 'operator') return undefined;
  // What Linkerd's chart is applied by may know of no other number of replicas.
  if (replicasOf(deployment) > 0) return 'it was scaled up again, by Argo CD, Flux or another tool that manages it';
  return holder === undefined ? 'nobody does' : `${holder} holds its Lease`;
};

const putBack = async (options: StepOptions): Promise<string | undefined> => {
  const now = await LOCAL.read(options);
  if (now === undefined || whyNotOperators(now) === undefined) return undefined;
  return (await startAgain(now.deployment, options))
    ? `Deployment ${LOCAL_MIRROR}: has its replicas again, and writes local memberships`
    : undefined;
};

/** Starts Linkerd's local mirror again. The operator keeps the Lease as long as it runs. */
export const handBackLocal = async ({ deployment }: LocalState, options: StepOptions): Promise<void> => {
  await startAgain(deployment, options);
  let isOperators = false;
  await until(
    LOCAL,
    'Kubernetes to start',
    (now) => {
      isOperators = now.writer === 'operator';
      if (!isAvailable(now.deployment)) return 'it has no available replica';
      return now.writer === 'nobody' ? 'nobody holds its Lease' : undefined;
    },
    options,
  );
  printLine(`Deployment ${LOCAL_MIRROR}: ${isOperators ? STANDS_BY : `holds Lease ${LOCAL_WRITE_LEASE}`}`);
};

const LOCAL: Awaited<LocalState> = {
  kind: DEPLOYMENTS.kind,
  name: LOCAL_MIRROR,
  lease: LOCAL_WRITE_LEASE,
  read: ({ cluster, namespace }) => readLocal(cluster, namespace),
};
