/** Checks of the proxies of the extension's pods: there, ready, and of the version of the control plane. */
import { Annotation } from '../../../../crds/wire.ts';
import { byLinkerd } from '../../common/remedies.ts';
import { type Check, error, type Finding, judged, skipped, warning } from '../check-type.ts';
import { type Pod, running } from '../objects.ts';
import type { Survey } from '../survey.ts';

const CATEGORY = 'operator';
const PROXY = 'linkerd-proxy';

/** Pods of the extension that lack the proxy that they are to have, or whose proxy is not ready. */
const proxyFindings = ({ metadata, spec, status }: Pod, survey: Survey): readonly Finding[] => {
  if (metadata.annotations?.[Annotation.inject] !== 'enabled') return [];
  const object = `Pod ${metadata.namespace ?? ''}/${metadata.name}`;
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  if (!containers.some(({ name }) => name === PROXY)) {
    const remedy = `check that Linkerd's proxy injector runs: ${byLinkerd(survey, 'check')}; then restart the pod`;
    return [warning(object, 'is to be in the mesh, and has no proxy', remedy)];
  }
  const proxy = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find(
    ({ name }) => name === PROXY,
  );
  return proxy?.ready === true
    ? []
    : [error(object, 'its proxy is not ready', `see ${byLinkerd(survey, 'check', '--proxy')}`)];
};

/** A proxy of another version than that of the control plane, as in `edge-26.8.1`. */
const proxyVersionFindings = ({ metadata, spec }: Pod, wanted: string): readonly Finding[] => {
  const proxy = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].find(({ name }) => name === PROXY);
  const [, tag] = /^[^@]*:([^:/@]+)(?:@|$)/.exec(proxy?.image ?? '') ?? [];
  if (tag === undefined || tag === wanted) return [];
  const reason = `has proxy ${tag}, and the control plane is ${wanted}`;
  return [warning(`Pod ${metadata.namespace ?? ''}/${metadata.name}`, reason, 'restart the pod')];
};

export const PROXY_CHECKS: readonly Check<Survey>[] = [
  {
    id: 'proxies',
    category: CATEGORY,
    title: 'the proxies of the extension are healthy',
    means:
      'A pod of the extension that is to be in the mesh has no proxy, or one that is not ready. Gateways refuse its probes.',
    remedy: "Check Linkerd's proxy injector, then restart the pod.",
    judge: (survey) =>
      survey.pods.ok
        ? judged(running(survey.pods.value).flatMap((pod) => proxyFindings(pod, survey)))
        : skipped('Pods cannot be read'),
  },
  {
    id: 'proxy-versions',
    category: CATEGORY,
    title: "the proxies of the extension have the version of Linkerd's control plane",
    means: 'A pod of the extension was not restarted after an upgrade of Linkerd.',
    remedy: 'Restart the pods: `kubectl rollout restart deployment`.',
    judge: ({ pods, linkerd }) => {
      if (!pods.ok) return skipped('Pods cannot be read');
      const settings = linkerd.ok ? linkerd.value : undefined;
      const wanted = settings === undefined || 'invalid' in settings ? undefined : settings.version;
      return wanted === undefined
        ? skipped("the version of Linkerd's control plane is not known")
        : judged(running(pods.value).flatMap((pod) => proxyVersionFindings(pod, wanted)));
    },
  },
];
