/** What others have in a namespace, where not all of it may be read. */
import { expect, test } from 'vitest';
import { type KubeObject, PODS, SERVICES } from '../../../../operator/kube/objects.ts';
import { CommandError } from '../../../../synth/commands/common/command-error.ts';
import { othersIn } from '../../../../synth/commands/install/namespace-content.ts';

const theirs: KubeObject = { metadata: { name: 'theirs', namespace: 'mesh' } };

test('names what is there, and what is not known of it', async () => {
  const forbidden = new CommandError([{ object: 'east', reason: 'list pods: forbidden', remedy: 'ask' }]);
  const content = await othersIn(
    {
      namespacedResources: () => Promise.resolve({ resources: [PODS, SERVICES], unanswered: ['metrics: unavailable'] }),
      list: (of) => (of === PODS ? Promise.reject(forbidden) : Promise.resolve([theirs as never])),
    },
    'mesh',
  );
  expect(content).toEqual({
    objects: [{ of: SERVICES, object: theirs }],
    obstacles: ['metrics: unavailable', 'east: list pods: forbidden (ask)'],
  });
});
