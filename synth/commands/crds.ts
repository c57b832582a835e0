/** `linkspan crds`: prints the Link's CustomResourceDefinition as YAML, for `kubectl apply -f -`. */
import { Yaml } from 'cdk8s';

import { linkCrd } from '../../crds/link/definition.ts';
import { print } from '../print.ts';

/** Prints the CustomResourceDefinition. */
export const printCrds = (): Promise<void> => print(Yaml.stringify(linkCrd));
