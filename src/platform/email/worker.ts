import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { installationKey } from '../../shops/apps/sealing.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { documentFile } from '../../orders/documents/file.ts';
import { storefrontUrl } from '../../http/links.ts';
import { textIn } from '../../http/locale.ts';
import { startWorker } from '../jobs/worker.ts';
import { newsletterTokens, newsletterUrls, type NewsletterTokens } from '../../people/newsletters/links.ts';
import { recordUnsentEmail } from '../../orders/history.ts';
import { findSettings } from '../../shops/settings/settings.ts';
import { fileDelivery, smtpDelivery, type Message } from './delivery.ts';
import { countEmail, isLimited } from './daily-limit.ts';
import { oneLine } from './letter.ts';
import type { QueuedMail } from './queue.ts';
import { renderedMail } from './templates.ts';

export interface MailDeps {
  db: Database;
  config: Config;
  log: FastifyBaseLogger;
  /** Scheme and host of the links in mails. */
  origin: string;
  /** Milliseconds between two looks for mails. */
  pause?: number;
}

/** Sends the mails that wait in the queue, until it is stopped. */
export function startMails({ db, config, log, origin, pause }: MailDeps): { stop: () => Promise<void> } {
  const { SMTP_URL, MAIL_FROM, KONTOR_DATA } = config;
  const folder = path.resolve(KONTOR_DATA, 'mails');
  const delivery = SMTP_URL === undefined ? fileDelivery(folder) : smtpDelivery(SMTP_URL);
  log.info(
    SMTP_URL === undefined ? `SMTP_URL is not set, mails are written to ${folder}` : 'mails go out by SMTP',
  );

  let tokens: NewsletterTokens | undefined;

  const worker = startWorker<QueuedMail>(db, 'mail', {
    log,
    ...(pause !== undefined && { pause }),
    giveUp: () => delivery.close(),
    run: async ({ id, content: mail }) => {
      const { shopId, template, locale, to } = mail;
      // The mails of a shop that was deleted end with it.
      const settings = await findSettings(db, shopId);
      if (!settings) return;
      if (isLimited(mail) && !(await countEmail(db, { ...mail, id }, settings.dailyEmailsPerRecipient))) {
        if (template === 'order') await recordUnsentEmail(db, shopId, mail.facts.orderId, { mailId: id });
        log.warn({ mail: id, template, shop: shopId }, 'email not sent: its address has had enough today');
        return;
      }
      const attachments = await attachmentsOf(db, mail);
      if (!attachments) return;
      tokens ??= newsletterTokens(await installationKey(config));
      const storefront = storefrontUrl(origin, settings);
      const newsletter = newsletterUrls(tokens, {
        shopId,
        storefront,
        locale: locale === settings.defaultLocale ? undefined : locale,
        email: to,
      });
      const name = oneLine(textIn(settings.name, locale, settings.defaultLocale) ?? shopId);
      await delivery.deliver({
        ...renderedMail(mail, { name, storefront, newsletter }, settings),
        attachments,
        id,
        from: { name, address: MAIL_FROM ?? settings.email },
        replyTo: MAIL_FROM === undefined ? undefined : settings.email,
        to,
        host: new URL(origin).hostname,
      });
      // Neither the address nor the words: a log is read by others than the mail.
      log.info({ mail: id, template, shop: shopId }, 'mail sent');
    },
  });
  return {
    stop: async () => {
      await worker.stop();
      delivery.close();
    },
  };
}

/** The file that the mail is about; undefined: it went with its order, and the mail would say nothing. */
async function attachmentsOf(db: Database, mail: QueuedMail): Promise<Message['attachments'] | undefined> {
  if (mail.template !== 'invoice') return [];
  const file = await documentFile(db, mail.shopId, mail.facts.documentId);
  return file && [file];
}
