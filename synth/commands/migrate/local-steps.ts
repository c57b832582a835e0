/** Local memberships handed from Linkerd's local mirror to the operator, and back. Each step is safe to repeat. */
import { LOCAL_MIRROR, LOCAL_WRITE_LEASE } from '../../../crds/wire.ts';
import { printLine } from '../../print.ts';
import { DEPLOYMENTS } from '../common/kinds.ts';
import { type LocalState, readLocal, STANDS_BY } from './local-state.ts';
import { replicasBefore, replicasOf } from './state.ts';
import { type Awaited, isAvailable, startAgain, type StepOptions, stop, until, verifyKept } from './step.ts';

/** Stops Linkerd's local mirror, and waits until the operator writes local memberships. */
export const migrateLocal = async (before: LocalState, options: StepOptions): Promise<void> => {
  await stop(before.deployment, options);
  await until(
    LOCAL,
    'the operator to write in place of',
    ({ writer, holder, deployment }) => {
      if (writer === 'operator') return undefined;
      // What Linkerd's chart is applied by may know of no other number of replicas.
      if (replicasOf(deployment) > 0) return 'it was scaled up again, by Argo CD, Flux or another tool that manages it';
      return holder === undefined ? 'nobody does' : `${holder} holds its Lease`;
    },
    options,
  );
  const now = await LOCAL.read(options);
  const { size } = before.federated;
  verifyKept(before.federated, now?.federated, `Deployment ${LOCAL_MIRROR}: ${size} federated Services`, options);
};

/** Starts Linkerd's local mirror again. The operator keeps the Lease as long as it runs. */
export const handBackLocal = async ({ deployment }: LocalState, options: StepOptions): Promise<void> => {
  const replicas = replicasBefore(deployment);
  if (replicas !== undefined) await startAgain(deployment, replicas, options);
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
