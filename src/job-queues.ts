import { EMAIL_QUEUE } from './platform/email/queue.ts';

/** Every queue of jobs; its worker is started in `background.ts`. */
export const JOB_QUEUES: readonly string[] = [EMAIL_QUEUE];
