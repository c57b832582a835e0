/** Checks before an installation, in the order in which they are printed. */
import { Label, LinkApi } from '../../../../crds/wire.ts';
import { apiVersionOf } from '../../../../operator/kube/objects.ts';
import { type Check, error, type Finding, judged, skipped, warning } from '../check-type.ts';
import { lackingRights } from '../checks/credentials.ts';
import { missingFields } from '../crd-fields.ts';
import { kubectl } from '../../common/command-text.ts';
import { LINKERD_CONFIG } from '../../common/linkerd.ts';
import { byLinkerd, quoted } from '../../common/remedies.ts';
import { isOperator } from '../survey.ts';
import { readBundle } from '../trust.ts';
import type { PreSurvey } from './survey.ts';

const CATEGORY = 'before-installation';

/** The oldest version of Kubernetes that has all APIs that the manifests use. */
export const OLDEST_MINOR = 27;

const versionFindings = ({ kubernetes, context }: PreSurvey): readonly Finding[] => {
  if (!kubernetes.ok) return [];
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(kubernetes.value) ?? [];
  if (major === undefined) {
    return [
      warning(context, `has an API server of version "${kubernetes.value}", which is not known`, 'check it by hand'),
    ];
  }
  return Number(major) > 1 || Number(minor) >= OLDEST_MINOR
    ? []
    : [error(context, `has Kubernetes ${kubernetes.value}`, `upgrade to 1.${OLDEST_MINOR} or later`)];
};

const linkerdFindings = (survey: PreSurvey): readonly Finding[] => {
  const { linkerd, linkerdNamespace } = survey;
  const remedy = `see ${byLinkerd(survey, 'check')}`;
  if (!linkerd.ok) return [];
  const object = `ConfigMap ${linkerdNamespace}/${LINKERD_CONFIG}`;
  if (linkerd.value === undefined) {
    return [error(object, 'not found', 'install Linkerd first, or name its namespace with --linkerd-namespace')];
  }
  if ('invalid' in linkerd.value) return [error(object, `is not valid YAML: ${linkerd.value.invalid}`, remedy)];
  const bundle = readBundle(linkerd.value.anchors);
  return bundle.ok ? [] : [error(`trust anchors in ${linkerdNamespace}`, bundle.reason, remedy)];
};

const controllersOf = ({ deployments }: PreSurvey): readonly Finding[] =>
  (deployments.ok ? deployments.value : [])
    .filter((each) => !isOperator(each) && each.metadata.labels?.[Label.clusterName] !== undefined)
    .map(({ metadata }) =>
      warning(
        `Deployment ${metadata.namespace ?? ''}/${metadata.name}`,
        `is Linkerd's controller for cluster ${metadata.labels?.[Label.clusterName] ?? ''}`,
        'leave it for now: the operator stands by for its Links until it is gone',
      ),
    );

