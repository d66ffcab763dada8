const REFERENCE = 'A text of a fixed length. '.repeat(10_000);

/**
 * Milliseconds of a piece of work that is always the same: how fast the machine is at this moment. The best of some tries,
 * because another process may have had the processor during one of them.
 */
export function referenceTime(tries: number): number {
  return Math.min(...Array.from({ length: tries }, timeOnce));
}

function timeOnce(): number {
  const start = performance.now();
  JSON.parse(JSON.stringify(REFERENCE.split(' ')));
  return performance.now() - start;
}
