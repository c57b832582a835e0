/**
 * The networks of a run: a bridge for each cluster, and a network namespace for each pod. Nothing is forwarded from one
 * bridge to another until {@link Network.join}. All of it is in the namespace of the run and ends with it.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Processes, RunningProcess } from '../cluster/real/processes.ts';

const execute = promisify(execFile);
const COMMAND_MS = 10_000;

/** Runs a program. @throws Error with what it wrote to stderr */
export const command = async (program: string, ...args: readonly string[]): Promise<string> => {
  const { stdout } = await execute(program, args, { timeout: COMMAND_MS });
  return stdout;
};

/** Runs a script; each argument of it is a word, `$1` and so on. */
const script = (text: string, ...args: readonly string[]): Promise<string> => command('sh', '-ec', text, 'sh', ...args);

/** Where the public addresses of gateways are. */
export const PUBLIC_NETWORK = '203.0.113.0/24';

/** The network of a cluster. */
export class Bridge {
  readonly name: string;
  /** Address of the node, where the control plane and DNS are. */
  readonly address: string;
  readonly #prefix: string;
  #last = 0;

  /** @param prefix as in `10.1` */
  constructor(name: string, prefix: string) {
    this.name = `br-${name}`;
    this.#prefix = prefix;
    this.address = `${prefix}.0.1`;
  }

  get network(): string {
    return `${this.#prefix}.0.0/16`;
  }

  /** An address that no pod has had. */
  next(): string {
    this.#last += 1;
    return `${this.#prefix}.1.${this.#last}`;
  }

  /** Makes the bridge, with DNS of its address led to a port on loopback. */
  async up(dnsPort: number): Promise<void> {
    await script(
      `ip link add "$1" type bridge; ip addr add "$2/16" dev "$1"; ip link set "$1" up
       echo 1 >/proc/sys/net/ipv4/conf/"$1"/route_localnet
       for protocol in udp tcp; do
         iptables -w -t nat -A PREROUTING -i "$1" -d "$2" -p $protocol --dport 53 -j DNAT --to-destination "127.0.0.1:$3"
       done`,
      this.name,
      this.address,
      String(dnsPort),
    );
  }

  /** Makes addresses of gateways reachable from the node. */
  async seesGateways(): Promise<void> {
    await command('ip', 'route', 'add', PUBLIC_NETWORK, 'dev', this.name);
  }
}

/** Forwards between bridges, as a flat network does, or does so no more. */
export const joinNetworks = (joined: boolean): Promise<string> =>
  script('echo "$1" >/proc/sys/net/ipv4/ip_forward', joined ? '1' : '0');

/** Most interfaces of a run: their names are numbers. */
let interfaces = 0;

/** A network namespace. It is there as long as its holder runs. */
export class PodNetwork {
  readonly address: string;
  readonly #holder: RunningProcess;

  private constructor(holder: RunningProcess, address: string) {
    this.#holder = holder;
    this.address = address;
  }

  /** Makes a namespace with one interface on the bridge. */
  static async create(processes: Processes, name: string, bridge: Bridge): Promise<PodNetwork> {
    const holder = processes.run({ name: `${name}-network`, path: 'unshare', args: ['--net', 'sleep', 'infinity'] });
    const own = await command('readlink', '/proc/self/ns/net');
    await holder.until(async () => (await command('readlink', `/proc/${holder.pid}/ns/net`)) !== own);
    const network = new PodNetwork(holder, bridge.next());
    await network.run('ip', 'link', 'set', 'lo', 'up');
    await network.#attach(bridge, 'eth0', `${network.address}/16`);
    await network.run('ip', 'route', 'add', 'default', 'via', bridge.address);
    // Public addresses are on the bridge itself: the node forwards nothing.
    await network.run('ip', 'route', 'add', PUBLIC_NETWORK, 'dev', 'eth0');
    return network;
  }

  /** Program and arguments that run a command in the namespace, by default as root. */
  within(args: readonly string[], user?: number): { readonly path: string; readonly args: readonly string[] } {
    const as = user === undefined ? [] : [`--setuid=${user}`, `--setgid=${user}`];
    return { path: 'nsenter', args: [`--net=/proc/${this.#holder.pid}/ns/net`, ...as, '--', ...args] };
  }

  /** Runs a command in the namespace. */
  run(...args: readonly string[]): Promise<string> {
    const inside = this.within(args);
    return command(inside.path, ...inside.args);
  }

  /** Runs a script in the namespace. */
  script(text: string, ...args: readonly string[]): Promise<string> {
    return this.run('sh', '-ec', text, 'sh', ...args);
  }

  /** Gives the namespace a public address on the network of another cluster. */
  async addPublicAddress(address: string, bridge: Bridge): Promise<void> {
    await this.#attach(bridge, 'eth1', `${address}/32`);
    await this.run('ip', 'route', 'add', bridge.network, 'dev', 'eth1', 'src', address);
  }

  /** Pulls the cable, or plugs it in again. */
  async plug(device: 'eth0' | 'eth1', plugged: boolean): Promise<void> {
    await this.run('ip', 'link', 'set', device, plugged ? 'up' : 'down');
  }

  async #attach(bridge: Bridge, device: string, address: string): Promise<void> {
    interfaces += 1;
    const outer = `veth${interfaces}`;
    await script(
      'ip link add "$1" type veth peer name "$2" netns "$3"; ip link set "$1" master "$4"; ip link set "$1" up',
      outer,
      device,
      String(this.#holder.pid),
      bridge.name,
    );
    await this.script('ip addr add "$2" dev "$1"; ip link set "$1" up', device, address);
  }

  /** Ends the namespace. */
  async close(): Promise<void> {
    await this.#holder.kill();
  }
}
