import { parentPort, workerData } from 'node:worker_threads';
import { MAX_ENTRIES, readYaml, writeYaml } from './yaml-file.ts';

export type YamlTask = { read: string } | { write: unknown; amountKeys: ReadonlySet<string>; digits: number };

/** A separate thread, because YAML of a large shop occupies the processor for seconds. */
const task = workerData as YamlTask;
const answer =
  'read' in task ? readYaml(task.read, MAX_ENTRIES) : writeYaml(task.write, task.amountKeys, task.digits);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort!.postMessage(answer);
