import { hostname } from 'node:os';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { formatFieldErrors } from '../../../crds/field-error.ts';
import { flagOf, variableOf } from '../../../crds/operator-setting-names.ts';
import { operatorSettings } from '../../../crds/operator-settings.ts';
import { parseOperatorConfig, variableWarnings } from '../../../operator/config/config.ts';
import { addOperatorFlags, type FlagValues } from '../../../operator/config/flags.ts';

/** The outcome of a command line and an environment. */
function parse(argv: readonly string[], env: Readonly<Record<string, string>> = {}, isTerminal = false) {
  const command = addOperatorFlags(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  command.parse([...argv], { from: 'user' });
  return parseOperatorConfig(command.opts<FlagValues>(), env, { processName: () => 'machine', isTerminal });
}

const config = (argv: readonly string[], env?: Readonly<Record<string, string>>) => {
  const parsed = parse(argv, env);
  if (!parsed.ok) throw new Error(formatFieldErrors(parsed.errors));
  return parsed.value;
};

const messages = (argv: readonly string[], env?: Readonly<Record<string, string>>) => {
  const parsed = parse(argv, env);
  return parsed.ok ? [] : parsed.errors.map((error) => formatFieldErrors([error]));
};

describe("the operator's settings", () => {
  it('have defaults for all that is not given', () => {
    expect(config([])).toEqual({
      kubeconfig: undefined,
      context: undefined,
      namespace: 'linkerd-multicluster',
      controlPlaneNamespace: 'linkerd',
      identity: 'machine',
      enableHeadlessServices: false,
      enableNamespaceCreation: false,
      mirrorNamespaces: undefined,
      federatedSelector: 'mirror.linkerd.io/federated=member',
      endpoints: 'endpoints',
      probeVia: 'service',
      probeConnectTo: new Map(),
      failover: true,
      serviceImports: true,
      gatewayTcp: 'none',
      clusterDomain: 'cluster.local',
      trustDomain: 'cluster.local',
      gatewayResolvePeriodMs: 60_000,
      endpointMirrorGraceMs: 60_000,
      maxMirrors: 10_000,
      maxEndpointMirrors: 10_000,
      maxServicePods: 1_000,
      maxWrittenMib: 64,
      maxNamespaces: 1_000,
      adminAddress: { host: '0.0.0.0', port: 9999 },
      leaderElect: true,
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      concurrency: 16,
      logLevel: 'info',
      logFormat: 'json',
    });
  });

  it('are given by flags', () => {
    const argv =
      '--kubeconfig f --context c --namespace a --control-plane-namespace b --identity pod-0 --enable-headless-services ' +
      '--mirror-namespaces x,y --credentials-secrets a,b.c --federated-selector a,b!=c --endpoints slices --probe-via address ' +
      '--probe-connect-to Probe-East.ns=127.0.0.1:80 --probe-connect-to probe-west.ns=[::1]:81 --gateway-resolve-period 1m30s ' +
      '--no-failover --no-service-imports --endpoint-mirror-grace 5m --max-mirrors 1 --max-endpoint-mirrors 2 --max-namespaces 3 ' +
      '--max-service-pods 4 --max-written-mib 5 ' +
      '--admin-address [::]:0 --no-leader-elect --lease-duration 15s --renew-deadline 5s --retry-period 500ms ' +
      '--concurrency 256 --log-level debug --log-format pretty';
    expect(config(argv.split(' '))).toEqual({
      kubeconfig: 'f',
      context: 'c',
      namespace: 'a',
      controlPlaneNamespace: 'b',
      identity: 'pod-0',
      enableHeadlessServices: true,
      enableNamespaceCreation: false,
      mirrorNamespaces: ['x', 'y'],
      credentialsSecrets: ['a', 'b.c'],
      federatedSelector: 'a,b!=c',
      endpoints: 'slices',
      probeVia: 'address',
      probeConnectTo: new Map([
        ['probe-east.ns', { host: '127.0.0.1', port: 80 }],
        ['probe-west.ns', { host: '::1', port: 81 }],
      ]),
      failover: false,
      serviceImports: false,
      gatewayTcp: 'none',
      clusterDomain: 'cluster.local',
      trustDomain: 'cluster.local',
      gatewayResolvePeriodMs: 90_000,
      endpointMirrorGraceMs: 300_000,
      maxMirrors: 1,
      maxEndpointMirrors: 2,
      maxServicePods: 4,
      maxWrittenMib: 5,
      maxNamespaces: 3,
      adminAddress: { host: '::', port: 0 },
      leaderElect: false,
      leaseDurationMs: 15_000,
      renewDeadlineMs: 5_000,
      retryPeriodMs: 500,
      concurrency: 256,
      logLevel: 'debug',
      logFormat: 'pretty',
    });
  });

  it('are given by variables too, each the twin of a flag, which wins', () => {
    const env = {
      LINKSPAN_CONCURRENCY: '3',
      LINKSPAN_LEADER_ELECT: 'false',
      LINKSPAN_ENABLE_NAMESPACE_CREATION: 'true',
      LINKSPAN_PROBE_CONNECT_TO: 'a=b:1, c=d:2',
    };
    expect(config([], env)).toMatchObject({ concurrency: 3, leaderElect: false, enableNamespaceCreation: true });
    expect([...config([], env).probeConnectTo.keys()]).toEqual(['a', 'c']);
    expect(config(['--concurrency', '4', '--leader-elect'], env)).toMatchObject({ concurrency: 4, leaderElect: true });
    expect(config([], { LINKSPAN_NAMESPACE: '' }).namespace).toBe('linkerd-multicluster');
  });

  it('hold Leases in the name of the pod, else of the machine', () => {
    expect(config([], { POD_NAME: 'pod-1' }).identity).toBe('pod-1');
    expect(config([], { POD_NAME: 'pod-1', LINKSPAN_IDENTITY: 'x' }).identity).toBe('x');
    expect(config(['--identity', 'y'], { LINKSPAN_IDENTITY: 'x' }).identity).toBe('y');
  });

  it('lay the log out for people on a terminal, and as JSON elsewhere, unless it is given', () => {
    const formatOf = (isTerminal: boolean, argv: readonly string[] = [], env = {}) => {
      const parsed = parse(argv, env, isTerminal);
      return parsed.ok ? parsed.value.logFormat : undefined;
    };
    expect([formatOf(true), formatOf(false)]).toEqual(['pretty', 'json']);
    expect(formatOf(true, ['--log-format', 'json'])).toBe('json');
    expect(formatOf(true, [], { LINKSPAN_LOG_FORMAT: 'json' })).toBe('json');
    expect(formatOf(false, ['--log-format', 'pretty'])).toBe('pretty');
  });

  it('gives each process on a host an identity of its own, where no pod has a name (H8)', () => {
    const identities = [1, 2].map(() => {
      const parsed = parseOperatorConfig({}, {});
      return parsed.ok ? parsed.value.identity : '';
    });
    for (const each of identities) expect(each.startsWith(`${hostname()}_`)).toBe(true);
    expect(new Set(identities).size).toBe(2);
  });

  it.each([
    [['--concurrency', '0'], '--concurrency: "0" must be a whole number between 1 and 256'],
    [['--concurrency', 'many'], '--concurrency: "many" must be a whole number between 1 and 256'],
    [['--namespace', 'No_Label'], '--namespace: "No_Label" must be a valid DNS label (the name of a namespace)'],
    [['--namespace', ''], '--namespace: "" must not be empty (the name of a namespace)'],
    [['--context', ''], '--context: "" must not be empty'],
    [
      ['--mirror-namespaces', 'a,,b'],
      '--mirror-namespaces: "a,,b" must not have an empty item (names of namespaces, separated by commas)',
    ],
    [
      ['--credentials-secrets', 'west,../x'],
      '--credentials-secrets: "west,../x" must be valid DNS subdomains (names of Secrets, separated by commas)',
    ],
    [
      ['--mirror-namespaces', 'a,kube-system,linkerd'],
      '--mirror-namespaces: "a,kube-system,linkerd" must not have kube-system, linkerd: no mirror is written to a namespace of Kubernetes, the control plane or the operator (name others)',
    ],
    [
      ['--mirror-namespaces', 'a', '--enable-namespace-creation'],
      '--enable-namespace-creation: "true" must not be set together with --mirror-namespaces, which must exist (create them, or leave one of the two out)',
    ],
    [
      ['--mirror-namespaces', 'a', '--gateway-access', 'exported'],
      '--gateway-access: "exported" must not be exported together with --mirror-namespaces: exports of other namespaces would be refused (leave one of the two out)',
    ],
    [
      ['--mirror-namespaces', 'a', '--gateway-access', 'open'],
      '--gateway-access: "open" must not be open together with --mirror-namespaces: the operator must read the exports of all namespaces (leave one of the two out)',
    ],
    [
      ['--federated-selector', 'a=b c'],
      '--federated-selector: "a=b c" must be a valid label selector (a label selector, as in mirror.linkerd.io/federated=member)',
    ],
    [
      ['--federated-selector', 'a=-b'],
      '--federated-selector: "a=-b" must be a valid label value (a label selector, as in mirror.linkerd.io/federated=member)',
    ],
    [['--endpoints', 'both'], '--endpoints: "both" must be one of endpoints, slices'],
    [
      ['--probe-connect-to', 'a:1'],
      '--probe-connect-to: "a:1" must be a valid HOST=ADDR:PORT (HOST=ADDR:PORT, as in probe.example=192.0.2.1:80, each host once)',
    ],
    [
      ['--probe-connect-to', 'a=b:0'],
      '--probe-connect-to: "a=b:0" must have a valid port (HOST=ADDR:PORT, as in probe.example=192.0.2.1:80, each host once)',
    ],
    [
      ['--probe-connect-to', 'a=b:1', '--probe-connect-to', 'A=c:1'],
      '--probe-connect-to: "a=b:1,A=c:1" must name each host once (HOST=ADDR:PORT, as in probe.example=192.0.2.1:80, each host once)',
    ],
    [
      ['--admin-address', '9999'],
      '--admin-address: "9999" must be a valid HOST:PORT (HOST:PORT, as in 0.0.0.0:9999 or [::]:9999)',
    ],
    [
      ['--admin-address', '::1:80'],
      '--admin-address: "::1:80" must be a valid HOST:PORT (HOST:PORT, as in 0.0.0.0:9999 or [::]:9999)',
    ],
    [['--gateway-resolve-period', '60'], '--gateway-resolve-period: "60" must have a unit (a Go duration, as in 60s)'],
    [
      ['--gateway-resolve-period', '0s'],
      '--gateway-resolve-period: "0s" must be between 1s and 1h (a Go duration, as in 60s)',
    ],
    [
      ['--gateway-resolve-period', '1h1s'],
      '--gateway-resolve-period: "1h1s" must be between 1s and 1h (a Go duration, as in 60s)',
    ],
    [
      ['--lease-duration', '15.5s'],
      '--lease-duration: "15.5s" must be a whole number of seconds (a Go duration, as in 15s)',
    ],
    [
      ['--renew-deadline', '30s'],
      '--renew-deadline: "30s" must be less than --lease-duration, which is 15s (a Go duration, as in 10s)',
    ],
    [
      ['--retry-period', '9s'],
      '--retry-period: "9s" times 1.2 must be less than --renew-deadline, which is 10s (a Go duration, as in 2s)',
    ],
    [['--log-level', 'loud'], '--log-level: "loud" must be one of debug, info, warn, error'],
  ])('are refused with value, reason and remedy: %j', (argv, message) => {
    expect(messages(argv)).toEqual([message]);
  });

  it('are refused all at once, naming the variable where that is to blame', () => {
    expect(
      messages(['--concurrency', '0'], { LINKSPAN_LEADER_ELECT: 'maybe', LINKSPAN_RENEW_DEADLINE: '40s' }),
    ).toEqual([
      expect.stringMatching(/^LINKSPAN_LEADER_ELECT: "maybe" /),
      expect.stringMatching(/^--concurrency: "0" /),
      expect.stringMatching(/^LINKSPAN_RENEW_DEADLINE: "40s" must be less than --lease-duration, which is 15s/),
    ]);
  });

  it('warn about variables that mean nothing, but not about those of a Service called linkspan', () => {
    const env = {
      LINKSPAN_CONCURENCY: '3',
      LINKSPAN_SERVICE_HOST: '192.0.2.1',
      LINKSPAN_PORT: 'tcp://192.0.2.1:80',
      LINKSPAN_OPERATOR_PORT_9999_TCP_ADDR: '192.0.2.1',
    };
    expect(variableWarnings(env)).toEqual([
      'the variable LINKSPAN_CONCURENCY is ignored: no setting has it (see "linkspan operator --help")',
    ]);
  });

  it('leave flags that do not exist to the command line', () => {
    expect(() => parse(['--concurency', '3'])).toThrow("unknown option '--concurency'");
  });

  it('are all in the help, with default and variable', () => {
    const help = addOperatorFlags(new Command()).helpInformation().replaceAll(/\s+/g, ' ');
    for (const [name] of operatorSettings) {
      expect(help).toContain(flagOf(name));
      expect(help).toContain(`env: ${variableOf(name)})`);
    }
  });
});
