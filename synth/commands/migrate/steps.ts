/**
 * A Link handed from Linkerd's controller to the operator, and back. Each step is safe to repeat, and a step that fails is
 * undone: at every moment somebody writes for the Link, or is about to.
 */
import { Annotation, Value, writeLeaseName } from '../../../crds/wire.ts';
import { linkspan } from '../common/command-text.ts';
import { LINKS } from '../common/kinds.ts';
import { reportOf } from '../common/link-status.ts';
import { liveReader } from '../common/reader.ts';
import type { Standby } from './standby.ts';
import { isSuspended, type LinkState, readState, replicasOf } from './state.ts';
import {
  type Awaited,
  isAvailable,
  orUndo,
  patchAsItIs,
  startAgain,
  type StepOptions,
  stop,
  until,
  verifyKept,
} from './step.ts';

/** Stops Linkerd's controller of a Link, and waits until the operator writes for it, and the Link is Ready. */
export const migrateLink = async (before: LinkState, standby: Standby, options: StepOptions): Promise<void> => {
  const isOperators = before.writer === 'operator' && !before.isSuspended;
  const running = before.controllers.filter((each) => replicasOf(each) > 0);
  if (!isOperators || running.length > 0) await standby.wait([before.name]);
  await orUndo(
    async () => {
      if (before.isSuspended) {
        await suspend(before, null, options);
        // Nobody has looked at the target of a suspended Link: whether the operator can serve it shows only now.
        await standby.wait([before.name]);
      }
      for (const controller of before.controllers) await stop(controller, options);
      await until(linkOf(before), 'the operator to write for', whyNotOperators, options);
    },
    () => (isOperators ? startAll(before, running, options) : putBack(before, options)),
    backText(before, options),
  );
  await verify(before, options);
};

/** Why a Link is not the operator's yet. */
const whyNotOperators = ({ writer, holder, link, controllers }: LinkState): string | undefined => {
  if (writer !== 'operator') {
    if (controllers.some((each) => replicasOf(each) > 0)) {
      return 'its controller was scaled up again, by Argo CD, Flux or another tool that manages it';
    }
    return holder === undefined ? 'nobody does' : `${holder} holds its Lease`;
  }
  const { ready } = reportOf(link);
  return ready.status === 'True' ? undefined : `Ready: ${ready.reason}: ${ready.message}`;
};

/** Gives a Link back that the operator has not taken over: Linkerd's controller is started, and writes for it again. */
const putBack = async (before: LinkState, options: StepOptions): Promise<string | undefined> => {
  const { name } = before;
  const now = await linkOf(before).read(options);
  if (now === undefined || whyNotOperators(now) === undefined) return undefined;
  const started = await startAll(before, now.controllers, options);
  if (now.writer === 'operator') {
    if (started === undefined)
      return `Link ${name}: the operator writes for it, since no controller can be started again`;
    // It writes until the other can: what stands by takes over at once.
    await available(before, options);
  }
  if (before.isSuspended || now.writer === 'operator') await suspend(before, Value.true, options);
  if (started !== undefined) return started;
  return now.controllers.some((each) => replicasOf(each) > 0)
    ? `Link ${name}: left to Linkerd's controller again`
    : `Link ${name}: Linkerd's controller of it had no replicas, and has none`;
};

/** Starts controllers again that were stopped; undefined if there are none. */
const startAll = async (
  { name }: LinkState,
  controllers: LinkState['controllers'],
  options: StepOptions,
): Promise<string | undefined> => {
  const started: string[] = [];
  for (const controller of controllers) {
    if (await startAgain(controller, options)) started.push(controller.metadata.name);
  }
  return started.length === 0
    ? undefined
    : `Link ${name}: Deployment ${started.join(', ')} of Linkerd's controller has its replicas again`;
};

/** Starts Linkerd's controller of a Link again, and has the operator leave the Link to it. */
export const handBackLink = async (before: LinkState, options: StepOptions): Promise<void> => {
  for (const controller of before.controllers) await startAgain(controller, options);
  // Only then is the Link given up: what stands by takes over at once.
  await available(before, options);
  await orUndo(
    async () => {
      if (!before.isSuspended) await suspend(before, Value.true, options);
      await until(
        linkOf(before),
        "Linkerd's controller to write for",
        ({ writer, holder }) =>
          writer === 'another' ? undefined : writer === 'nobody' ? 'nobody does' : `${holder ?? ''} holds its Lease`,
        options,
      );
    },
    async () => {
      if (before.isSuspended || before.writer !== 'operator') return undefined;
      await suspend(before, null, options);
      return `Link ${before.name}: given back to the operator`;
    },
    linkspan(options.cluster, 'migrate', before.name, '--apply', `--namespace=${options.namespace}`),
  );
  await verify(before, options);
};

/** Waits until Linkerd's controller stands by, or leads. */
const available = (before: LinkState, options: StepOptions): Promise<void> =>
  until(
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

const backText = ({ name }: LinkState, { cluster, namespace }: StepOptions): string =>
  linkspan(cluster, 'migrate', name, '--back', '--apply', `--namespace=${namespace}`);

const linkOf = ({ name }: LinkState): Awaited<LinkState> => ({
  kind: LINKS.kind,
  name,
  lease: writeLeaseName(name),
  read: ({ cluster, namespace }) => readState(liveReader(cluster), namespace, name),
});

const suspend = async ({ link }: LinkState, value: string | null, options: StepOptions): Promise<void> => {
  await patchAsItIs(
    LINKS,
    link,
    (live) =>
      isSuspended(live) === (value === Value.true)
        ? undefined
        : { metadata: { annotations: { [Annotation.suspended]: value } } },
    options,
  );
};

const verify = async (before: LinkState, options: StepOptions): Promise<void> => {
  const now = await linkOf(before).read(options);
  verifyKept(before.mirrors, now?.mirrors, `Link ${before.name}: ${before.mirrors.size} mirrors`, options);
};
