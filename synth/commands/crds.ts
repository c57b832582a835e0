/** `linkspan crds`: prints the CustomResourceDefinitions of Link and ServiceFailover as YAML, for `kubectl apply -f -`. */
import { Yaml } from 'cdk8s';

import { failoverCrd } from '../../crds/failover/definition.ts';
import { linkCrd } from '../../crds/link/definition.ts';
import { print } from '../print.ts';

/** Prints the CustomResourceDefinitions. */
export const printCrds = (): Promise<void> => print(Yaml.stringify(linkCrd, failoverCrd));
