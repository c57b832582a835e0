/** Metrics of an operator, read from its admin port as Prometheus reads them. */

/** One series of one metric, with its value. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Where an admin port listens. */
export interface AdminAddress {
  readonly host: string;
  readonly port: number;
}

const SERIES = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/i;
const LABEL = /([a-z_0-9]+)="([^"]*)"/gi;

/** What an admin port answers at a path. */
export const askAdmin = async (
  { host, port }: AdminAddress,
  path: string,
): Promise<{ readonly code: number; readonly text: string }> => {
  const response = await fetch(`http://${host}:${port}${path}`);
  return { code: response.status, text: await response.text() };
};

/** Every series that an admin port shows. */
export const readMetrics = async (address: AdminAddress): Promise<readonly Sample[]> => {
  const { text } = await askAdmin(address, '/metrics');
  return text.split('\n').flatMap((line) => {
    const [, name = '', labels = '', value] = SERIES.exec(line) ?? [];
    if (value === undefined) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [key, text] as const);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
};

/** The sum of the series of one metric that have all of these labels. */
export const sumOf = (
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number =>
  samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([key, text]) => sample.labels[key] === text))
    .reduce((sum, { value }) => sum + value, 0);
