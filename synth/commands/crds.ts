/**
 * `linkspan crds`: prints the Link's CustomResourceDefinition as YAML, for `kubectl apply -f -`.
 */
import { Yaml } from 'cdk8s';
import { Command } from 'commander';

import { linkCrd } from '../../crds/index.ts';

/** The command. Returns once all of its output is written, so that a pipe gets every byte. */
export const crdsCommand = (): Command =>
  new Command('crds').description('print the CustomResourceDefinition of the Link as YAML').action(async () => {
    const { promise: written, resolve } = Promise.withResolvers<void>();
    process.stdout.write(Yaml.stringify(linkCrd), () => resolve());
    await written;
  });
