/**
 * The CRDs of the routes that the operator writes, as published by the Gateway API, read when they are asked for, which
 * takes the Go toolchain. TCPRoute is that of the experimental channel: the standard one no longer serves the version that
 * Linkerd reads.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { ObjectRef } from '../cluster/workload/index.ts';
import { goModule } from './go-module.ts';

const crd = (channel: 'standard' | 'experimental', plural: string): ObjectRef => {
  const file = join('config', 'crd', channel, `gateway.networking.k8s.io_${plural}.yaml`);
  return load(readFileSync(join(goModule('sigs.k8s.io/gateway-api', 'v1.6.3'), file), 'utf8')) as ObjectRef;
};

/** Returns the CRDs of HTTPRoute and GRPCRoute. */
export const httpRouteCrds = (): readonly ObjectRef[] => [crd('standard', 'httproutes'), crd('standard', 'grpcroutes')];

/** Returns the CRD of TCPRoute. */
export const tcpRouteCrd = (): ObjectRef => crd('experimental', 'tcproutes');

/** Returns the CRD of TLSRoute, which Linkerd's policy controller watches. */
export const tlsRouteCrd = (): ObjectRef => crd('experimental', 'tlsroutes');
