/**
 * Structured logs: one JSON object a line with a level by name and an ISO time, or the same laid out for people. Fields
 * whose name says that they may hold a credential are redacted, down to the fourth level of a record.
 */
import { pino, type DestinationStream } from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFormat = 'json' | 'pretty';

/** Writes one record; the fields come first, the message is a constant sentence. */
export type LogFunction = (fields: Readonly<Record<string, unknown>>, message: string) => void;

export interface Logger {
  readonly debug: LogFunction;
  readonly info: LogFunction;
  readonly warn: LogFunction;
  readonly error: LogFunction;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** @default standard output */
  readonly destination?: DestinationStream;
}

/** Fields that may hold a credential and are never logged. */
const SECRET_FIELDS = [
  'token',
  'kubeconfig',
  'authorization',
  'Authorization',
  'password',
  'data',
  'stringData',
  '["client-key-data"]',
  '["client-certificate-data"]',
];

/** How deep in a record secret fields are redacted. */
const REDACTED_DEPTH = 4;

const redactedPaths = (): string[] =>
  Array.from({ length: REDACTED_DEPTH }, (_, depth) => '*.'.repeat(depth)).flatMap((prefix) =>
    SECRET_FIELDS.map((field) => (field.startsWith('[') ? prefix.slice(0, -1) + field : prefix + field)),
  );

/** Makes a logger. `pino-pretty` is loaded for format `pretty` alone. */
export async function createLogger({ level, format, destination }: LoggerOptions): Promise<Logger> {
  const options = {
    level,
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: redactedPaths(), censor: '[redacted]' },
  };
  const output = format === 'pretty' ? await prettyOutput(destination) : (destination ?? pino.destination(1));
  const logger: Logger = pino(options, output);
  return logger;
}

async function prettyOutput(destination: DestinationStream | undefined): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    destination: destination ?? 1,
    colorize: destination === undefined && process.stdout.isTTY,
    translateTime: 'SYS:HH:MM:ss.l',
    sync: true,
  });
}