export const PRE_CHECKS: readonly Check<PreSurvey>[] = [
  {
    id: 'pre-api',
    category: CATEGORY,
    title: 'the Kubernetes API can be queried',
    means: 'The API server does not answer, or refuses the credentials of the kubeconfig.',
    remedy: 'Check the context, and log in again.',
    judge: ({ kubernetes, context, server }) =>
      judged(kubernetes.ok ? [] : [error(context, kubernetes.why, `check that ${server} is up, and log in again`)]),
  },
  {
    id: 'pre-reads',
    category: CATEGORY,
    title: 'everything that is checked can be read',
    means: 'Some objects cannot be read with these credentials. The checks that need them are skipped.',
    remedy: 'Use a context with the right that is named.',
    judge: ({ unread, context, kubernetes }) =>
      kubernetes.ok
        ? judged(unread.map(({ what, why }) => error(context, `cannot ${what}: ${why}`, 'use a context that may')))
        : skipped('the API server cannot be reached'),
  },
  {
    id: 'pre-kubernetes-version',
    category: CATEGORY,
    title: 'Kubernetes is recent enough',
    means: 'The API server does not have all APIs that the manifests use.',
    remedy: `Upgrade Kubernetes to 1.${OLDEST_MINOR} or later.`,
    judge: (facts) => (facts.kubernetes.ok ? judged(versionFindings(facts)) : skipped('the version is not known')),
  },
  {
    id: 'pre-linkerd',
    category: CATEGORY,
    title: 'Linkerd is installed',
    means:
      'There is no control plane of Linkerd, or it has no trust anchors. Without it, traffic does not cross clusters.',
    remedy: 'Install Linkerd first, or name the namespace of its control plane with `--linkerd-namespace`.',
    judge: (facts) =>
      facts.linkerd.ok ? judged(linkerdFindings(facts)) : skipped("Linkerd's settings cannot be read"),
  },
  {
    id: 'pre-policy',
    category: CATEGORY,
    title: "Linkerd's policy is served",
    means: 'The API server lacks a kind by which the gateway and the operator allow their clients.',
    remedy: "Install Linkerd's CRDs: `linkerd install --crds | kubectl apply -f -`.",
    judge: (survey) =>
      survey.policy.every(({ served }) => !served.ok)
        ? skipped('the kinds of the API server cannot be read')
        : judged(
            survey.policy.flatMap(({ of, served }) =>
              served.ok && !served.value
                ? [
                    error(
                      `${of.plural}.${apiVersionOf(of)}`,
                      'not served',
                      `install Linkerd's CRDs: ${quoted(`linkerd install --crds | ${kubectl(survey, 'apply', '-f', '-')}`)}`,
                    ),
                  ]
                : [],
            ),
          ),
  },
  {
    id: 'pre-rights',
    category: CATEGORY,
    title: 'you may write what an installation writes',
    means: 'An installation would stop half way.',
    remedy: 'Use the context of an administrator, or have the right granted.',
    judge: ({ rights, context, kubernetes }) =>
      kubernetes.ok
        ? judged(lackingRights(context, rights, 'use a context that may, or have it granted'))
        : skipped('the API server cannot be reached'),
  },
  {
    id: 'pre-namespace',
    category: CATEGORY,
    title: 'the namespace of the extension is not being deleted',
    means: 'Nothing can be created in a namespace that is being deleted.',
    remedy: 'Wait until it is gone.',
    judge: ({ extensionNamespace, namespace }) => {
      if (!extensionNamespace.ok) return skipped('Namespaces cannot be read');
      const isGoing = extensionNamespace.value?.metadata.deletionTimestamp !== undefined;
      return judged(isGoing ? [error(`Namespace ${namespace}`, 'is being deleted', 'wait until it is gone')] : []);
    },
  },
  {
    id: 'pre-crd',
    category: CATEGORY,
    title: 'no other CRD of the Link is in the way',
    means: "A CRD of the Link is there. Linkerd's, or an older one, is replaced by a superset that keeps its Links.",
    remedy: 'Nothing, unless it is being deleted: then wait until it is gone.',
    judge: ({ crd }) => {
      if (!crd.ok) return skipped('CustomResourceDefinitions cannot be read');
      const object = `CustomResourceDefinition ${LinkApi.crd}`;
      if (crd.value?.metadata.deletionTimestamp !== undefined) {
        return judged([error(object, 'is being deleted, and all Links with it', 'wait until it is gone')]);
      }
      return judged(
        crd.value !== undefined && missingFields(crd.value).length > 0
          ? [warning(object, "is Linkerd's, or an older one", 'nothing: the installation replaces it by a superset')]
          : [],
      );
    },
  },
  {
    id: 'pre-operator',
    category: CATEGORY,
    title: 'no operator is installed yet',
    means: 'An operator of Linkspan is there already. Two of them must not serve one cluster.',
    remedy: 'Upgrade the one that is there, or use the same namespace.',
    judge: ({ operators, namespace }) =>
      operators.ok
        ? judged(
            operators.value.map(({ metadata }) => {
              const object = `Deployment ${metadata.namespace ?? ''}/${metadata.name}`;
              return metadata.namespace === namespace
                ? warning(object, 'is there already', 'an installation changes it in place')
                : error(
                    object,
                    'is an operator in another namespace',
                    'name that namespace with --namespace, or remove it',
                  );
            }),
          )
        : skipped('Deployments cannot be read'),
  },
  {
    id: 'pre-linkerd-controllers',
    category: CATEGORY,
    title: "none of Linkerd's service mirror controllers is installed",
    means: "Linkerd's own controllers write the mirrors of some Links. They and the operator never write at once.",
    remedy: 'Nothing: hand over Link by Link, when you want to.',
    judge: (facts) => (facts.deployments.ok ? judged(controllersOf(facts)) : skipped('Deployments cannot be read')),
  },
];
