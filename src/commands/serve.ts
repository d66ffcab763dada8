import type { Command } from './command.ts';

export const serveCommands: Command[] = [
  {
    name: 'serve',
    summary: 'Start the service (npm start does this).',
    details: 'Settings come from the environment: docs/configuration.md lists them.',
    example: 'serve',
    run: async ({ config }) => {
      const { placeOfThisProcess, processCount, superviseProcesses } = await import('../processes.ts');
      const place = placeOfThisProcess();
      const count = processCount(config);
      if (!place && count > 1) return superviseProcesses(config, count);
      // Imported only here, so that the other commands do not wait for a web server to load.
      const [{ serve }, { demo }] = await Promise.all([import('../main.ts'), import('./demo/demo.ts')]);
      await serve(config, demo, { place });
      place?.done();
    },
  },
];
