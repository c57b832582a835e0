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

interface Answer {
  readonly code: number;
  readonly text: string;
}

/**
 * What an admin port answers at a path. A connection that has been idle for five seconds is closed by the server, maybe
 * while it is asked: then it is asked once more, as Go's clients do.
 */
export const askAdmin = async ({ host, port }: AdminAddress, path: string): Promise<Answer> => {
  const url = `http://${host}:${port}${path}`;
  try {
    return await ask(url);
  } catch (error) {
    if (!isReset(error)) throw error;
    return ask(url);
  }
};

const ask = async (url: string): Promise<Answer> => {
  const response = await fetch(url);
  return { code: response.status, text: await response.text() };
};

const isReset = (error: unknown): boolean => {
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  return cause?.code === 'ECONNRESET' || cause?.code === 'UND_ERR_SOCKET';
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
