/** `linkspan crds`: prints CustomResourceDefinitions as YAML, for `kubectl apply -f -`. */
import { Yaml } from 'cdk8s';

import { failoverCrd } from '../../crds/failover/definition.ts';
import { linkCrd } from '../../crds/link/definition.ts';
import { mcsCrds } from '../../crds/mcs/definitions.ts';
import { print } from '../print.ts';

/** Flags of `linkspan crds`. */
export interface CrdsFlags {
  /** Whether to print those of the MCS API and the About API, which are not ours, instead. */
  readonly mcs?: boolean;
}

/** Prints the CustomResourceDefinitions. */
export const printCrds = ({ mcs = false }: CrdsFlags = {}): Promise<void> =>
  print(mcs ? Yaml.stringify(...mcsCrds) : Yaml.stringify(linkCrd, failoverCrd));
