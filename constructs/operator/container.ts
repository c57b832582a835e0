/** The container of the operator: its image, arguments, variables, port and probes. */
import { Duration } from 'cdk8s';
import { type ContainerProps, EnvFieldPaths, EnvValue, Probe, Protocol } from 'cdk8s-plus-27';
import { OPERATOR_CONTAINER, OperatorPort } from '../../crds/wire.ts';
import type { MirrorOperatorProps } from './props.ts';
import { operatorArgs } from './settings.ts';

export const container = (
  props: MirrorOperatorProps,
  namespace: string,
  linkerdNamespace: string,
  adminPort: number,
): Omit<ContainerProps, 'imagePullPolicy' | 'resources' | 'securityContext'> => {
  const { meshed = true, adminHost = '0.0.0.0', probeVia = meshed ? undefined : 'address', env = {} } = props;
  const host = adminHost === '::' ? '[::]' : adminHost;
  return {
    name: OPERATOR_CONTAINER,
    image: props.image,
    args: [
      'operator',
      `--namespace=${namespace}`,
      `--control-plane-namespace=${linkerdNamespace}`,
      `--admin-address=${host}:${adminPort}`,
      ...operatorArgs({ ...props, probeVia }),
    ],
    envVariables: {
      POD_NAME: EnvValue.fromFieldRef(EnvFieldPaths.POD_NAME),
      POD_IPS: EnvValue.fromFieldRef(EnvFieldPaths.POD_IPS),
      // In MiB. By default, V8's space for short-lived objects grows with a burst of events and does not shrink.
      NODE_OPTIONS: EnvValue.fromValue('--max-semi-space-size=1'),
      ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, EnvValue.fromValue(value)])),
    },
    ports: [{ name: OperatorPort.name, number: adminPort, protocol: Protocol.TCP }],
    liveness: Probe.fromHttpGet('/healthz', { port: adminPort, initialDelaySeconds: Duration.seconds(10) }),
    readiness: Probe.fromHttpGet('/readyz', { port: adminPort }),
  };
};
