import { createInterface } from 'node:readline/promises';
import { CommandProblem } from './problem.ts';

export interface Dialogue {
  /** The answer without surrounding blanks. */
  ask(question: string): Promise<string>;
  close(): void;
}

/** Whether a user at a terminal can answer. */
export function isTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Questions go to stderr, so that stdout holds only what the command prints. Ctrl+C and Ctrl+D end the command. */
export function openDialogue(
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Dialogue {
  const lines = createInterface({ input, output });
  const ended = new AbortController();
  lines.once('close', () => ended.abort());
  return {
    async ask(question) {
      try {
        return (await lines.question(question, { signal: ended.signal })).trim();
      } catch (error) {
        if (!ended.signal.aborted) throw error;
        throw new CommandProblem('Nothing was changed.', { cause: error });
      }
    },
    close: () => lines.close(),
  };
}

/** Continues with --yes, or when the user types `word` on the terminal. `warning` says what cannot be undone. */
export async function requireConsent(isGiven: boolean, warning: string, word: string): Promise<void> {
  if (isGiven) return;
  if (!isTerminal()) throw new CommandProblem(`${warning} Add --yes to do it.`);
  const dialogue = openDialogue();
  try {
    const typed = await dialogue.ask(`${warning}\nType ${word} to do it: `);
    if (typed !== word) throw new CommandProblem('Nothing was changed.');
  } finally {
    dialogue.close();
  }
}
