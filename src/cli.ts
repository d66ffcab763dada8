import { runCommand } from './commands/run.ts';

// A closed pipe (`kontor shop list | head -1`, a closed terminal) is no reason to end with a stack.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

void runCommand(process.argv.slice(2), process.env, process).then((exitCode) => {
  process.exitCode = exitCode;
});
