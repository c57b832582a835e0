/** Checks of the source cluster itself: that it can be read, and what every Link needs there. */
import { LinkApi } from '../../../../crds/wire.ts';
import { type Check, error, judged, skipped, warning } from '../check-type.ts';
import { missingFields, servesLinks } from '../crd-fields.ts';
import { LINKERD_CONFIG } from '../../common/linkerd.ts';
import { applyCrds, byInstall, byKubectl, byLinkerd } from '../../common/remedies.ts';
import type { Survey } from '../survey.ts';

const KUBERNETES = 'kubernetes-api';
const EXTENSION = 'extension';

export const CLUSTER_CHECKS: readonly Check<Survey>[] = [
  {
    id: 'source-api',
    category: KUBERNETES,
    title: 'the Kubernetes API can be queried',
    means: 'The API server does not answer, or refuses the credentials of the kubeconfig. Nothing else can be checked.',
    remedy:
      'Check the context, log in again, and check that the API server is up and can be reached from this machine.',
    judge: ({ kubernetes, context, server }) =>
      judged(
        kubernetes.ok
          ? []
          : [
              kubernetes.obstacle === 'unauthorized'
                ? error(context, kubernetes.why, 'log in to the cluster again: its API server refuses the credentials')
                : error(context, kubernetes.why, `check that ${server} is up, and can be reached from here`),
            ],
      ),
  },
  {
    id: 'source-reads',
    category: KUBERNETES,
    title: 'everything that is checked can be read',
    means:
      'Some objects of the source cannot be read with these credentials. The checks that need them are skipped, and say nothing about whether all is well.',
    remedy: 'Use a context with the right that is named, or have it granted.',
    judge: (survey) =>
      survey.kubernetes.ok
        ? judged(
            survey.unread.map(({ what, why, obstacle }) =>
              error(
                survey.context,
                `cannot ${what}: ${why}`,
                obstacle === 'forbidden'
                  ? 'use a context that may, or have it granted'
                  : `try again; if it stays so, see whether all APIs are served: ${byKubectl(survey, 'get', 'apiservices')}`,
              ),
            ),
          )
        : skipped('the API server cannot be reached'),
  },
  {
    id: 'extension-namespace',
    category: EXTENSION,
    title: 'the namespace of the extension exists',
    means: 'Links, their credentials and the operator live in this namespace. Without it there is nothing to check.',
    remedy: 'Install the extension there, or name its namespace with `--namespace`.',
    judge: (survey) => {
      const { extensionNamespace, namespace } = survey;
      const install = byInstall(survey);
      if (!extensionNamespace.ok) return skipped('Namespaces cannot be read');
      if (extensionNamespace.value === undefined) {
        const remedy = `install the extension there: ${install}; or name its namespace with --namespace`;
        return judged([error(`Namespace ${namespace}`, 'not found', remedy)]);
      }
      const isGoing = extensionNamespace.value.metadata.deletionTimestamp !== undefined;
      return judged(
        isGoing
          ? [
              error(
                `Namespace ${namespace}`,
                'is being deleted',
                `wait until it is gone, then install the extension again: ${install}`,
              ),
            ]
          : [],
      );
    },
  },
  {
    id: 'link-crd',
    category: EXTENSION,
    title: 'the CRD of the Link exists',
    means: 'The API server does not serve Links of the version that the operator and Linkerd read.',
    remedy: 'Apply the CRD: `linkspan crds | kubectl apply --server-side --force-conflicts -f -`.',
    judge: (survey) => {
      const { crd } = survey;
      if (!crd.ok) return skipped('CustomResourceDefinitions cannot be read');
      const object = `CustomResourceDefinition ${LinkApi.crd}`;
      const remedy = `apply it: ${applyCrds(survey)}`;
      if (crd.value === undefined) return judged([error(object, 'not found', remedy)]);
      const { metadata, status } = crd.value;
      if (metadata.deletionTimestamp !== undefined) {
        return judged([
          error(
            object,
            'is being deleted, and all Links with it',
            `wait until it is gone, then apply it: ${applyCrds(survey)}`,
          ),
        ]);
      }
      if (!servesLinks(crd.value)) return judged([error(object, `does not serve ${LinkApi.version}`, remedy)]);
      const established = status?.conditions?.find(({ type }) => type === 'Established');
      return judged(
        established?.status === 'True'
          ? []
          : [error(object, `is not established: ${established?.message ?? 'no condition says so'}`, remedy)],
      );
    },
  },
  {
    id: 'link-crd-fields',
    category: EXTENSION,
    title: 'the CRD of the Link keeps every field',
    means:
      "The CRD is Linkerd's, or older than this command. The API server drops the fields that it does not have: settings of Linkspan have no effect, and without `status.conditions` nobody can see what is wrong with a Link, this command included.",
    remedy:
      'Apply the CRD of Linkspan, which is a superset: `linkspan crds | kubectl apply --server-side --force-conflicts -f -`.',
    judge: (survey) => {
      const { crd } = survey;
      if (!crd.ok || crd.value === undefined) return skipped('there is no CRD to look at');
      const missing = missingFields(crd.value);
      if (missing.length === 0) return judged([]);
      const reason = `drops ${missing.join(', ')}`;
      const remedy = `apply it: ${applyCrds(survey)}`;
      return judged([warning(`CustomResourceDefinition ${LinkApi.crd}`, reason, remedy)]);
    },
  },
  {
    id: 'linkerd-config',
    category: EXTENSION,
    title: 'Linkerd is installed',
    means: "The settings of Linkerd's control plane are not there. Without Linkerd, traffic does not cross clusters.",
    remedy: 'Install Linkerd, or name the namespace of its control plane with `--linkerd-namespace`.',
    judge: (survey) => {
      const { linkerd, linkerdNamespace } = survey;
      if (!linkerd.ok) return skipped("Linkerd's settings cannot be read");
      const object = `ConfigMap ${linkerdNamespace}/${LINKERD_CONFIG}`;
      if (linkerd.value === undefined) {
        return judged([error(object, 'not found', 'install Linkerd, or name its namespace with --linkerd-namespace')]);
      }
      return judged(
        'invalid' in linkerd.value
          ? [error(object, `is not valid YAML: ${linkerd.value.invalid}`, `see ${byLinkerd(survey, 'check')}`)]
          : [],
      );
    },
  },
];
