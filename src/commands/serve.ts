import { serve } from '../main.ts';
import type { Command } from './command.ts';

export const serveCommands: Command[] = [
  {
    name: 'serve',
    summary: 'Start the service (this is what npm start does).',
    details: 'Settings come from the environment, see the table in the README.',
    run: ({ config }) => serve(config),
  },
];
