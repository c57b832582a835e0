import type { Defect } from '../defect.ts';

const DECIDE_TEST = 'test/operator/mcs/decide.test.ts';
const RULES_TEST = 'test/operator/mcs/rules.test.ts';
const CONSTRUCT_TEST = 'test/constructs/mirror/service-import.test.ts';

const EXPORTS = { file: 'operator/mcs/exports.ts', tests: [DECIDE_TEST] };
const CONFLICTS = { file: 'operator/mcs/conflicts.ts', tests: [DECIDE_TEST] };
const DECIDE = { file: 'operator/mcs/decide.ts', tests: [DECIDE_TEST] };
const PLAN = { file: 'operator/mcs/import-plan.ts', tests: [DECIDE_TEST] };
const DESIRED = { file: 'operator/mcs/desired.ts', tests: [DECIDE_TEST] };
const SOURCES = { file: 'operator/mcs/sources.ts', tests: [DECIDE_TEST] };
const STATUS = { file: 'operator/mcs/status.ts', tests: [DECIDE_TEST] };
const IDS = { file: 'operator/mcs/cluster-ids.ts', tests: [DECIDE_TEST] };
const SLICES = { file: 'constructs/mirror/import-slices.ts', tests: [CONSTRUCT_TEST] };

export const MCS: readonly Defect[] = [
  {
    ...EXPORTS,
    name: 'a Service of type ExternalName is exported',
    rule: 'K1',
    find: "if (service.spec?.type === 'ExternalName')",
    replace: 'if (false)',
  },
  {
    ...EXPORTS,
    name: 'what is imported is exported again',
    rule: 'K1',
    find: 'service.metadata.labels?.[Label.serviceImport] !== undefined',
    replace: 'false',
  },
  {
    ...EXPORTS,
    name: 'one cluster exports as many ports as it likes',
    rule: 'E1',
    find: 'if (ports.length > MAX_PORTS)',
    replace: 'if (false)',
  },
  {
    ...EXPORTS,
    name: "one cluster's ports keep all others from being imported",
    rule: 'E1',
    find: 'return invalidPorts(service);',
    replace: 'return undefined;',
  },
  {
    ...EXPORTS,
    name: 'an export whose time cannot be read is the oldest',
    rule: 'K2',
    find: 'Number.isNaN(time) ? Infinity : time',
    replace: 'Number.isNaN(time) ? 0 : time',
  },
  {
    ...CONFLICTS,
    name: 'the youngest export decides',
    rule: 'K2',
    find: 'return a.createdAt < b.createdAt ? -1 : 1;',
    replace: 'return a.createdAt < b.createdAt ? 1 : -1;',
  },
  {
    ...CONFLICTS,
    name: 'of two exports of one age each cluster prefers another',
    rule: 'K2',
    find: 'return a.cluster < b.cluster ? -1 : 1;',
    replace: 'return 0;',
    tests: [RULES_TEST],
  },
  {
    ...CONFLICTS,
    name: 'a ServiceImport has two ports of one number',
    rule: 'K2',
    find: 'if (names.has(name) || numbers.has(key) || union.length === MAX_PORTS) continue;',
    replace: 'if (names.has(name) || union.length === MAX_PORTS) continue;',
    tests: [RULES_TEST],
  },
  {
    ...CONFLICTS,
    name: 'Services of another type than the oldest are imported',
    rule: 'K2',
    find: 'byAge.filter(({ type }) => type === oldest.type)',
    replace: 'byAge',
    tests: [RULES_TEST],
  },
  {
    ...CONFLICTS,
    name: 'sessions that last as long as by default are a conflict',
    rule: 'K1',
    find: 'sessionAffinitySeconds: seconds = DEFAULT_SESSION_SECONDS',
    replace: 'sessionAffinitySeconds: seconds = 0',
  },
  {
    ...DECIDE,
    name: 'a missing CRD costs every ServiceImport',
    rule: 'K5',
    find: '!observed.isReadable ||',
    replace: '',
  },
  {
    ...DECIDE,
    name: 'a target that cannot be read costs its part of a ServiceImport',
    rule: 'K5',
    find: 'exporters.filter((each) => !isKnown(each) && isMember(observed, each))',
    replace: 'exporters.filter(() => false)',
  },
  {
    ...DECIDE,
    name: 'a ServiceImport follows some exports while others are not known',
    rule: 'K5',
    find: 'planOf(observed, type, sources, stays.length > 0 ? undefined : resolution)',
    replace: 'planOf(observed, type, sources, resolution)',
  },
  {
    ...DECIDE,
    name: "a user's own ServiceImport is overwritten",
    rule: 'K2',
    find: 'if (live !== undefined && !isOfImport(name, live))',
    replace: 'if (false)',
  },
  {
    ...DECIDE,
    name: 'a Link may import as much as its target exports',
    rule: 'E10',
    find: 'if (targetOf(exporter)?.isAdmitted === false) return [];',
    replace: '',
  },
  {
    ...PLAN,
    name: 'a derived Service that is deleted by hand comes back with another address',
    rule: 'K3',
    find: 'isAddressTaken || live === undefined',
    replace: 'true || live === undefined',
  },
  {
    ...PLAN,
    name: 'an address that another has is asked for again and again',
    rule: 'K3',
    find: 'isAddressTaken || live === undefined',
    replace: 'live === undefined',
  },
  {
    ...PLAN,
    name: 'a cluster that cannot reach a family of addresses says that it can',
    rule: 'K2',
    find: "shared.length === 0 && mode === 'gateway'",
    replace: 'shared.length === 0',
  },
  {
    ...DESIRED,
    name: "a user's Service is taken for the derived one",
    rule: 'K3',
    find: 'if (!isHeadless && derived !== undefined && !isOfImport(name, derived))',
    replace: 'if (false)',
  },
  {
    ...DESIRED,
    name: 'Linkerd finds no endpoints on the way from a flat network to gateways',
    rule: 'K3',
    find: "if (type === 'Headless' || mode !== 'gateway') return manifests;",
    replace: 'return manifests;',
  },
  {
    ...DESIRED,
    name: 'a ServiceImport that becomes headless keeps its derived Service',
    rule: 'K3',
    find: "if (type === 'Headless' || mode !== 'gateway') return manifests;",
    replace: "if (mode !== 'gateway') return manifests;",
  },
  {
    ...DESIRED,
    name: "one cluster's slices keep all others from being imported",
    rule: 'E1',
    find: 'rendered(observed, plan, [cluster]);',
    replace: '',
  },
  {
    ...SOURCES,
    name: 'a headless ServiceImport keeps the slices of what had an address',
    rule: 'K4',
    find: "if (type === 'Headless') return !isOfService;",
    replace: "if (type === 'Headless') return true;",
  },
  {
    ...SOURCES,
    name: 'a dead gateway stays ready while its target cannot be read',
    rule: 'C1',
    find: 'return refreshedSlices(target.gateway, slices, importSlicePrefix(observed.name, target.link.cluster));',
    replace: 'return slices;',
  },
  {
    ...STATUS,
    name: 'an export does not say which clusters it was compared with',
    rule: 'K1',
    find: "return verdict('False', 'NoConflicts', scope);",
    replace: "return verdict('False', 'NoConflicts', '');",
  },
  {
    file: 'operator/runtime/compare.ts',
    tests: ['test/operator/runtime/compare.test.ts'],
    name: 'a ServiceImport is written again and again where a CRD has a default',
    rule: 'K2',
    find: "({ protocol: 'TCP', ...port })",
    replace: '({ ...port })',
  },
  {
    file: 'operator/target/mcs-objects.ts',
    tests: [DECIDE_TEST],
    name: 'what a ServiceImport or an export says is taken as it comes',
    rule: 'E1',
    find: 'checked.ok ? { [field]: checked.value } : {}',
    replace: 'true ? { [field]: value } : {}',
  },
  {
    ...IDS,
    name: 'two clusters have one id',
    rule: 'K2',
    find: '!taken.has(claimed) &&',
    replace: '',
  },
  {
    ...IDS,
    name: "a cluster passes for another by the name of that one's Link",
    rule: 'K2',
    find: '(claimed === name || !names.has(claimed))',
    replace: 'true',
  },
  {
    ...SLICES,
    name: 'DNS answers for the pods of a ServiceImport of type ClusterSetIP',
    rule: 'K4',
    find: '...(isHeadless && { hostname }),',
    replace: 'hostname,',
  },
  {
    ...SLICES,
    name: 'requests reach clusters that lack the port',
    rule: 'K3',
    find: 'cluster.ports === undefined ? ports : sharedPorts(ports, cluster.ports)',
    replace: 'ports',
  },
  {
    ...SLICES,
    name: 'slices of a flat network are those of the derived Service, and plaintext goes there',
    rule: 'K4',
    find: "...(!isHeadless && mode === 'gateway' && { [Label.serviceName]: derivedName(service) }),",
    replace: '[Label.serviceName]: derivedName(service),',
  },
  {
    file: 'operator/target/losses.ts',
    tests: ['test/operator/target/losses.test.ts'],
    name: 'the loss of all that is imported hides behind the number of mirrors',
    rule: 'E6',
    find: "(key) => key.includes('!'),",
    replace: '',
  },
];
