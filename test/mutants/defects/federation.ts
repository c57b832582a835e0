import type { Defect } from '../defect.ts';

const DECIDE = 'test/operator/federation/decide.test.ts';

const ADMISSION = { file: 'operator/federation/admission.ts', tests: [DECIDE] };

const DESIRED = { file: 'operator/federation/desired.ts', tests: [DECIDE] };

export const FEDERATION: readonly Defect[] = [
  {
    file: 'operator/federation/decide.ts',
    tests: [DECIDE],
    name: 'what leads to clusters of another operator is deleted',
    rule: 'I9',
    find: "if (served === 'another' || served === 'none') return left(observed);",
    replace: "if (served === 'another') return left(observed);",
  },
  {
    file: 'operator/federation/decide.ts',
    tests: [DECIDE],
    name: 'slices of a federated Service that cannot be rendered stay ready behind a dead gateway',
    rule: 'L97',
    find: 'manifests: standing(observed), ...statuses',
    replace: 'manifests: asItIs(observed), ...statuses',
  },
  {
    file: 'operator/federation/refusals.ts',
    tests: [DECIDE],
    name: 'a namespace beyond the limit is said to be asked for by nobody',
    rule: 'L106',
    find: 'targets.some(wantsNamespace) ? beyondNamespaces(namespace) : missingNamespace(namespace)',
    replace: 'missingNamespace(namespace)',
  },
  {
    ...DESIRED,
    name: 'a federated Service goes with its last member before all clusters are known',
    rule: 'L68',
    find: 'const services = isAwaited ?',
    replace: 'const services = isAwaited && false ?',
  },
  {
    ...ADMISSION,
    file: 'operator/federation/awaited.ts',
    name: 'a federated Service goes although a member waits for the address of its gateway',
    rule: 'L68',
    find: 'return gateway !== undefined;',
    replace: 'return false;',
  },
  {
    file: 'operator/federation/derivation.ts',
    tests: ['test/operator/federation/federations.test.ts'],
    name: 'the mark of local Services stays until something happens to them',
    rule: 'L87',
    find: 'decision.awaited.size > 0 || decision.isUnsure ?',
    replace: 'decision.awaited.size > 0 ?',
  },
  {
    file: 'operator/federation/derivation.ts',
    tests: ['test/operator/link/suspended.test.ts'],
    name: "a member whose Link was suspended before the start counts as another operator's",
    rule: 'L110',
    find: 'isLinked: isLinked(cluster)',
    replace: 'isLinked: isLinked(cluster) && [...this.#options.selecting()].includes(cluster)',
  },
  {
    file: 'operator/federation/desired.ts',
    tests: ['test/operator/federation/decide.test.ts'],
    name: 'a federated Service in a namespace that seems to be gone is deleted',
    rule: 'L118',
    find: "if (!isWritable) return observed.namespaceState === 'missing' ? standing(observed) : asItIs(observed);",
    replace: "if (!isWritable) return observed.namespaceState === 'missing' ? NOTHING : asItIs(observed);",
  },
  {
    file: 'operator/federation/derivation.ts',
    tests: ['test/operator/link/suspended.test.ts'],
    name: 'L135 a cluster without a session goes before all others, whatever the age of its Link',
    rule: 'L135',
    find: 'unknownParty(cluster, seniorityOf(cluster))',
    replace: 'unknownParty(cluster)',
  },
  {
    file: 'operator/link/links.ts',
    tests: ['test/operator/link/links.test.ts'],
    name: 'L135 an invalid Link that is not served has no age',
    rule: 'L135',
    find: 'ownerOf(cluster, all, served) ?? oldest;',
    replace: 'ownerOf(cluster, all, served);',
  },
  {
    file: 'operator/federation/member-slices.ts',
    tests: ['test/operator/federation/decide.test.ts', 'test/operator/mcs/pods.test.ts'],
    name: 'L157 a slice of a federated Service has the addresses of the former gateway with the port of the next',
    rule: 'L157',
    find: '{ addresses, port, identity } : former)',
    replace: '{ addresses, port, identity } : { ...former, port, identity })',
  },
  {
    name: 'a member that a list shows as headless leaves without the target being asked',
    file: 'operator/federation/derivation.ts',
    rule: 'L163',
    find: ' || invalidShape(service) !== undefined',
    replace: '',
    tests: ['test/operator/federation/federations.test.ts'],
  },
  {
    file: 'constructs/common/prop-rules.ts',
    tests: ['test/operator/federation/decide.test.ts'],
    name: 'L160 annotations may be of any size together',
    rule: 'L160',
    find: 'bytes <= MAX_ANNOTATIONS_BYTES',
    replace: 'bytes >= 0',
  },
  {
    file: 'operator/federation/session-party.ts',
    tests: ['test/operator/federation/session-party.test.ts', 'test/simulation/feature-regressions.test.ts'],
    name: 'L182 a selected Service that no list shows any more is not looked at again',
    rule: 'L182',
    find: '    else this.#observed.add(key);',
    replace: '    else this.#observed.delete(key);',
  },
];
