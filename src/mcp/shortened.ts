/** About as much as an assistant can handle at once, in characters. */
const MAX_ANSWER_LENGTH = 40_000;
const MAX_TEXT_LENGTH = 600;
const MAX_ENTRIES = 50;

/**
 * A response of the API for an assistant: without links, empty fields and image addresses, with long texts and lists
 * truncated. It marks omissions.
 */
export function shortenAnswer(answer: unknown): string {
  const text = JSON.stringify(withoutBallast(answer), null, 1);
  if (text.length <= MAX_ANSWER_LENGTH) return text;
  return `${text.slice(0, MAX_ANSWER_LENGTH)}\n... (cut here: ask for less, such as a single order or another page)`;
}

const LEFT_OUT = new Set(['links', 'images', 'sfUrl']);

function withoutBallast(value: unknown): unknown {
  if (typeof value === 'string' && value.length > MAX_TEXT_LENGTH)
    return `${value.slice(0, MAX_TEXT_LENGTH)}…`;
  if (Array.isArray(value)) {
    const entries: unknown[] = value.slice(0, MAX_ENTRIES).map(withoutBallast);
    const left = value.length - MAX_ENTRIES;
    return left > 0 ? [...entries, `… and ${left} more`] : entries;
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value)
    .filter(([name, field]) => field !== null && field !== '' && !LEFT_OUT.has(name))
    .map(([name, field]) => [name, withoutBallast(field)]);
  return Object.fromEntries(fields);
}
