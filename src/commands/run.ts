import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { Config } from '../config.ts';
import { isDatabaseAway } from '../db/failure.ts';
import { suggestion } from '../kernel/suggestion.ts';
import { programVersion } from '../platform/version.ts';
import type { Command } from './command.ts';
import { isPrintable, printable, shortened } from './printable.ts';
import { UsageProblem } from './problem.ts';
import { COMMANDS } from './table.ts';

export interface Output {
  stdout: { write: (text: string) => unknown };
  stderr: { write: (text: string) => unknown };
}

/** 0: done, 1: failed (stderr says why), 2: the command was called wrongly. */
export async function runCommand(
  given: string[],
  environment: Record<string, string | undefined>,
  output: Output,
): Promise<number> {
  let config: Config | undefined;
  try {
    refuseUnsafe(given);
    if (given[0] === '--version' || given[0] === '-v') {
      output.stdout.write(`${programVersion()}\n`);
      return 0;
    }
    const isHelp = given[0] === 'help';
    // `npx kontor` alone is the shortest way to see it run.
    const words = isHelp ? given.slice(1) : given.length === 0 ? ['serve'] : given;
    const asksForHelp = isHelp || words.some((word) => word === '--help' || word === '-h');
    const commands = commandsNamed(words[0]);
    const command = commands.find(({ name }) =>
      name.split(' ').every((word, index) => words[index] === word),
    );
    if (!command) {
      output.stdout.write(overview(commands, words, asksForHelp));
    } else if (asksForHelp) {
      output.stdout.write(await helpOf(command));
    } else {
      const { positionals, values } = parse(command, words.slice(command.name.split(' ').length));
      const { readConfig } = await import('../config.ts');
      config = readConfig(environment);
      await command.run({ config, arguments: positionals, options: values });
    }
    return 0;
  } catch (error) {
    output.stderr.write(`${printable(explain(error, config))}\n`);
    return error instanceof UsageProblem ? 2 : 1;
  }
}

/** No path or list of names is longer. */
const MAX_CHARACTERS = 4_096;

/** Scripts pass on text from others: impossible values are refused before a command sees them. */
function refuseUnsafe(words: readonly string[]): void {
  words.forEach((word, index) => {
    if (word.length > MAX_CHARACTERS) {
      throw new UsageProblem(`Argument ${index + 1} has more than ${MAX_CHARACTERS} characters.`);
    }
    if (!isPrintable(word)) {
      throw new UsageProblem(`Argument ${index + 1} has a character that can't be shown: ${word}`);
    }
  });
}

/** The commands of the named group, else all. */
function commandsNamed(word = ''): readonly Command[] {
  const group = COMMANDS.filter(({ name }) => firstWord(name) === word);
  return group.length > 0 ? group : COMMANDS;
}

const firstWord = (name: string) => name.split(' ', 1)[0]!;

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
    const reason = wrongOption(error as Error & { code?: string }, command);
    throw new UsageProblem(`${reason} See: npx kontor ${command.name} --help`, { cause: error });
  }
}

/** The errors of parseArgs in our own words: its own are about its API. */
function wrongOption(error: Error & { code?: string }, { options = {} }: Command): string {
  const [, option = ''] = /'(--?[^\s'=]+)/.exec(error.message) ?? [];
  if (error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const known = Object.keys(options).map((name) => `--${name}`);
    const hint = suggestion(option, known);
    return `Unknown option ${option}${hint === '' ? '.' : hint}`;
  }
  if (error.code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') {
    const { type, value = 'TEXT' } = options[option.slice(2)] ?? {};
    return type === 'string' ? `${option} needs a value: ${option} ${value}.` : `${option} takes no value.`;
  }
  return `${error.message}.`;
}

/** All commands, or those of a group: `kontor shop --help`. */
function overview(commands: readonly Command[], words: string[], asksForHelp: boolean): string {
  const named = words.filter((word) => !word.startsWith('-'));
  const group = commands.filter(({ name }) => name.startsWith(`${named[0]} `));
  const isGroup = named.length === 1 && group.length > 0;
  if (asksForHelp ? named.length > 0 && !isGroup : words.length > 0) {
    throw new UsageProblem(unknownCommand(commands, words, group));
  }
  const shown = (isGroup ? group : commands).map((command) => ({
    call: [command.name, ...(command.arguments ?? [])].join(' '),
    summary: command.summary,
  }));
  const width = Math.max(...shown.map(({ call }) => call.length));
  const rows = shown.map(({ call, summary }) => `  ${call.padEnd(width)}  ${summary}`);
  return `Usage: npx kontor COMMAND\n\n${rows.join('\n')}\n\nnpx kontor help COMMAND says more.\n`;
}

function unknownCommand(
  commands: readonly Command[],
  words: readonly string[],
  group: readonly Command[],
): string {
  const names = commands.map(({ name }) => name);
  // Commands have one word or two; the rest are arguments.
  const hint =
    suggestion(words.slice(0, 2).join(' '), names) ||
    (group.length > 0 ? '' : suggestion(words[0]!, [...new Set(names.map(firstWord))]));
  const known = group.length > 0 ? ` There is: ${group.map(({ name }) => name).join(', ')}.` : '';
  const typed = words.filter((word) => word !== '--help' && word !== '-h').join(' ');
  return `Unknown command: ${typed}${hint === '' ? `.${known}` : hint} See: npx kontor --help`;
}

function usageOf({ name, arguments: names = [], options = {} }: Command): string {
  const flags = Object.entries(options).map(([flag, option]) => {
    const text = option.type === 'boolean' ? `--${flag}` : `--${flag} ${option.value ?? 'TEXT'}`;
    return option.required ? text : `[${text}]`;
  });
  return [name, ...names, ...flags].join(' ');
}

async function helpOf(command: Command): Promise<string> {
  const options = Object.entries(command.options ?? {}).map(
    ([flag, { summary }]) => `  --${flag.padEnd(12)} ${summary}`,
  );
  const details = typeof command.details === 'function' ? await command.details() : command.details;
  return [
    `Usage: npx kontor ${usageOf(command)}`,
    '',
    command.summary,
    ...(details === undefined ? [] : ['', details]),
    ...(options.length === 0 ? [] : ['', ...options]),
    '',
    'Example:',
    `  npx kontor ${command.example}`,
    '',
  ].join('\n');
}

/** Problems that an operator can fix are one line each; anything else is a defect and keeps its stack. */
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
    ? shortened(printable(error.message)).replaceAll(/^/gm, 'kontor: ')
    : `kontor: ${error.stack ?? error.message}`;
}

/** Why the database can't be used, if that is the problem. */
function databaseProblem(error: Error & { code?: unknown; syscall?: unknown }): string | undefined {
  const code = String(error.code);
  // Wrong password, no such database, no right to create tables.
  if (/^(28...|3D000|42501)$/.test(code)) return `The database refuses us (${error.message}).`;
  const isMissingFile = code === 'ENOENT' && error.syscall !== 'connect';
  if (isDatabaseAway(error) && !isMissingFile) {
    // Several addresses were tried: the combined error has no text of its own.
    const { message } = error instanceof AggregateError ? (error.errors[0] as Error) : error;
    return `The database cannot be reached (${message}).`;
  }
  if (code === 'ERR_INVALID_URL') {
    return 'The address of the database is not one such as postgres://user:password@host/database.';
  }
  return undefined;
}
