import type { ChosenJobs } from '../jobs/worker.ts';
import type { DueJob } from '../jobs/queries.ts';
import type { EmailMessage } from './delivery.ts';

/** By which way the emails of shops leave, and when. The module of the shops makes it. */
export interface Sending {
  /** Which of the due emails of a shop may be sent now; it lets the others wait. */
  choose(queue: string, shopId: string, due: readonly DueJob[], running: number): Promise<ChosenJobs>;
  /** Throws `Postponed` where the email has to wait, and what the server said where it has not taken it. */
  deliver(shopId: string, message: EmailMessage): Promise<void>;
  /** Makes current deliveries fail. */
  close(): void;
}
