import type { Defect } from '../defect.ts';

const DECIDE = 'test/operator/federation/decide.test.ts';
const RULES = 'test/operator/federation/rules.test.ts';
const ADMISSION = { file: 'operator/federation/admission.ts', tests: [DECIDE] };
const MEMBERSHIP = { file: 'operator/federation/membership.ts', tests: [DECIDE] };
const DESIRED = { file: 'operator/federation/desired.ts', tests: [DECIDE] };
const SLICES = { file: 'operator/federation/member-slices.ts', tests: [DECIDE] };

export const FEDERATION: readonly Defect[] = [
  {
    ...ADMISSION,
    name: 'a federated Service joins another (N7)',
    rule: 'I1',
    find: 'if (isMirrorItself(service))',
    replace: 'if (false)',
  },
  {
    ...ADMISSION,
    name: 'a Service of type ExternalName joins (N8)',
    rule: 'I1',
    find: "if (type === 'ExternalName')",
    replace: 'if (false)',
  },
  {
    ...ADMISSION,
    name: 'a name that is too long with its suffix is left to the API server (N9)',
    rule: 'I1',
    find: 'if (!isServiceName(federated))',
    replace: 'if (false)',
  },
  {
    ...ADMISSION,
    name: "one target's ports keep all others from a federated Service",
    rule: 'E1',
    find: 'return invalidPorts(service);',
    replace: 'return undefined;',
  },
  {
    ...ADMISSION,
    name: 'labels and ports depend on the order in which clusters are known',
    rule: 'I3',
    find: '[...observed.targets].sort(bySeniority)',
    replace: '[...observed.targets]',
  },
  {
    ...ADMISSION,
    name: 'of two Links of one second each is the oldest (A1 of Linkerd)',
    rule: 'I3',
    find: 'return a.name < b.name ? -1 : 1;',
    replace: 'return 0;',
  },
  {
    ...ADMISSION,
    name: 'the membership of a cluster that was never listed goes',
    rule: 'I6',
    find: "if (knowledge !== 'known') {",
    replace: "if (knowledge === 'anothers') {",
  },
  {
    ...ADMISSION,
    name: "the entry of a cluster that Linkerd's controller writes for is decided by us",
    rule: 'I7',
    find: "if (knowledge !== 'known') {",
    replace: "if (knowledge === 'unknown') {",
  },
  {
    ...ADMISSION,
    name: 'the shape changes although a member stays in the other',
    rule: 'I6',
    find: 'if (before !== undefined && members.some(',
    replace: 'if (before === undefined && members.some(',
  },
  {
    ...ADMISSION,
    name: 'a cluster of which the control plane has no credentials is listed',
    rule: 'I4',
    find: 'if (!target.isDiscoverable)',
    replace: 'if (false)',
  },
  {
    ...ADMISSION,
    name: 'a member is listed that lacks a port',
    rule: 'I4',
    find: 'if (lacking.length === 0) return member;',
    replace: "if (lacking.length === 0 || mode !== 'gateway') return member;",
  },
  {
    ...ADMISSION,
    name: 'a Link without a gateway turns all members to gateways',
    rule: 'I5',
    find: "target?.mode === 'gateway' && target.gateway !== undefined && portsIn(",
    replace: "target?.mode === 'gateway' && portsIn(",
  },
  {
    ...MEMBERSHIP,
    name: "a user's Service that Linkerd treats as federated is taken over (N6)",
    rule: 'I8',
    find: 'labels[Label.mirroredService] === Value.true &&',
    replace: '',
  },
  {
    ...MEMBERSHIP,
    name: 'the mirror of a cluster called federated is taken over (N6)',
    rule: 'I8',
    find: 'labels[Label.clusterName] === undefined &&',
    replace: '',
    tests: [DECIDE, RULES],
  },
  {
    ...DESIRED,
    name: 'slices are written after the annotation that hid them has gone',
    rule: 'I5',
    find: "const isHidden = mode === 'gateway' &&",
    replace: 'const isHidden = false &&',
  },
  {
    ...DESIRED,
    name: 'labels that another writer left are replaced while their member cannot be read',
    rule: 'I3',
    find: 'return [withMetadataOf(live, service), ...slices];',
    replace: 'return [service, ...slices];',
  },
  {
    ...DESIRED,
    name: 'what is in a namespace that may not be written to goes',
    rule: 'A3',
    find: 'if (!isWritable) return asItIs(observed);',
    replace: '',
  },
  {
    ...SLICES,
    name: 'a dead gateway is ready after a restart',
    rule: 'F2',
    find: 'alive: gateway?.alive ?? listed.every(',
    replace: 'alive: gateway?.alive ?? true ?? listed.every(',
  },
  {
    ...SLICES,
    name: 'the slices of a cluster go while the name of its gateway is looked up',
    rule: 'C2',
    find: 'addresses: resolved.length > 0 ? resolved : listed.flatMap((each) => each.addresses)',
    replace: 'addresses: resolved',
    tests: [DECIDE, RULES],
  },
  {
    ...SLICES,
    name: 'the slices of a cluster that cannot be read do not follow its gateway',
    rule: 'I6',
    find: "if (target.knowledge === 'unknown') return refreshed(observed, target);",
    replace: '',
  },
  {
    ...SLICES,
    name: 'the slices of a cluster that another writes for follow our gateway',
    rule: 'I7',
    find: "if (target.knowledge === 'unknown')",
    replace: "if (target.knowledge !== 'known')",
  },
  {
    ...SLICES,
    name: 'local slices go while those of the local Service are not known',
    rule: 'I6',
    find: 'service !== undefined && observed.local.slices !== undefined',
    replace: 'service !== undefined',
  },
  {
    ...SLICES,
    name: 'a null that the API server sends for a condition stops the local member',
    rule: 'I5',
    find: ".filter(([, value]) => typeof value === 'boolean')",
    replace: '',
  },
];
