import pino, { type DestinationStream, type Logger, type LevelWithSilent } from 'pino';

/**
 * JSON lines. PostgreSQL adds to an error the row it is about (`detail`), and that may be a person's address: of
 * an error only its name, code, text and stack are kept.
 */
export function createLog(level: LevelWithSilent, destination: DestinationStream): Logger {
  return pino({ level, base: null, serializers: { err: errorForLog } }, destination);
}

function errorForLog(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack } = error;
  const { code } = error as { code?: unknown };
  return { name, message, stack, ...(code === undefined ? {} : { code }) };
}
