/**
 * Server-side printing: the Table that kubectl asks for, with the columns kube-apiserver prints for the built-in kinds
 * and those that a CustomResourceDefinition names for its own.
 */
import { isFields, type Fields, type KubeObject } from '../storage/object.ts';
import type { Resource } from '../kinds/resources.ts';

/** One printer column. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** Above 0: shown by `-o wide` only. */
  readonly priority?: number;
  /** Where a custom resource has the value. */
  readonly jsonPath?: string;
}

type Cell = string | number;

interface Printer {
  readonly columns: readonly Column[];
  row(object: KubeObject): readonly Cell[];
}

const NONE = '<none>';
const NAME: Column = { name: 'Name', type: 'string', format: 'name' };
const AGE: Column = { name: 'Age', type: 'string' };
const text = (name: string, priority = 0): Column => ({ name, type: 'string', priority });

/** How long ago, as kubectl words it. */
export function age(time: string | null | undefined, now = Date.now()): string {
  if (time === undefined || time === null) return '<unknown>';
  const seconds = Math.max(0, Math.floor((now - Date.parse(time)) / 1000));
  const [minutes, hours, days] = [60, 3600, 86_400].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ];
  const two = (big: number, bigUnit: string, small: number, smallUnit: string): string =>
    small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`;
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return two(days, 'd', hours % 24, 'h');
  return days < 730 ? `${days}d` : two(Math.floor(days / 365), 'y', days % 365, 'd');
}

const ageOf = ({ metadata }: KubeObject): string => age(metadata.creationTimestamp);
const fields = (value: unknown): Fields => (isFields(value) ? value : {});
const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? (value as readonly Fields[]) : []);
const str = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

const pairs = (value: unknown): string =>
  Object.entries(fields(value))
    .map(([key, item]) => `${key}=${str(item)}`)
    .join(',') || NONE;

/** At most three, and how many more there are. */
const some = (items: readonly string[], none = NONE): string =>
  items.length === 0 ? none : items.slice(0, 3).join(',') + (items.length > 3 ? ` + ${items.length - 3} more...` : '');

function externalIp(spec: Fields, status: Fields): string {
  const external = Array.isArray(spec.externalIPs) ? (spec.externalIPs as readonly string[]) : [];
  if (spec.type === 'ExternalName') return str(spec.externalName);
  if (spec.type !== 'LoadBalancer') return external.join(',') || NONE;
  const ingress = list(fields(status.loadBalancer).ingress).map(({ ip, hostname }) => str(ip) || str(hostname));
  return [...ingress, ...external].join(',') || '<pending>';
}

const service: Printer = {
  columns: [NAME, text('Type'), text('Cluster-IP'), text('External-IP'), text('Port(s)'), AGE, text('Selector', 1)],
  row(object) {
    const spec = fields(object.spec);
    const ports = list(spec.ports).map(
      ({ port, nodePort, protocol }) => `${str(port)}${nodePort ? `:${str(nodePort)}` : ''}/${str(protocol)}`,
    );
    return [
      object.metadata.name,
      str(spec.type),
      str(spec.clusterIP) || NONE,
      externalIp(spec, fields(object.status)),
      ports.join(',') || NONE,
      ageOf(object),
      pairs(spec.selector),
    ];
  },
};

const endpoints: Printer = {
  columns: [NAME, text('Endpoints'), AGE],
  row(object) {
    const all = list(object.subsets).flatMap(({ addresses, ports }) => {
      const numbers = list(ports);
      const ips = list(addresses).map(({ ip }) => str(ip));
      if (numbers.length === 0) return ips;
      return numbers.flatMap(({ port }) => ips.map((ip) => `${ip}:${str(port)}`));
    });
    return [object.metadata.name, some(all), ageOf(object)];
  },
};

const endpointSlice: Printer = {
  columns: [NAME, text('AddressType'), text('Ports'), text('Endpoints'), AGE],
  row(object) {
    const ports = list(object.ports).map(({ port }) => (port === undefined ? '*' : str(port)));
    const addresses = list(object.endpoints).flatMap((endpoint) => endpoint.addresses as readonly string[]);
    return [
      object.metadata.name,
      str(object.addressType),
      some(ports, '<unset>'),
      some(addresses, '<unset>'),
      ageOf(object),
    ];
  },
};

const conditionOf = (status: Fields, type: string): string =>
  str(list(status.conditions).find((condition) => condition.type === type)?.status);

const pod: Printer = {
  columns: [
    ...[NAME, text('Ready'), text('Status'), text('Restarts'), AGE],
    ...[text('IP', 1), text('Node', 1), text('Nominated Node', 1), text('Readiness Gates', 1)],
  ],
  row(object) {
    const [spec, status] = [fields(object.spec), fields(object.status)];
    const containers = list(spec.containers);
    const states = list(status.containerStatuses);
    const ready = states.filter((state) => state.ready === true).length;
    const restarts = states.reduce((sum, { restartCount }) => sum + Number(restartCount), 0);
    return [
      object.metadata.name,
      `${ready}/${containers.length}`,
      object.metadata.deletionTimestamp === undefined ? str(status.reason) || str(status.phase) : 'Terminating',
      restarts,
      ageOf(object),
      str(status.podIP) || NONE,
      str(spec.nodeName) || NONE,
      NONE,
      NONE,
    ];
  },
};

const statefulSet: Printer = {
  columns: [NAME, text('Ready'), AGE, text('Containers', 1), text('Images', 1)],
  row(object) {
    const [spec, status] = [fields(object.spec), fields(object.status)];
    const containers = list(fields(fields(spec.template).spec).containers);
    return [
      object.metadata.name,
      `${str(status.readyReplicas) || '0'}/${str(spec.replicas)}`,
      ageOf(object),
      containers.map(({ name }) => str(name)).join(','),
      containers.map(({ image }) => str(image)).join(','),
    ];
  },
};

const event: Printer = {
  columns: [
    ...[text('Last Seen'), text('Type'), text('Reason'), text('Object'), text('Subobject', 1), text('Source', 1)],
    ...[text('Message'), text('First Seen', 1), text('Count', 1), { ...NAME, priority: 1 }],
  ],
  row(object) {
    const about = fields(object.involvedObject);
    const time = (...candidates: unknown[]): string => age(candidates.find((at) => typeof at === 'string') ?? null);
    return [
      time(
        fields(object.series).lastObservedTime,
        object.lastTimestamp,
        object.eventTime,
        object.metadata.creationTimestamp,
      ),
      str(object.type),
      str(object.reason),
      `${str(about.kind).toLowerCase()}/${str(about.name)}`,
      str(about.fieldPath),
      str(fields(object.source).component) || str(object.reportingComponent),
      str(object.message).trim(),
      time(object.firstTimestamp, object.eventTime, object.metadata.creationTimestamp),
      Number(fields(object.series).count ?? object.count ?? 1),
      object.metadata.name,
    ];
  },
};

const size = (value: unknown): number => Object.keys(fields(value)).length;

/** Columns between name and age, each with what stands in it. */
function simple(between: Readonly<Record<string, (object: KubeObject) => Cell>>, time = AGE): Printer {
  return {
    columns: [NAME, ...Object.keys(between).map((name) => text(name)), time],
    row: (object) => [
      object.metadata.name,
      ...Object.values(between).map((cell) => cell(object)),
      time === AGE ? ageOf(object) : (object.metadata.creationTimestamp ?? ''),
    ],
  };
}

const CREATED_AT: Column = { name: 'Created At', type: 'date' };
const roleRef = (object: KubeObject): string =>
  `${str(fields(object.roleRef).kind)}/${str(fields(object.roleRef).name)}`;

const PRINTERS: Readonly<Record<string, Printer>> = {
  Service: service,
  Endpoints: endpoints,
  EndpointSlice: endpointSlice,
  Pod: pod,
  StatefulSet: statefulSet,
  Event: event,
  Namespace: simple({ Status: ({ status }) => str(fields(status).phase) }),
  Node: simple({
    Status: ({ status }) => (conditionOf(fields(status), 'Ready') === 'True' ? 'Ready' : 'NotReady'),
    Roles: () => NONE,
  }),
  Secret: simple({ Type: ({ type }) => str(type), Data: ({ data }) => size(data) }),
  ConfigMap: simple({ Data: ({ data, binaryData }) => size(data) + size(binaryData) }),
  Lease: simple({ Holder: ({ spec }) => str(fields(spec).holderIdentity) }),
  RoleBinding: simple({ Role: roleRef }),
  ClusterRoleBinding: simple({ Role: roleRef }),
  Role: simple({}, CREATED_AT),
  ClusterRole: simple({}, CREATED_AT),
  CustomResourceDefinition: simple({}, CREATED_AT),
};

/** `.status.conditions[?(@.type=="Ready")].status`: the JSONPath that printer columns use. */
function atPath(object: unknown, path: string): unknown {
  let value = object;
  for (const [, name, filterName, , wanted, index] of path.matchAll(
    /\.([\w-]+)|\[\?\(@\.([\w-]+)\s*==\s*(["'])(.*?)\3\)\]|\[(\d+)\]/g,
  )) {
    if (name !== undefined) value = fields(value)[name];
    else if (filterName !== undefined) value = list(value).find((item) => item[filterName] === wanted);
    else value = list(value)[Number(index)];
  }
  return value;
}

function customPrinter(columns: readonly Column[]): Printer {
  return {
    columns: [NAME, ...columns],
    row: (object) => [
      object.metadata.name,
      ...columns.map(({ type, jsonPath = '' }) => {
        const value = atPath(object, jsonPath);
        if (type === 'date') return age(value as string | undefined);
        return typeof value === 'boolean'
          ? String(value)
          : isFields(value) || Array.isArray(value)
            ? JSON.stringify(value)
            : type === 'integer'
              ? Number(value ?? 0)
              : str(value);
      }),
    ],
  };
}

/** What the rows of a table carry besides their cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** The Table of some objects of one resource. */
export function tableOf(
  resource: Resource,
  version: string,
  objects: readonly KubeObject[],
  listMeta: object,
  include: IncludeObject = 'Metadata',
): object {
  const columns = resource.columnsOf?.(version);
  const printer = columns === undefined ? (PRINTERS[resource.kind] ?? simple({})) : customPrinter(columns);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: listMeta,
    columnDefinitions: printer.columns.map(({ name, type, format = '', description = '', priority = 0 }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
    rows: objects.map((object) => ({
      cells: printer.row(object),
      ...(include === 'None'
        ? {}
        : {
            object:
              include === 'Object'
                ? object
                : { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
          }),
    })),
  };
}
