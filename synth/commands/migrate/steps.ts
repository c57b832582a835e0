/** A Link handed from Linkerd's controller to the operator, and back. Each step is safe to repeat. */
import { Annotation, Value, writeLeaseName } from '../../../crds/wire.ts';
import { LINKS } from '../common/kinds.ts';
import { conditionOf } from '../common/link-status.ts';
import { liveReader } from '../common/reader.ts';
import { type LinkState, readState, replicasBefore, replicasOf } from './state.ts';
import { type Awaited, isAvailable, startAgain, type StepOptions, stop, until, verifyKept } from './step.ts';

/** Stops Linkerd's controller of a Link, and waits until the operator writes for it, and the Link is Ready. */
export const migrateLink = async (before: LinkState, options: StepOptions): Promise<void> => {
  if (before.isSuspended) await suspend(before, null, options);
  for (const controller of before.controllers) await stop(controller, options);
  await until(
    linkOf(before),
    'the operator to write for',
    ({ writer, holder, link }) => {
      if (writer !== 'operator') return holder === undefined ? 'nobody does' : `${holder} holds its Lease`;
      const ready = conditionOf(link, 'Ready');
      return ready?.status === 'True' ? undefined : `Ready: ${ready?.reason ?? 'unknown'}: ${ready?.message ?? ''}`;
    },
    options,
  );
  await verify(before, options);
};

/** Starts Linkerd's controller of a Link again, and has the operator leave the Link to it. */
export const handBackLink = async (before: LinkState, options: StepOptions): Promise<void> => {
  for (const controller of before.controllers) {
    const replicas = replicasBefore(controller);
    if (replicas !== undefined) await startAgain(controller, replicas, options);
  }
  // Only then is the Link given up: what stands by takes over at once.
  await until(
    linkOf(before),
    "Linkerd's controller to be available for",
    ({ controllers }) => {
      const waited = controllers.filter((each) => replicasOf(each) > 0);
      if (waited.length === 0) return 'none is installed, or it has no replicas';
      const missing = waited.find((each) => !isAvailable(each));
      return missing && `Deployment ${missing.metadata.name} has no available replica`;
    },
    options,
  );
  if (!before.isSuspended) await suspend(before, Value.true, options);
  await until(
    linkOf(before),
    "Linkerd's controller to write for",
    ({ writer, holder }) =>
      writer === 'another' ? undefined : writer === 'nobody' ? 'nobody does' : `${holder ?? ''} holds its Lease`,
    options,
  );
  await verify(before, options);
};

const linkOf = ({ name }: LinkState): Awaited<LinkState> => ({
  kind: LINKS.kind,
  name,
  lease: writeLeaseName(name),
  read: ({ cluster, namespace }) => readState(liveReader(cluster), namespace, name),
});

const suspend = async ({ name, link }: LinkState, value: string | null, options: StepOptions): Promise<void> => {
  const { cluster, namespace, report } = options;
  await cluster.patch(LINKS, { namespace, name }, { metadata: { annotations: { [Annotation.suspended]: value } } });
  await report.add({ context: cluster.context, object: { ...link, kind: LINKS.kind }, outcome: 'configured' });
};

const verify = async (before: LinkState, options: StepOptions): Promise<void> => {
  const now = await linkOf(before).read(options);
  verifyKept(before.mirrors, now?.mirrors, `Link ${before.name}: ${before.mirrors.size} mirrors`, options);
};
