/** Reference runs of Links that follow each other, or want each other's clusters. */
import type { Run } from '../run.ts';
import { exported, HEADLESS, linked } from './links.ts';

const renameRun: Run = {
  name: 'rename of a Link',
  steps: [
    exported,
    linked,
    { name: 'another beside it', act: (users) => users.link('west-v2', HEADLESS), hasPast: true },
    { name: 'the first goes', act: (users) => users.unlink('west') },
    {
      name: 'and back at once',
      act: (users) => {
        users.unlink('west-v2');
        users.link('west', HEADLESS);
      },
    },
  ],
};

/** A Link goes before its probe Service, which is of the cluster that it named until then, is written anew. */
const handOverRun: Run = {
  name: 'a cluster in other hands',
  // It goes with the cluster, or is written anew for the other one, whichever comes first.
  mayFlap: / linkerd-multicluster\/probe-west$/,
  steps: [
    exported,
    linked,
    {
      name: 'it names another, without credentials, and a second Link that one',
      act: (users) => {
        users.editLink('west', { targetClusterName: 'far', clusterCredentialsSecret: 'none' });
        users.link('west-v2', HEADLESS);
      },
      hasPast: true,
    },
    { name: 'the first goes', act: (users) => users.unlink('west') },
  ],
};

/** Each Link would wait for the other to leave its cluster. */
const exchangeRun: Run = {
  name: 'exchanged clusters',
  steps: [
    exported,
    linked,
    {
      name: 'a second Link',
      act: (users) => {
        users.service('bar', 'web');
        users.pods('bar', 'web', '-');
        users.link('bar');
      },
    },
    {
      name: 'each names the cluster of the other',
      act: (users) => {
        users.editLink('west', { targetClusterName: 'bar' });
        users.editLink('bar', { targetClusterName: 'west' });
      },
      hasPast: true,
    },
    { name: 'one more Service', act: (users) => users.service('west', 'late'), hasPast: true },
    {
      name: 'and its own again',
      act: (users) => {
        users.editLink('west', { targetClusterName: 'west' });
        users.editLink('bar', { targetClusterName: 'bar' });
      },
    },
  ],
};

export const severalLinksRuns: readonly Run[] = [renameRun, handOverRun, exchangeRun];
