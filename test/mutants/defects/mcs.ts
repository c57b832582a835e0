import type { Defect } from '../defect.ts';

const DECIDE_TEST = 'test/operator/mcs/decide.test.ts';
const CONFLICTS_TEST = 'test/operator/mcs/conflicts.test.ts';

const CONSTRUCT_TEST = 'test/constructs/rendered/import/service-import.test.ts';

const EXPORTS = { file: 'operator/mcs/exports.ts', tests: [DECIDE_TEST] };
const CONFLICTS = { file: 'operator/mcs/conflicts.ts', tests: [DECIDE_TEST] };

const DECIDE = { file: 'operator/mcs/decide.ts', tests: [DECIDE_TEST] };

export const MCS: readonly Defect[] = [
  {
    ...DECIDE,
    name: 'a derived Service that another operator has begun keeps a headless ServiceImport away',
    rule: 'L113',
    find: 'isOfLocalAlone(observed) || isBegunBesidePods(observed)',
    replace: 'isOfLocalAlone(observed)',
  },
  {
    ...DECIDE,
    name: 'what a cluster that has left has of a deleted ServiceImport stays while another is not known',
    rule: 'L92',
    find: 'manifests: withoutThose(observed, left)',
    replace: 'manifests: withoutThose(observed, left.slice(left.length))',
  },
  {
    file: 'operator/mcs/desired.ts',
    tests: [DECIDE_TEST],
    name: 'the pods of a ServiceImport that waits for an address stay ready behind a dead gateway',
    rule: 'L97',
    find: 'const kept = standing(observed);',
    replace: 'const kept = asItIs(observed);',
  },
  {
    file: 'operator/mcs/sources.ts',
    tests: [DECIDE_TEST],
    name: 'copies of the slices of a flat network say whether its gateway is alive',
    rule: 'L90',
    find: '`${importSlicePrefix(observed.name, target.link.cluster)}-ipv`',
    replace: "'web-clusterset'",
  },
  {
    file: 'operator/mcs/sources.ts',
    tests: [DECIDE_TEST],
    name: 'what a headless ServiceImport has says whether the gateway is alive',
    rule: 'L99',
    find: '    )\n    .filter(hasNoHostnames);',
    replace: '    );',
  },
  {
    ...DECIDE,
    name: 'a ServiceImport that another operator serves is deleted',
    rule: 'K7',
    find: 'const operator = operatorOf(observed, operators);',
    replace: 'const operator = operatorOf(observed, operators) && operators.own;',
  },
  {
    ...CONFLICTS,
    name: 'of two exports of one age that decides whose cluster has the first id',
    rule: 'K2',
    find: 'if (a.uid !== b.uid) return a.uid < b.uid ? -1 : 1;',
    replace: '',
    tests: [CONFLICTS_TEST],
  },
  {
    ...EXPORTS,
    name: 'an export is as old as its target says',
    rule: 'K2',
    find: 'linkedAt === undefined ? 0 : timeOf(linkedAt)',
    replace: '(void linkedAt, 0)',
    tests: [CONFLICTS_TEST],
  },
  {
    file: 'constructs/rendered/import/service-import.ts',
    tests: [CONSTRUCT_TEST],
    name: 'a ServiceImport does not name its derived Service',
    rule: 'K6',
    find: "...(props.type !== 'Headless' && { [Annotation.derivedService]: derivedName(service) }),",
    replace: '',
  },
  {
    ...DECIDE,
    name: 'L81 a ServiceImport goes with its last cluster before all others are known',
    rule: 'K5',
    find: 'live === undefined || !targets.some((each) => mayExport(each, local.id))',
    replace: 'true || !targets.some(mayExport)',
  },
  {
    file: 'operator/mcs/membership.ts',
    tests: [DECIDE_TEST],
    name: 'L82 a target that is called as the cluster itself keeps what the latter exported',
    rule: 'K2',
    find: '&& (target === undefined || cluster !== ownId)',
    replace: '&& (ownId !== null)',
  },
  {
    file: 'operator/mcs/derivation.ts',
    tests: ['test/operator/mcs/imports.test.ts'],
    name: 'a pod that waits for an answer takes back that its objects could not be deleted',
    rule: 'L101',
    find: 'const isPending = departures.includes(Infinity);',
    replace: 'const isPending = false;',
  },
  {
    file: 'operator/mcs/derivation.ts',
    tests: ['test/operator/mcs/imports.test.ts'],
    name: 'L85 a derived Service that names another operator is put right before that can take it over',
    rule: 'K7',
    find: 'if (nowMs < sinceMs + DOUBT_MS) return true;',
    replace: '',
  },
  {
    file: 'operator/mcs/parties.ts',
    tests: ['test/operator/link/suspended.test.ts'],
    name: "a part whose suspended Link takes no exports counts as another operator's",
    rule: 'L111',
    find: 'served.has(cluster), isLinked(cluster))',
    replace: 'served.has(cluster), isLinked(cluster) && [...exporting()].includes(cluster))',
  },
  {
    name: 'a slice of a pod that has lost the label of its Service is desired twice',
    file: 'operator/mcs/sources.ts',
    rule: 'L133',
    find: 'service === undefined && !isOfPod(slice)',
    replace: 'service === undefined',
    tests: ['test/operator/mcs/pods.test.ts'],
  },
  {
    name: 'L134 a cluster whose id has yet to be read has no part in a ServiceImport that has no object of it',
    file: 'operator/mcs/membership.ts',
    rule: 'L134',
    find: "if (isUnknown && !isNamedAsLocal && recordedClusters(observed).includes(target?.link.cluster ?? '')) return true;",
    replace: '',
    tests: ['test/operator/mcs/decide.test.ts'],
  },
  {
    name: 'the export of a cluster whose id is another by now is not waited for',
    file: 'operator/mcs/membership.ts',
    rule: 'L134',
    find: 'const isUnknown = !exporter.isKnown || exporter.id === undefined;',
    replace: 'const isUnknown = exporter.id === undefined;',
    tests: ['test/operator/mcs/decide.test.ts'],
  },
  {
    name: 'the parts of a cluster whose id has yet to be read are not counted',
    file: 'operator/mcs/derivation.ts',
    rule: 'L134',
    find: "parties.hasId(cluster) ? [] : watched.store.by('recorded', cluster)",
    replace: "parties.hasId(cluster) ? [] : watched.store.by('recorded', `former ${cluster}`)",
    tests: ['test/operator/mcs/imports.test.ts'],
  },
  {
    name: 'L137 a target that is called as the cluster itself may yet export',
    file: 'operator/mcs/decide.ts',
    rule: 'L137',
    find: 'target.link.cluster !== ownId &&',
    replace: '',
    tests: ['test/operator/mcs/decide.test.ts'],
  },
  {
    name: 'a cluster that only the recorded order of a ServiceImport names has no part in it',
    file: 'operator/mcs/parties.ts',
    rule: 'L164',
    find: ', ...recorded].filter(mayHaveLink)',
    replace: ', ...recorded.slice(0, 0)].filter(mayHaveLink)',
    tests: ['test/operator/mcs/imports.test.ts'],
  },
  {
    file: 'operator/mcs/exports.ts',
    tests: ['test/operator/mcs/decide.test.ts'],
    name: 'L160 exported annotations may be of any size together',
    rule: 'L160',
    find: 'Object.fromEntries(first.filter(fits))',
    replace: 'Object.fromEntries(first)',
  },
];
