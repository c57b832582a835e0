/** What one setting of the operator may be, and what its value is then. */

/** What a setting may be, and how its text is read: see `parseSetting`. */
type SettingType =
  | { readonly type: 'text' | 'host-port' | 'connect-to' }
  | { readonly type: 'switch' }
  /** A label selector as `kubectl --selector` takes it; empty if nothing is selected. */
  | { readonly type: 'selector' }
  | { readonly type: 'name'; readonly of: 'namespace' }
  | { readonly type: 'domain' }
  | { readonly type: 'names'; readonly of: 'namespace' | 'Secret' }
  | { readonly type: 'choice'; readonly values: readonly string[] }
  | { readonly type: 'integer'; readonly least: number; readonly most: number }
  | {
      readonly type: 'duration';
      readonly leastMs: number;
      readonly mostMs: number;
      /** Whether it must be whole seconds. */
      readonly wholeSeconds?: true;
    };

/** What applies when a setting is not given. */
type SettingDefault =
  /** This text; the documentation calls an empty one `none`. */
  | { readonly default: string; readonly derived?: never; readonly unset?: never }
  /** A value that the operator determines when it starts, as described here. */
  | { readonly derived: string; readonly default?: never; readonly unset?: never }
  /** No value, with the meaning described here. */
  | { readonly unset: string; readonly default?: never; readonly derived?: never };

/** One setting. Its flag and its variable are named after it. */
export type OperatorSetting = SettingType &
  SettingDefault & {
    /** What it does, as it follows the flag in the help. */
    readonly text: string;
    /** Name of its value in the help; a switch has none. */
    readonly argument?: string;
    /** Whether the flag may be repeated, each time with a part of the value. */
    readonly repeatable?: true;
    /** Whether there is a flag `--no-…`. */
    readonly negatable?: true;
    /** Whether it is a prop of `MirrorOperator`, with a docstring there, and a field of the cluster file. */
    readonly prop?: true;
    /** What applies when the prop is not given, if that differs from the flag's default. */
    readonly propDefault?: string;
  };

/** A host and a port. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** The value of a setting, by its type. */
interface Values {
  readonly text: string;
  readonly name: string;
  readonly domain: string;
  readonly names: readonly string[];
  readonly switch: boolean;
  readonly selector: string;
  readonly integer: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly 'host-port': HostPort;
  /** By host, in lower case. */
  readonly 'connect-to': ReadonlyMap<string, HostPort>;
}

/** The value of one setting. */
export type SettingValue<S extends OperatorSetting = OperatorSetting> = S extends {
  readonly values: readonly (infer V)[];
}
  ? V
  : S['type'] extends keyof Values
    ? Values[S['type']]
    : never;
