import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { createLog } from './log.ts';
import { terminalLines } from './terminal-log.ts';

/** What is written to a destination. */
function recorded() {
  const lines: string[] = [];
  return { lines, write: (line: string) => void lines.push(line) };
}

/** As a person sees it, without the colours and the time. */
const seen = ({ lines }: { lines: string[] }) =>
  lines.map((line) => stripVTControlCharacters(line).replace(/^\d\d:\d\d:\d\d /, ''));

test('a terminal gets one readable line', () => {
  const terminal = recorded();
  const log = createLog('info', terminalLines(terminal));
  log.info({ removed: 3, step: 'media' }, 'removed files of images that nobody has');
  log.warn('careful');
  expect(seen(terminal)).toEqual([
    'info  removed files of images that nobody has removed=3 step=media\n',
    'warn  careful\n',
  ]);
  expect(terminal.lines[0]).toMatch(/^\D*\d\d:\d\d:\d\d\D/);
});

test('a request is its method, path, status and time', () => {
  const terminal = recorded();
  terminalLines(terminal).write(
    '{"level":30,"time":1,"requestId":"a","method":"GET","path":"/rs/shops/x","status":404,"ms":1.5,"app":"A","msg":"request"}\n',
  );
  expect(seen(terminal)).toEqual(['info  GET /rs/shops/x 404 1.5 ms app=A\n']);
});

test('an error has its stack and its cause below', () => {
  const terminal = recorded();
  const error = new Error('no', { cause: new TypeError('because') });
  error.stack = 'Error: no\n    at place';
  createLog('info', terminalLines(terminal)).error({ err: error, requestId: 'r' }, 'request failed');
  expect(seen(terminal)).toEqual([
    'error request failed requestId=r\n    Error: no\n        at place\n    caused by TypeError: because\n',
  ]);
});

test('what a client chose can not command the terminal', () => {
  const terminal = recorded();
  createLog('info', terminalLines(terminal)).info({ path: '\u001b[2J\u0007\u202e' }, 'x\u001b]0;title\u0007');
  expect(seen(terminal)).toEqual(['info  x\\u001b]0;title\\u0007 path=\\u001b[2J\\u0007\\u202e\n']);
});

test('everybody else gets JSON', () => {
  const file = recorded();
  createLog('info', file).info({ removed: 3 }, 'text');
  expect(JSON.parse(file.lines[0]!)).toEqual({
    level: 30,
    time: expect.any(Number),
    removed: 3,
    msg: 'text',
  });
});
