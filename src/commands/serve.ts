import type { Handlers } from './command.ts';

export const handlers = {
  serve: async ({ config }) => {
    const { placeOfThisProcess, processCount, superviseProcesses } =
      await import('../composition/processes.ts');
    const place = placeOfThisProcess();
    const count = processCount(config);
    if (!place && count > 1) return superviseProcesses(config, count);
    // Imported only here, so that other commands do not wait for a web server to load.
    const [{ serve }, { demo }] = await Promise.all([import('../main.ts'), import('./demo/demo.ts')]);
    await serve(config, demo, { place });
    place?.done();
  },
} satisfies Handlers;
