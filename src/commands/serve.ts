import type { Command } from './command.ts';

export const serveCommands: Command[] = [
  {
    name: 'serve',
    summary: 'Start the service (npm start does this).',
    details: 'Settings come from the environment: see the table in the README.',
    run: async ({ config }) => {
      // Only here, so that the other commands do not wait for a web server to load.
      const { serve } = await import('../main.ts');
      await serve(config);
    },
  },
];
