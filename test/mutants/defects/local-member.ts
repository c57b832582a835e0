import type { Defect } from '../defect.ts';

const MEMBER = {
  file: 'operator/federation/local-member.ts',
  tests: ['test/operator/federation/local-member.test.ts'],
};
const REPORT = { ...MEMBER, file: 'operator/federation/report.ts' };
const DECIDE = ['test/operator/federation/decide.test.ts'];

export const LOCAL_MEMBER: readonly Defect[] = [
  {
    file: 'operator/federation/admission.ts',
    tests: DECIDE,
    name: "a Service leads through gateways although Linkerd's local mirror deletes such ones",
    rule: 'I7',
    find: "if (!isHeld) return mayStay ? 'gateway' : 'remote-discovery';",
    replace: '',
  },
  {
    file: 'operator/federation/decide.ts',
    tests: DECIDE,
    name: 'the local entry is written without its Lease',
    rule: 'I7',
    find: 'if (local.isHeld ||',
    replace: 'if (true ||',
  },
  {
    file: 'operator/federation/admission.ts',
    tests: DECIDE,
    name: 'the local entry is written without its Lease when its slices give way to it',
    rule: 'I7',
    find: '(each) => each.target !== undefined || mayWriteLocal(each, mode, isHeld)',
    replace: '() => true',
  },
  {
    file: 'operator/federation/decide.ts',
    tests: DECIDE,
    name: 'slices of local pods that are gone stay while another holds the Lease',
    rule: 'I5',
    find: "|| membershipOf(observed)?.mode === 'gateway'",
    replace: '',
  },
  {
    ...MEMBER,
    name: 'local Services join while another holds the Lease',
    rule: 'I7',
    find: 'const { isHeld } = this.#lease;',
    replace: 'const isHeld = true;',
  },
  {
    ...MEMBER,
    name: 'what was decided under the Lease is written after it was lost',
    rule: 'I7',
    find: 'this.#lease.run((reason) => void federations.interrupt(reason));',
    replace: 'this.#lease.run(() => federations.addAll());',
  },
  {
    ...MEMBER,
    name: 'the Lease of local memberships is not released',
    rule: 'H2',
    find: 'await this.#lease.release();',
    replace: '',
  },
  {
    ...MEMBER,
    name: 'slices of the local member name no pods',
    rule: 'I5',
    find: 'readSlice: readLocalSlice,',
    replace: '',
  },
  {
    ...MEMBER,
    name: 'a mirror that has the label of its Service is reported as a member that cannot join',
    rule: 'I1',
    find: 'service === undefined || isMirrorItself(service) ? undefined : service',
    replace: 'service',
  },
  {
    ...MEMBER,
    name: 'local Services are read in namespaces that the operator has no business in',
    rule: 'E8',
    find: 'namespaces: config.mirrorNamespaces,',
    replace: '',
  },
  {
    ...REPORT,
    name: 'a restart reports every local member anew',
    rule: 'C5',
    find: "for (const key of keys) this.#known.set(key, '');",
    replace: '',
  },
  {
    ...REPORT,
    name: 'what is wrong with a local member is reported at every reconcile',
    rule: 'G3',
    find: 'if (this.#known.get(key) === text) return;',
    replace: '',
  },
  {
    ...REPORT,
    name: 'a local member that has left is counted',
    rule: 'I8',
    find: 'if (before !== undefined) this.#counts[before] -= 1;',
    replace: '',
  },
  {
    ...MEMBER,
    file: 'operator/federation/local-lease.ts',
    name: 'what is wrong with local memberships is not put right when their Lease is taken',
    rule: 'I7',
    find: 'this.#isHeld = isHeld; onChange(lost);',
    replace: 'this.#isHeld = isHeld;',
    tests: ['test/operator/link/beside-linkerd.test.ts'],
  },
  {
    file: 'operator/federation/admission.ts',
    name: "the entry that Linkerd's controller has taken away is written again",
    rule: 'I7',
    find: "if (knowledge !== 'known') {",
    replace: "if (knowledge === 'unknown') {",
    tests: ['test/operator/link/beside-linkerd.test.ts'],
  },
];
