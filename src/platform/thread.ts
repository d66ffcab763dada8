import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { busy } from '../http/errors.ts';

/** Seconds of work are enough for every file that is within its limits. */
const MAX_MILLISECONDS = 10_000;
const MAX_MEGABYTES = 512;

/**
 * Runs a module in its own thread and returns the result it posts, so other requests are served meanwhile. Work that
 * takes too long or too much memory is ended and refused.
 */
export function runInThread<Answer>(module: URL, input: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const worker = startThread(module, {
      workerData: input,
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
    });
    const timer = setTimeout(() => {
      reject(busy());
      void worker.terminate();
    }, MAX_MILLISECONDS);
    worker.once('message', resolve);
    worker.once('error', (error) =>
      reject((error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY' ? busy() : error),
    );
    worker.once('exit', () => {
      clearTimeout(timer);
      reject(busy());
    });
  });
}

/** Tests and development run TypeScript, which a thread compiles only on request. */
export function startThread(module: URL, options: WorkerOptions): Worker {
  if (!module.pathname.endsWith('.ts')) return new Worker(module, options);
  const { href } = new URL('dist/esm/api/index.mjs', compilerFolder());
  const start = `import('${href}').then(({ register }) => { register(); return import('${module.href}'); });`;
  return new Worker(start, { ...options, eval: true });
}

/** Its entry for `require` looks for its own files in the wrong folder. */
const compilerFolder = () => pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
