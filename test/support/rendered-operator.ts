/**
 * The operator as what was rendered would run it: under the ServiceAccount that its Deployment names, with a token that
 * the cluster's own API server issues for it, and with the Deployment's arguments. Only where it listens is the test's.
 */
import { Command } from 'commander';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiJson } from '../../constructs/rendered/render.ts';
import { addOperatorFlags, type FlagValues } from '../../operator/config/flags.ts';
import type { TestCluster } from '../cluster/index.ts';
import type { Api } from '../cluster/workload/index.ts';

interface Deployment extends ApiJson {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly { readonly args: readonly string[] }[];
      };
    };
  };
}

/** What a test's operator is started with to be the rendered one. */
export interface RenderedOperator {
  readonly kubeconfigFile: string;
  readonly flags: FlagValues;
}

/** User name of a ServiceAccount, as it is in the audit log. */
export const serviceAccountUser = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`;

/**
 * @param objects what was rendered for the cluster, the operator's Deployment among it, and applied to it
 * @param directory where the kubeconfig is put
 */
export const renderedOperator = async (
  cluster: TestCluster,
  client: Api,
  objects: readonly ApiJson[],
  directory: string,
): Promise<RenderedOperator> => {
  const { spec, metadata } = deploymentOf(objects);
  const { serviceAccountName } = spec.template.spec;
  const path = `/api/v1/namespaces/${metadata.namespace ?? ''}/serviceaccounts/${serviceAccountName}/token`;
  const { body } = await client.request<{ readonly status?: { readonly token: string } }>('POST', path, {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
  });
  if (body.status === undefined) throw new Error(`POST ${path}: ${JSON.stringify(body)}`);
  const kubeconfigFile = join(directory, `${cluster.name}-operator.kubeconfig`);
  await writeFile(kubeconfigFile, cluster.kubeconfigFor(body.status.token));

  return { kubeconfigFile, flags: renderedFlags(objects) };
};

/** The flags in the arguments of the operator's Deployment. */
export const renderedFlags = (objects: readonly ApiJson[]): FlagValues => {
  const [subcommand, ...args] = deploymentOf(objects).spec.template.spec.containers[0]?.args ?? [];
  if (subcommand !== 'operator') throw new Error(`the Deployment runs ${subcommand ?? 'nothing'}`);
  const flags = addOperatorFlags(new Command()).parse(args, { from: 'user' }).opts<FlagValues>();
  return { ...flags, adminAddress: '127.0.0.1:0' };
};

const deploymentOf = (objects: readonly ApiJson[]): Deployment => {
  const isOperator = ({ kind, metadata }: ApiJson): boolean =>
    kind === 'Deployment' && metadata.name === 'linkspan-operator';
  const found = objects.find((object): object is Deployment => isOperator(object));
  if (found === undefined) throw new Error('no Deployment of the operator was rendered');
  return found;
};
