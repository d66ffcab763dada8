import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { createDelivery, rawEmail, type EmailMessage } from '../../platform/email/delivery.ts';
import { serverAnswer, isAboutEmail, relayProblemOf } from '../../platform/email/outcome.ts';
import { sendByRelay, type Relay, type RelayPolicy } from '../../platform/email/relay.ts';
import type { Sending } from '../../platform/email/sending.ts';
import { failHeldJobs, holdJobs } from '../../platform/jobs/queries.ts';
import { Postponed } from '../../platform/jobs/worker.ts';
import { findSettings } from '../settings/settings.ts';
import { findRelayState, pauseAfter, recordRelayFailure, recordRelaySuccess } from './relay-queries.ts';

export interface SendingDeps {
  db: Database;
  config: Config;
  policy: RelayPolicy;
  /** Kinds of email that go by the server of the installation, and leave also when the shop may not send. */
  serviceKinds: readonly string[];
  /** Emails that go by mail servers of shops at the same time; the others of the worker are for all other shops. */
  ownAtOnce: number;
}

/** When frozen emails are looked at again; thawing lets them go at once. */
const LOOK_AGAIN = 3_600_000;

export const WAITED_TOO_LONG = 'The mail server of the shop did not take emails for three days';

/**
 * Sends the emails of shops: by the mail server of the shop, if it has one, else by that of the installation. Of a shop
 * with a server of its own one email at a time is sent by a worker, and all of them together have a part of its places:
 * servers that are slow or away keep no other shop waiting. A server that is away gets a pause, which doubles; in it
 * the emails of its shop wait, for three days at most, and are not counted as attempts.
 */
export function createSending({ db, config, policy, serviceKinds, ownAtOnce }: SendingDeps): Sending {
  const delivery = createDelivery(config);
  const open = new Set<() => void>();
  let own = 0;

  const deliverByOwn = async (shopId: string, relay: Relay, message: EmailMessage): Promise<void> => {
    let closeIt = () => {};
    const onOpen = (close: () => void) => void open.add((closeIt = close));
    own++;
    try {
      await sendByRelay(relay, policy, await rawEmail(message), { onOpen });
    } catch (error) {
      if (isAboutEmail(error)) throw error;
      const failures = (await findRelayState(db, shopId))?.failures ?? 0;
      const [problem, answer] = [relayProblemOf(error), serverAnswer(error)];
      const until = new Date(db.serviceNow.getTime() + pauseAfter(failures, problem));
      await recordRelayFailure(db, shopId, { updatedAt: relay.updatedAt, problem, answer, until });
      throw new Postponed(`${WAITED_TOO_LONG}: ${answer}`, until, error);
    } finally {
      own--;
      open.delete(closeIt);
    }
    await recordRelaySuccess(db, shopId);
  };

  return {
    async choose(queue, shopId, due, running) {
      const [settings, relay] = await Promise.all([findSettings(db, shopId), findRelayState(db, shopId)]);
      const isFrozen = typeof settings?.emailsFrozen === 'string';
      if (settings?.sandbox || (!isFrozen && !relay)) return { jobs: due, isFull: false };
      const ofService = due.filter(({ template }) => serviceKinds.includes(template ?? ''));
      const { serviceNow: now } = db;
      const blockedUntil = relay?.blockedUntil ?? null;
      if (isFrozen || (blockedUntil !== null && blockedUntil > now)) {
        const until = isFrozen ? new Date(now.getTime() + LOOK_AGAIN) : blockedUntil!;
        await holdJobs(db, shopId, queue, { until, except: serviceKinds });
        if (!isFrozen)
          await failHeldJobs(db, shopId, queue, { error: WAITED_TOO_LONG, except: serviceKinds });
        return { jobs: ofService, isFull: false };
      }
      const room = running === 0 && own < ownAtOnce ? 1 : 0;
      const others = due.filter((job) => !ofService.includes(job)).slice(0, room);
      return { jobs: [...ofService, ...others], isFull: true };
    },
    deliver: (shopId, message) => {
      const { relay } = message;
      return relay ? deliverByOwn(shopId, relay, message) : delivery.deliver(message);
    },
    close: () => {
      for (const close of open) close();
      delivery.close();
    },
  };
}
