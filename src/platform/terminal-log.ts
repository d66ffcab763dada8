import { styleText } from 'node:util';
import pino, { type DestinationStream } from 'pino';

/** Keys with a fixed place in the line; the others follow as `key=value`. */
interface LogLine {
  level: number;
  time: number;
  msg?: string;
  err?: { message?: string; stack?: string; cause?: string };
  method?: string;
  path?: string;
  status?: number;
  ms?: number;
  [key: string]: unknown;
}

const COLOURS = {
  trace: 'gray',
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
} as const;

/** Prints the lines of the log in a form for people. Only for terminals: programs read the JSON. */
export function terminalLines(destination: DestinationStream): DestinationStream {
  return { write: (line) => destination.write(terminalText(JSON.parse(line) as LogLine)) };
}

/** One line, and below it the stack of an error. */
function terminalText({ level, time, msg, err, ...others }: LogLine): string {
  const label = (pino.levels.labels[level] ?? 'info') as keyof typeof COLOURS;
  const { requestId: _requestId, ...told } = others;
  const parts = [
    styleText('gray', new Date(time).toTimeString().slice(0, 8)),
    styleText(COLOURS[label], label.padEnd(5)),
    ...(msg === 'request' ? requestParts(told) : [printable(msg ?? ''), ...fields(others)]),
  ];
  const stack = err && (err.stack ?? err.message ?? '');
  const cause = err?.cause === undefined ? '' : `\ncaused by ${err.cause}`;
  const below = stack === undefined ? '' : printable(stack + cause).replaceAll(/^/gm, '    ') + '\n';
  return `${parts.join(' ')}\n${below}`;
}

function requestParts({ method, path, status, ms, ...others }: Record<string, unknown>): string[] {
  const colour = Number(status) >= 500 ? 'red' : Number(status) >= 400 ? 'yellow' : 'green';
  return [
    printable(String(method)),
    printable(String(path)),
    styleText(colour, String(status)),
    styleText('gray', `${String(ms)} ms`),
    ...fields(others),
  ];
}

function fields(values: Record<string, unknown>): string[] {
  return Object.entries(values).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `${styleText('gray', `${key}=`)}${printable(text ?? '')}`;
  });
}

/** A path that a client chose must not move the cursor or colour the terminal. */
function printable(text: string): string {
  return text.replaceAll(
    /[^\P{C}\n]/gu,
    (character) => `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  );
}
