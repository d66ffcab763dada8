import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { Config } from '../config.ts';
import { isDatabaseAway } from '../db/failure.ts';
import { CommandProblem, UsageProblem, type Command } from './command.ts';

/** The commands by their first word. A short command takes most of its time to load, so only its own group is loaded. */
const groups: Readonly<Record<string, () => Promise<readonly Command[]>>> = {
  serve: async () => (await import('./serve.ts')).serveCommands,
  shop: async () => (await import('./shop.ts')).shopCommands,
  user: async () => (await import('./user.ts')).userCommands,
  token: async () => (await import('./token.ts')).tokenCommands,
  app: async () => (await import('./app.ts')).appCommands,
  webhook: async () => (await import('./webhook.ts')).webhookCommands,
  payment: async () => (await import('./payment.ts')).paymentCommands,
  mail: async () => (await import('./mail.ts')).mailCommands,
  products: async () => (await import('./products.ts')).productCommands,
  customer: async () => (await import('./customer.ts')).customerCommands,
  mcp: async () => (await import('./mcp.ts')).mcpCommands,
  demo: async () => (await import('./demo.ts')).demoCommands,
  db: async () => (await import('./db.ts')).dbCommands,
};

export interface Output {
  stdout: { write: (text: string) => unknown };
  stderr: { write: (text: string) => unknown };
}

/** 0: done, 1: it could not be done (stderr says why), 2: the command was called wrongly. */
export async function runCommand(
  words: string[],
  environment: Record<string, string | undefined>,
  output: Output,
): Promise<number> {
  let config: Config | undefined;
  try {
    const asksForHelp = words.some((word) => word === '--help' || word === '-h');
    const commands = await loadCommands(words[0]);
    const command = commands.find(({ name }) =>
      name.split(' ').every((word, index) => words[index] === word),
    );
    if (!command) {
      output.stdout.write(overview(commands, words, asksForHelp));
    } else if (asksForHelp) {
      output.stdout.write(helpOf(command));
    } else {
      const { positionals, values } = parse(command, words.slice(command.name.split(' ').length));
      const { readConfig } = await import('../config.ts');
      config = readConfig(environment);
      await command.run({ config, arguments: positionals, options: values });
    }
    return 0;
  } catch (error) {
    output.stderr.write(`${explain(error, config)}\n`);
    return error instanceof UsageProblem ? 2 : 1;
  }
}

/** Those of the group that this word names, else all. */
async function loadCommands(word = ''): Promise<readonly Command[]> {
  const isGroup = Object.hasOwn(groups, word);
  const loaded = await Promise.all((isGroup ? [groups[word]!] : Object.values(groups)).map((load) => load()));
  return loaded.flat();
}

function parse(command: Command, words: string[]) {
  const options: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
    Object.entries(command.options ?? {}).map(([name, option]) => [name, { type: option.type }]),
  );
  try {
    const { positionals, values } = parseArgs({ args: words, options, allowPositionals: true });
    const expected = command.arguments ?? [];
    const missing = expected[positionals.length];
    if (missing !== undefined && !missing.startsWith('[')) throw new Error(`${missing} is missing`);
    const surplus = positionals[expected.length];
    if (surplus !== undefined) {
      throw new Error(
        `${command.name} takes ${expected.join(' and ') || 'no arguments'}; ${surplus} is too much`,
      );
    }
    for (const [name, option] of Object.entries(command.options ?? {})) {
      if (option.required && values[name] === undefined) throw new Error(`--${name} is missing`);
    }
    return { positionals, values: values as Record<string, string | boolean | undefined> };
  } catch (error) {
    const hint = `See: npx kontor ${command.name} --help`;
    // What Node adds to its first sentence is about quoting.
    throw new UsageProblem(`${(error as Error).message.split(/\.\s/, 1)[0]}. ${hint}`, { cause: error });
  }
}

/** All commands, or those of a group: `kontor shop --help`. */
function overview(commands: readonly Command[], words: string[], asksForHelp: boolean): string {
  const named = words.filter((word) => !word.startsWith('-'));
  const group = commands.filter(({ name }) => name.startsWith(`${named[0]} `));
  const isGroup = named.length === 1 && group.length > 0;
  if (asksForHelp ? named.length > 0 && !isGroup : words.length > 0) {
    const known = group.length > 0 ? ` There is: ${group.map(({ name }) => name).join(', ')}.` : '';
    throw new CommandProblem(`Unknown command: ${words.join(' ')}.${known} See: npx kontor --help`);
  }
  const shown = (isGroup ? group : commands).map((command) => ({
    call: [command.name, ...(command.arguments ?? [])].join(' '),
    summary: command.summary,
  }));
  const width = Math.max(...shown.map(({ call }) => call.length));
  const rows = shown.map(({ call, summary }) => `  ${call.padEnd(width)}  ${summary}`);
  return `Usage: npx kontor COMMAND\n\n${rows.join('\n')}\n\nnpx kontor COMMAND --help says more.\n`;
}

function usageOf({ name, arguments: names = [], options = {} }: Command): string {
  const flags = Object.entries(options).map(([flag, option]) => {
    const text = option.type === 'boolean' ? `--${flag}` : `--${flag} ${option.value ?? 'TEXT'}`;
    return option.required ? text : `[${text}]`;
  });
  return [name, ...names, ...flags].join(' ');
}

function helpOf(command: Command): string {
  const options = Object.entries(command.options ?? {}).map(
    ([flag, { summary }]) => `  --${flag.padEnd(12)} ${summary}`,
  );
  return [
    `Usage: npx kontor ${usageOf(command)}`,
    '',
    command.summary,
    ...(command.details === undefined ? [] : ['', command.details]),
    ...(options.length === 0 ? [] : ['', ...options]),
    '',
  ].join('\n');
}

/** What an operator can act on is one line per problem; anything else is a defect and keeps its stack. */
function explain(error: unknown, config: Config | undefined): string {
  if (!(error instanceof Error)) return `kontor: ${String(error)}`;
  const databaseText = databaseProblem(error);
  if (databaseText !== undefined) {
    const isEmbedded = config?.DATABASE_URL === undefined;
    return `kontor: ${databaseText} ${isEmbedded ? 'See postgres.log in the data folder.' : 'Check DATABASE_URL.'}`;
  }
  // Thrown by us, or by the file system, with a text for people. Defects have other names: TypeError and so on.
  const isForPeople = error.name === 'Error' || /(Problem|ConfigError|InUse)$/.test(error.name);
  return isForPeople
    ? error.message.replaceAll(/^/gm, 'kontor: ')
    : `kontor: ${error.stack ?? error.message}`;
}

/** What keeps us from using the database, if it is that. */
function databaseProblem(error: Error & { code?: unknown; syscall?: unknown }): string | undefined {
  const code = String(error.code);
  // Wrong password, no such database, no right to create tables.
  if (/^(28...|3D000|42501)$/.test(code)) return `The database refuses us (${error.message}).`;
  const isMissingFile = code === 'ENOENT' && error.syscall !== 'connect';
  if (isDatabaseAway(error) && !isMissingFile) {
    // Several addresses were tried: the error for all of them has no text of its own.
    const { message } = error instanceof AggregateError ? (error.errors[0] as Error) : error;
    return `The database cannot be reached (${message}).`;
  }
  if (code === 'ERR_INVALID_URL') {
    return 'The address of the database is not one such as postgres://user:password@host/database.';
  }
  return undefined;
}
