/** Checks of imports by the MCS API: its CRDs are complete, and targets let the operator read what they export. */
import { clusterPropertyCrd, serviceExportCrd, serviceImportCrd } from '../../../../crds/index.ts';
import { McsApi } from '../../../../crds/wire.ts';
import { type Check, type Finding, judged, skipped, warning } from '../check-type.ts';
import { eachLink, notJudged, type NotJudged } from '../link-judgement.ts';
import type { Crd } from '../objects.ts';
import { rightText } from '../reader.ts';
import type { LinkFacts, McsFacts, Survey } from '../survey.ts';

const CATEGORY = 'imports by the MCS API';

/** The CRDs that both must be there for anything to be imported. */
const NEEDED = [serviceExportCrd, serviceImportCrd];
const NOT_INSTALLED = 'the CRDs of the MCS API are not installed';

/** Why nothing is imported here, if so. */
const notImporting = ({ mcs }: Survey): string | undefined => {
  if (!mcs.ok) return 'CustomResourceDefinitions cannot be read';
  if (!mcs.value.isServed) return 'the operator imports nothing by the MCS API';
  return NEEDED.some(({ metadata }) => mcs.value.crds.has(metadata.name)) ? undefined : NOT_INSTALLED;
};

const crdFindings = ({ crds }: McsFacts, context: string): readonly Finding[] => {
  const remedy = `linkspan crds --mcs | kubectl --context ${context} apply --server-side -f -`;
  return NEEDED.flatMap(({ metadata: { name } }) => {
    const object = `CustomResourceDefinition ${name}`;
    const crd = crds.get(name);
    if (crd === undefined) return [warning(object, 'not found: nothing is imported without it', remedy)];
    if (crd.metadata.deletionTimestamp !== undefined) {
      return [warning(object, 'is being deleted, and its objects with it', 'wait until it is gone, then apply it')];
    }
    return unserved(name, crd).map((why) => warning(object, why, remedy));
  });
};

const unserved = (name: string, { spec }: Crd): readonly string[] => {
  const isServed = (version: string) => spec?.versions?.some((each) => each.name === version && each.served === true);
  const { version, olderVersion } = McsApi;
  return [
    ...(isServed(version) ? [] : [`does not serve ${version}, which the operator reads`]),
    ...(name !== serviceImportCrd.metadata.name || isServed(olderVersion)
      ? []
      : [`does not serve ${olderVersion}, which CoreDNS reads: names in clusterset.local do not resolve`]),
  ];
};

const rightsFindings = (link: LinkFacts): readonly Finding[] | NotJudged => {
  const { target, settings, cluster, namespace, secretName } = link;
  if (settings?.serviceExports === false) return [];
  if (target === undefined) return notJudged('there are no valid credentials');
  if (!target.version.ok) return notJudged('the target cannot be reached');
  return target.exportRights.flatMap(({ right, granted }) =>
    granted.ok && !granted.value
      ? [
          warning(
            `account of Secret ${namespace}/${secretName} in ${cluster}`,
            `may not ${rightText(right)}: nothing that ${cluster} exports by the MCS API is imported`,
            `grant it in ${cluster}, as linkspan link does, or set spec.serviceExports of the Link to false`,
          ),
        ]
      : [],
  );
};

export const IMPORT_CHECKS: readonly Check<Survey>[] = [
  {
    id: 'mcs-crds',
    category: CATEGORY,
    title: 'the CRDs of the MCS API are complete',
    means: `The cluster has a CRD of the MCS API, but lacks the other, or one of its versions. The operator reads and writes ${McsApi.version}; CoreDNS reads ServiceImports in ${McsApi.olderVersion}. Without \`${clusterPropertyCrd.metadata.name}\`, of which nothing is reported, the cluster has no id of its own.`,
    remedy: 'Apply the CRDs: `linkspan crds --mcs | kubectl apply --server-side -f -`.',
    judge: (survey) => {
      const why = notImporting(survey);
      if (why !== undefined || !survey.mcs.ok) return skipped(why ?? NOT_INSTALLED);
      return judged(crdFindings(survey.mcs.value, survey.context));
    },
  },
  {
    id: 'target-exports',
    category: CATEGORY,
    title: 'the credentials may read ServiceExports',
    means:
      'The account in the target may not list or watch ServiceExports. What the target exports by the MCS API is not known, so nothing of it is imported, and what is imported stays as it is. Mirrors and federated Services do not need this right.',
    remedy:
      'Grant the right, as the account of `linkspan link` or `RemoteAccess` has it. If nothing is to be imported from this target, set `spec.serviceExports` of its Link to `false`.',
    judge: (survey) => {
      const why = notImporting(survey);
      return why === undefined ? eachLink(survey, rightsFindings) : skipped(why);
    },
  },
];
