import type { Defect } from '../defect.ts';

const SHAPE = { file: 'operator/mirror/shape.ts', tests: ['test/operator/mirror/shape.test.ts'] };
const NAMES = { file: 'operator/mirror/names.ts', tests: ['test/operator/mirror/names.test.ts'] };

const PASS = { file: 'operator/runtime/pass.ts', tests: ['test/operator/mirror/goal.test.ts'] };
const RETAIN = { file: 'operator/mirror/retain.ts', tests: ['test/operator/mirror/retain.test.ts'] };
const GATEWAY_ENDPOINTS = {
  file: 'operator/mirror/gateway-endpoints.ts',
  tests: ['test/operator/mirror/gateway-endpoints.test.ts'],
};
const FILL_SLICES = {
  file: 'constructs/rendered/mirror/fill-slices.ts',
  tests: ['test/constructs/rendered/mirror/headless-mirror.test.ts'],
};

const POD_GROUPS = { file: 'operator/mirror/pod-groups.ts', tests: ['test/operator/mirror/pod-groups.test.ts'] };
const RENDERED = { file: 'operator/mirror/rendered.ts', tests: ['test/operator/mirror/rendered.test.ts'] };

export const MIRROR: readonly Defect[] = [
  {
    file: 'operator/mirrors/derivation.ts',
    tests: ['test/operator/mirrors/mirrors.test.ts'],
    name: 'a Link is Ready although new mirrors have no endpoints yet',
    rule: 'L98',
    find: 'isPending || lacksEndpoints(observed, shape)',
    replace: 'isPending',
  },
  {
    ...FILL_SLICES,
    name: 'a slice holds more endpoints than Kubernetes accepts',
    rule: 'D10',
    find: 'MAX_ENDPOINTS = 100;',
    replace: 'MAX_ENDPOINTS = 1001;',
  },
  {
    ...SHAPE,
    name: 'headless Services are mirrored as such though that is turned off',
    rule: 'D1',
    find: "if (!link.headless || service.spec?.clusterIP !== 'None') return",
    replace: "if (service.spec?.clusterIP !== 'None') return",
  },
  {
    ...NAMES,
    name: 'what a target says of its age takes a name from another Link',
    rule: 'A7',
    find: 'if (ofA.cluster !== ofB.cluster) {',
    replace: "if (ofA.cluster === '') {",
  },
  {
    ...GATEWAY_ENDPOINTS,
    name: 'before the first verdict after a restart mirrors with Endpoints are ready',
    rule: 'F2',
    find: 'alive: notReady.length === 0,',
    replace: 'alive: true,',
  },
  {
    ...PASS,
    tests: ['test/operator/mirror/foreign-slices.test.ts'],
    name: 'slices that others give our Services stay',
    rule: 'C3',
    find: '!tally.isViewOld && (await tally.execute(clearings(foreign, gone), signal)) > 0',
    replace: 'false',
  },
  {
    ...PASS,
    tests: ['test/operator/runtime/pass.test.ts'],
    name: 'endpoints follow the gateway as it was before a write that had no answer',
    rule: 'L104',
    find: 'if (tally.errors.length > failed) goal = await renewed(goal, context, signal);',
    replace: '',
  },
  {
    ...PASS,
    tests: ['test/operator/runtime/pass.test.ts'],
    name: 'after a write that had no answer, what the goal before did not need is deleted',
    rule: 'L119',
    find: 'const now = await deletions(goal, context, tally);',
    replace: 'const now = before;',
  },
  {
    ...PASS,
    tests: ['test/operator/runtime/pass.test.ts'],
    name: 'what could not be replaced follows the gateway as it was before the attempt',
    rule: 'L119',
    find: 'const { unreplaced } = await renewed(goal, context, signal);',
    replace: 'const { unreplaced } = goal;',
  },
  {
    ...PASS,
    tests: ['test/operator/runtime/pass.test.ts'],
    name: 'an endpoint mirror of a former name goes although that of the other could not be created',
    rule: 'L120',
    find: "if (op === 'create' && of === SERVICES && !isConflict(error)) this.#uncreated",
    replace: "if (op === 'replace' && of === SERVICES && !isConflict(error)) this.#uncreated",
  },
  {
    file: 'operator/mirror/headless.ts',
    tests: ['test/operator/mirrors/mirrors.test.ts'],
    name: 'a pod that is to get another name is not listed until it has it',
    rule: 'L120',
    find: 'const ip = clusterIP ?? formerIP(observed, hostname);',
    replace: 'const ip = clusterIP;',
  },
  {
    ...PASS,
    tests: ['test/operator/mirrors/mirrors.test.ts'],
    name: 'an endpoint mirror of a former name does not follow the gateway',
    rule: 'L120',
    find: 'for (const name of former) tally.unreplaced.add(name);',
    replace: '',
  },
  {
    ...PASS,
    tests: ['test/operator/runtime/pass.test.ts'],
    name: 'endpoints of a Service that could not be changed are deleted',
    rule: 'L105',
    find: 'isLast(each) && !tally.isBehindUnsettled(each)',
    replace: 'isLast(each)',
  },
  {
    file: 'operator/mirror/manifests.ts',
    tests: ['test/operator/mirror/manifests.test.ts'],
    name: 'slices of a Service that somebody has deleted are deleted too, and made anew',
    rule: 'L95',
    find: 'endpoints: endpoints.filter(({ object }) => left.has(object.metadata.name)), bytes }',
    replace: 'endpoints: endpoints.filter(() => left.size < 0), bytes }',
  },
  {
    ...PASS,
    name: 'slices of a Service that somebody has deleted stay though others have its name',
    rule: 'A6',
    find: 'if (action.of === SERVICES) this.#refusedNames.add(action.object.metadata.name);',
    replace: '',
  },
  {
    file: 'operator/runtime/applier.ts',
    tests: ['test/operator/runtime/applier.test.ts'],
    name: 'a slice that no watch shows keeps the name of one of ours for ever',
    rule: 'C3',
    find: 'if (isOfService(object, there) && (await this.#clearHidden(there, signal))) throw error;',
    replace: '',
  },
  {
    ...RETAIN,
    name: 'R4 endpoint mirrors are deleted while the endpoints of the target are not known',
    rule: 'C1',
    find: 'return shape.endpoints === undefined ? everything : nothing;',
    replace: 'return shape.endpoints === undefined ? nothing : nothing;',
  },
  {
    ...PASS,
    name: 'all writes of a key are under way at once',
    rule: 'H7',
    find: 'Math.min(MAX_WRITES, actions.length)',
    replace: 'actions.length',
  },
  {
    ...SHAPE,
    tests: [...SHAPE.tests, 'test/operator/link/session.test.ts'],
    name: 'a mirror is deleted before the target has confirmed it',
    rule: 'L66',
    find: 'if (!takesAway || observed.isConfirmed ||',
    replace: 'if (!takesAway || observed !== undefined ||',
  },
  {
    ...RENDERED,
    name: 'every pod of a headless Service is rendered with each event of one',
    rule: 'E10',
    find: 'if (before !== undefined && isSamePod(before.props, given)) return before;',
    replace: '',
  },
  {
    ...POD_GROUPS,
    name: 'an event of one pod of a headless Service costs what all of them cost',
    rule: 'E10',
    find: 'before !== undefined && before.hosts === group && before.of.isFinal',
    replace: 'false',
  },
  {
    ...POD_GROUPS,
    name: 'a pod that gets another name, since somebody else wants its own, keeps the old one',
    rule: 'A7',
    find: 'a.revision === b.revision &&',
    replace: '',
  },
  {
    ...POD_GROUPS,
    name: 'an endpoint mirror that somebody deletes is not made anew',
    rule: 'C3',
    find: 'if (changed?.size === 0) return;',
    replace: 'if (isSame) return;',
  },
  {
    ...RENDERED,
    name: 'all pods of a headless Service are rendered in one turn of the event loop',
    rule: 'E10',
    find: 'if (this.#rendered >= LEAST_PODS && this.#isTurnOver()) return undefined;',
    replace: '',
  },
  {
    ...RENDERED,
    name: 'all mirrors that are kept are rendered in one turn of the event loop',
    rule: 'E10',
    find: 'this.#isUnfinished ||= this.#rendered >= LEAST_PODS && this.#isTurnOver();',
    replace: '',
  },
  {
    file: 'operator/mirror/gateway-endpoints.ts',
    tests: ['test/operator/mirror/gateway-endpoints.test.ts'],
    name: 'the pods of a selector count as where the gateway is',
    rule: 'L117',
    find: 'hostname !== undefined || targetRef !== undefined;',
    replace: 'hostname !== undefined || (targetRef === undefined && hostname === null);',
  },
];
