/**
 * Checks of imports by the MCS API: its CRDs are complete, targets let the operator read what they export, and what is
 * exported and imported here is well.
 */
import { clusterPropertyCrd, serviceExportCrd, serviceImportCrd } from '../../../../crds/index.ts';
import { McsApi } from '../../../../crds/wire.ts';
import { keyOf } from '../../../../operator/kube/objects.ts';
import type { ServiceImport } from '../../../../operator/mcs/objects.ts';
import type { ServiceExport } from '../../../../operator/target/read/mcs-objects.ts';
import { exportFinding, importFinding } from '../../common/imports.ts';
import { applyCrds, byExplain, linkAgain, patchLink } from '../../common/remedies.ts';
import { type Check, error, type Finding, judged, skipped, warning } from '../check-type.ts';
import { conditionText, eachLink, notJudged, type NotJudged, placeOf } from '../link-judgement.ts';
import { eachObject } from '../object-judgement.ts';
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
  if (mcs.value.isServed === undefined) return 'whether the operator imports by the MCS API is not known';
  if (!mcs.value.isServed) return 'the operator imports nothing by the MCS API';
  return NEEDED.some(({ metadata }) => mcs.value.crds.has(metadata.name)) ? undefined : NOT_INSTALLED;
};

const crdFindings = ({ crds }: McsFacts, survey: Survey): readonly Finding[] => {
  const remedy = `apply it: ${applyCrds(survey, '--mcs')}`;
  return NEEDED.flatMap(({ metadata: { name } }) => {
    const object = `CustomResourceDefinition ${name}`;
    const crd = crds.get(name);
    if (crd === undefined) return [warning(object, 'not found: nothing is imported without it', remedy)];
    if (crd.metadata.deletionTimestamp !== undefined) {
      return [warning(object, 'is being deleted, and its objects with it', `wait until it is gone, then ${remedy}`)];
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

const rightsFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  const { target, settings, cluster, name, namespace, secretName } = link;
  if (settings?.serviceExports === false) return [];
  if (target === undefined) return notJudged('there are no valid credentials');
  if (!target.version.ok) return notJudged('the target cannot be reached');
  // Why a right cannot be asked for is reported with what else cannot be read there.
  if (target.exportRights.some(({ granted }) => !granted.ok)) return notJudged('a right cannot be asked for');
  return target.exportRights.flatMap(({ right, granted }) =>
    granted.ok && !granted.value
      ? [
          warning(
            `account of Secret ${namespace}/${secretName} in ${cluster}`,
            `may not ${rightText(right)}: nothing that ${cluster} exports by the MCS API is imported`,
            `grant it in ${cluster}: link it again: ${linkAgain(placeOf(link, survey), link)}; or import nothing of it: ${patchLink(placeOf(link, survey), name, { serviceExports: false })}`,
          ),
        ]
      : [],
  );
};

const exportFindings = (serviceExport: ServiceExport, survey: Survey): readonly Finding[] => {
  const key = keyOf(serviceExport);
  const object = `ServiceExport ${key}`;
  const remedy = `follow it: ${byExplain(survey, key)}`;
  const finding = exportFinding(serviceExport);
  switch (finding?.what) {
    case undefined:
      return [];
    case 'invalid':
      return [error(object, conditionText(finding.condition), remedy)];
    case 'conflict':
      return [warning(object, conditionText(finding.condition), remedy)];
    case 'unreported': {
      // Other clusters read it all the same.
      const isExpected = survey.mcs.ok && survey.mcs.value.isServed === true;
      const reason = 'no operator of this cluster has reported on it, as it is now';
      return [(isExpected ? error : warning)(object, reason, remedy)];
    }
  }
};

const importFindings = (serviceImport: ServiceImport, survey: Survey): readonly Finding[] => {
  const condition = importFinding(serviceImport);
  const key = keyOf(serviceImport);
  return condition === undefined
    ? []
    : [error(`ServiceImport ${key}`, conditionText(condition), `follow it: ${byExplain(survey, key)}`)];
};

export const IMPORT_CHECKS: readonly Check<Survey>[] = [
  {
    id: 'mcs-crds',
    category: CATEGORY,
    title: 'the CRDs of the MCS API are complete',
    means: `The cluster has a CRD of the MCS API, but lacks the other, or one of its versions. The operator reads and writes ${McsApi.version}; CoreDNS reads ServiceImports in ${McsApi.olderVersion}. Without \`${clusterPropertyCrd.metadata.name}\`, of which nothing is reported, the cluster has no id of its own.`,
    remedy: 'Apply the CRDs: `linkspan crds --mcs | kubectl apply --server-side --force-conflicts -f -`.',
    judge: (survey) => {
      const why = notImporting(survey);
      if (why !== undefined || !survey.mcs.ok) return skipped(why ?? NOT_INSTALLED);
      return judged(crdFindings(survey.mcs.value, survey));
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
  {
    id: 'exports-valid',
    category: CATEGORY,
    title: 'ServiceExports are valid, and conflict with no other',
    means:
      'A Service of this cluster that is exported by the MCS API is not imported by others: it does not exist, or is of a kind that cannot be exported; or nobody reports on its ServiceExport. A conflict with the export of another cluster is a warning: the older one wins.',
    remedy: 'See the reason. [mcs.md](mcs.md) explains each.',
    judge: (survey) =>
      eachObject(survey, 'ServiceExports', survey.serviceExports, (each) => exportFindings(each, survey)),
  },
  {
    id: 'imports-ready',
    category: CATEGORY,
    title: 'ServiceImports are ready',
    means:
      'A name in `clusterset.local` does not resolve, or does not lead to what is exported: somebody else has the name of its Service, or the operator does not report on the ServiceImport.',
    remedy: 'See the reason. `linkspan explain` follows a ServiceImport to what clients reach in each cluster.',
    judge: (survey) =>
      eachObject(survey, 'ServiceImports', survey.serviceImports, (each) => importFindings(each, survey)),
  },
];
