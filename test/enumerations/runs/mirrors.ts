/** Reference runs of mirrors: how Services come, change and go, and who gets a name. */
import { putByHand } from '../../simulation/target-users.ts';
import type { Run, Step } from '../run.ts';

const NAMESPACE = (name: string): object => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

const EXPORT_SET: Step = {
  name: 'export',
  act: (users) => {
    users.service('west', 'db', { kind: 'headless' });
    users.pods('west', 'db', 'db-0', 'db-1');
  },
};

const exportRun: Run = {
  name: 'export',
  steps: [
    { name: 'link', act: (users) => users.link('west') },
    {
      name: 'export',
      act: (users) => {
        users.service('west', 'web');
        users.pods('west', 'web', '-', '-');
      },
    },
    { name: 'other ports', act: (users) => users.ports('west', 'web', 1) },
    { name: 'other labels', act: (users) => users.service('west', 'web', { ports: 1, tag: 'b' }) },
    { name: 'no pod ready', act: (users) => users.pods('west', 'web', '!-') },
    { name: 'a pod ready', act: (users) => users.pods('west', 'web', '-') },
    { name: 'unexport', act: (users) => users.exporting('west', 'web', 'none') },
  ],
};

const headlessRun: Run = {
  name: 'headless',
  steps: [
    { name: 'link', act: (users) => users.link('west', { enableHeadlessServices: true }) },
    EXPORT_SET,
    { name: 'up', act: (users) => users.pods('west', 'db', 'db-0', 'db-1', 'db-2') },
    { name: 'not ready', act: (users) => users.pods('west', 'db', 'db-0', '!db-1', 'db-2') },
    { name: 'down', act: (users) => users.pods('west', 'db', 'db-0') },
    { name: 'delete', act: (users) => users.remove('west', 'Service', 'db') },
  ],
};

const renewRun: Run = {
  name: 'a pod made anew',
  setting: { flags: { endpointMirrorGrace: '20s' } },
  steps: [
    { name: 'link', act: (users) => users.link('west', { enableHeadlessServices: true }) },
    EXPORT_SET,
    {
      name: 'gone and back',
      act: (users, { world }) => {
        users.pods('west', 'db', 'db-0');
        world.after(world.users, 5_000, () => users.pods('west', 'db', 'db-0', 'db-1'));
      },
    },
  ],
};

const hostnamesRun: Run = {
  name: 'hostnames appear',
  steps: [
    { name: 'link', act: (users) => users.link('west', { enableHeadlessServices: true }) },
    {
      name: 'export',
      act: (users) => {
        users.service('west', 'db', { kind: 'headless' });
        users.pods('west', 'db', '-');
      },
    },
    { name: 'hostnames', act: (users) => users.pods('west', 'db', 'db-0', 'db-1') },
    { name: 'to zero', act: (users) => users.pods('west', 'db'), hasPast: true },
    { name: 'and back', act: (users) => users.pods('west', 'db', 'db-0') },
  ],
};

/** Pods that are mirrored keep their places, though what is listed of their Service is known later than what others have (E10). */
const limitRun: Run = {
  name: 'more pods than the limit',
  setting: { flags: { maxEndpointMirrors: '3' } },
  steps: [
    { name: 'link', act: (users) => users.link('west', { enableHeadlessServices: true }) },
    { name: 'by hand', act: (users) => putByHand(users.in('west'), 2, false) },
    {
      name: 'too many',
      act: (users) => {
        users.service('west', 'db', { kind: 'headless' });
        users.pods('west', 'db', 'db-0', 'db-1', 'db-2');
      },
      // Who is mirrored has a place.
      hasPast: true,
    },
    { name: 'room for one', act: (users) => putByHand(users.in('west'), 1, false), hasPast: true },
    { name: 'room for all', act: (users) => users.remove('west', 'Service', 'hand') },
  ],
};

const flatRun: Run = {
  name: 'flat',
  steps: [
    { name: 'link', act: (users) => users.link('west') },
    {
      name: 'export flat',
      act: (users) => {
        users.service('west', 'web', { exported: 'remote-discovery' });
        users.pods('west', 'web', '-');
      },
    },
    { name: 'through the gateway', act: (users) => users.exporting('west', 'web', 'true') },
    { name: 'flat again', act: (users) => users.exporting('west', 'web', 'remote-discovery') },
    { name: 'delete', act: (users) => users.remove('west', 'Service', 'web') },
  ],
};

const slicesRun: Run = {
  name: 'slices',
  setting: { flags: { endpoints: 'slices' } },
  steps: [
    { name: 'link', act: (users) => users.link('west', { enableHeadlessServices: true }) },
    {
      name: 'export',
      act: (users) => {
        users.service('west', 'web');
        users.pods('west', 'web', '-');
        users.service('west', 'db', { kind: 'headless' });
        users.pods('west', 'db', 'db-0', 'db-1');
      },
    },
    { name: 'ports', act: (users) => users.ports('west', 'web', 1) },
    { name: 'down', act: (users) => users.pods('west', 'db', 'db-1') },
    {
      name: 'unexport',
      act: (users) => {
        users.exporting('west', 'web', 'none');
        users.exporting('west', 'db', 'none');
      },
    },
  ],
};

const namesRun: Run = {
  name: 'one name wanted twice',
  // Until both targets have been listed, who is listed first has a name that nobody has (A7).
  mayFlap: /foo-bar-west$/,
  steps: [
    {
      name: 'link both',
      act: (users) => {
        users.link('west');
        users.link('bar', { targetClusterName: 'bar-west' });
      },
    },
    {
      name: 'one has it',
      act: (users) => {
        users.service('west', 'foo-bar');
        users.pods('west', 'foo-bar', '-');
      },
    },
    {
      name: 'another wins it',
      act: (users) => {
        users.service('bar', 'foo');
        users.pods('bar', 'foo', '-');
      },
    },
    { name: 'one goes', act: (users) => users.remove('bar', 'Service', 'foo') },
    { name: 'the other goes', act: (users) => users.remove('west', 'Service', 'foo-bar') },
    { name: "somebody's own", act: (users) => users.service('source', 'web-west', { tag: 'own' }) },
    { name: 'in its way', act: (users) => users.service('west', 'web') },
    { name: 'out of its way', act: (users) => users.remove('source', 'Service', 'web-west') },
  ],
};

const namespacesRun: Run = {
  name: 'namespaces',
  steps: [
    { name: 'link', act: (users) => users.link('west') },
    {
      name: 'no namespace',
      act: (users) => {
        users.in('west').put(NAMESPACE('new'));
        users.service('west', 'web', { namespace: 'new' });
      },
    },
    { name: 'the namespace comes', act: (users) => users.in('source').put(NAMESPACE('new')) },
    { name: 'it goes', act: (users) => users.in('source').removeNamespace('new') },
    { name: 'made by us', act: (users) => users.editLink('west', { enableNamespaceCreation: true }) },
  ],
};

export const mirrorRuns: readonly Run[] = [
  ...[exportRun, headlessRun, renewRun, hostnamesRun, limitRun, flatRun, slicesRun, namesRun, namespacesRun],
];
