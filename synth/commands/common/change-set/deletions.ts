/** Prints what a command would delete, as its `--output` says: differences, or references that `kubectl delete -f -` takes. */
import { print } from '../../../print.ts';
import { refOf } from '../apply.ts';
import { type ChangeFlags, manifestFormat } from '../change-flags.ts';
import { type ClusterObjects, printManifests } from '../output.ts';
import { byCluster, changesText } from './text.ts';
import type { Unwanted } from './want.ts';

/** Prints what would be deleted. */
export const printDeletions = async (all: readonly Unwanted[], flags: ChangeFlags): Promise<void> => {
  const format = manifestFormat(flags);
  if (format === undefined) {
    await print(changesText(all.map((want) => ({ want, outcome: 'deleted' }))));
    return;
  }
  const lists = [...byCluster(all, ({ cluster }) => cluster)].map(([context, objects]): ClusterObjects => ({
    context,
    purpose: 'objects that would be deleted',
    objects: objects.map(refOf),
  }));
  await printManifests(lists, format, flags);
};
