import { parseArgs, type ParseArgsConfig } from 'node:util';
import { appCommands } from './commands/app.ts';
import { CommandProblem, UsageProblem, type Command } from './commands/command.ts';
import { dbCommands } from './commands/db.ts';
import { serveCommands } from './commands/serve.ts';
import { shopCommands } from './commands/shop.ts';
import { tokenCommands } from './commands/token.ts';
import { ConfigError, readConfig } from './config.ts';
import { isDatabaseAway } from './db/failure.ts';

const commands: Command[] = [
  ...serveCommands,
  ...shopCommands,
  ...tokenCommands,
  ...appCommands,
  ...dbCommands,
];

process.exitCode = await run(process.argv.slice(2));

/** 0: done, 1: it could not be done (one line on stderr says why), 2: the command was called wrongly. */
async function run(words: string[]): Promise<number> {
  try {
    const command = commands.find(({ name }) =>
      name.split(' ').every((word, index) => words[index] === word),
    );
    const wantsHelp = words.includes('--help') || words.includes('-h');
    if (!command) return overview(words, wantsHelp);
    if (wantsHelp) {
      process.stdout.write(helpOf(command));
      return 0;
    }
    const rest = words.slice(command.name.split(' ').length);
    const { positionals, values } = parse(command, rest);
    await command.run({ config: readConfig(process.env), arguments: positionals, options: values });
    return 0;
  } catch (error) {
    process.stderr.write(`kontor: ${explain(error)}\n`);
    return error instanceof UsageProblem ? 2 : 1;
  }
}

function parse(command: Command, words: string[]) {
  const options: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
    Object.entries(command.options ?? {}).map(([name, option]) => [name, { type: option.type }]),
  );
  try {
    const { positionals, values } = parseArgs({ args: words, options, allowPositionals: true });
    const wanted = command.arguments ?? [];
    if (positionals.length !== wanted.length) {
      throw new Error(`${command.name} takes ${wanted.length === 0 ? 'no arguments' : wanted.join(' and ')}`);
    }
    for (const [name, option] of Object.entries(command.options ?? {})) {
      if (option.required && values[name] === undefined) throw new Error(`--${name} is missing`);
    }
    return { positionals, values: values as Record<string, string | boolean | undefined> };
  } catch (error) {
    const hint = `See: npx kontor ${command.name} --help`;
    throw new UsageProblem(`${(error as Error).message.split('. ', 1)[0]}. ${hint}`);
  }
}

function overview(words: string[], wantsHelp: boolean): number {
  const group = commands.filter(({ name }) => name.startsWith(`${words[0]} `));
  if (words.length > 0 && !wantsHelp) {
    const known = group.length > 0 ? ` There is: ${group.map(({ name }) => name).join(', ')}.` : '';
    throw new UsageProblem(`Unknown command: ${words.join(' ')}.${known} See: npx kontor --help`);
  }
  process.stdout.write(overviewText(group.length > 0 ? group : commands));
  return 0;
}

function overviewText(shown: Command[]): string {
  const width = Math.max(...shown.map((command) => usageOf(command).length));
  const rows = shown.map((command) => `  ${usageOf(command).padEnd(width)}  ${command.summary}`);
  return ['Usage: npx kontor COMMAND', '', ...rows, '', 'npx kontor COMMAND --help tells more.', ''].join(
    '\n',
  );
}

function usageOf({ name, arguments: wanted = [], options = {} }: Command): string {
  const flags = Object.entries(options).map(([flag, option]) => {
    const text = option.type === 'boolean' ? `--${flag}` : `--${flag} ${option.placeholder ?? 'TEXT'}`;
    return option.required ? text : `[${text}]`;
  });
  return [name, ...wanted, ...flags].join(' ');
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

/** What an operator can act on is one line; anything else keeps its stack, because it is a defect. */
function explain(error: unknown): string {
  if (error instanceof CommandProblem || error instanceof ConfigError) return error.message;
  if (isDatabaseAway(error)) {
    return `The database can not be reached (${(error as Error).message}). Check DATABASE_URL.`;
  }
  const { name, message, stack } = error as Error;
  return /Problem$|InUse$/.test(name) ? message : (stack ?? String(error));
}
