const EVERY_ON_TERMINAL = 100;
const EVERY_ELSEWHERE = 5_000;
const WIDTH = 24;

export interface Progress {
  /** `things` more are done, and with them `part` more of the whole, where that is measured otherwise (bytes). */
  advance: (things: number, part?: number) => void;
  /** The summary. */
  end: () => void;
}

/** The progress of a long command: a bar on a terminal, else a line every few seconds; `total` may be 0. */
export function startProgress(
  what: string,
  total: number,
  stream: { isTTY?: boolean; write(text: string): unknown } = process.stderr,
): Progress {
  const isTerminal = stream.isTTY === true;
  const began = performance.now();
  let shown = began;
  let things = 0;
  let done = 0;

  const rate = (now: number) => Math.round((things / Math.max(now - began, 1)) * 1_000);
  const line = (now: number) => {
    const share = total > 0 ? Math.min(done / total, 1) : 1;
    const bar = '#'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '.');
    // The header of a file does not predict the time for its rows.
    const left = share >= 0.01 ? duration(((now - began) * (1 - share)) / share) : '?';
    return `[${bar}] ${Math.floor(share * 100)} %  ${count(things)} ${what}  ${count(rate(now))}/s  ${left} left`;
  };

  return {
    advance(more, part = more) {
      things += more;
      done += part;
      const now = performance.now();
      if (now - shown < (isTerminal ? EVERY_ON_TERMINAL : EVERY_ELSEWHERE)) return;
      shown = now;
      stream.write(isTerminal ? `\r\u001b[2K${line(now)}` : `${line(now)}\n`);
    },
    end() {
      const now = performance.now();
      if (isTerminal) stream.write('\r\u001b[2K');
      stream.write(`${count(things)} ${what} in ${duration(now - began)}, ${count(rate(now))}/s\n`);
    },
  };
}

function count(value: number): string {
  return value.toLocaleString('en');
}

/** `0.4 s`, `12 s`, `3 min 5 s` */
export function duration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
