import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { storefrontUrl } from '../../http/links.ts';
import { textIn } from '../../http/locale.ts';
import { oneLine } from '../../platform/email/letter.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import type { EmailShop } from '../../platform/email/worker.ts';
import { installationKey } from '../../platform/sealing.ts';
import { findSettings, type MailTexts } from '../settings/settings.ts';
import { emailDesign, loadLogo, type Logo } from './design.ts';
import { insertEmail } from '../sandbox/queries.ts';
import { keptEmail } from '../sandbox/kept-email.ts';
import { renderEmail } from './render.ts';

/**
 * Loads the shops that send emails; `origin` is the scheme and host of the links in them. `tried` are unsaved texts,
 * for a preview.
 */
export function createEmailShopLoader({
  db,
  config,
  origin,
  logo: logoPlace = 'attached',
}: {
  db: Database;
  config: Config;
  origin: string;
  /** A page that is viewed in a browser has no attachments. */
  logo?: 'attached' | 'in the page';
}): (shopId: string, tried?: MailTexts) => Promise<EmailShop | undefined> {
  const host = new URL(origin).hostname;
  const storage = openMediaStorage(config);
  const cid = `logo@${host}`;
  const logoSource = ({ png }: Logo) =>
    logoPlace === 'attached' ? `cid:${cid}` : `data:image/png;base64,${png.toString('base64')}`;
  let key: Buffer | undefined;
  return async (shopId, tried) => {
    const stored = await findSettings(db, shopId);
    if (!stored) return undefined;
    const settings = tried ? { ...stored, mailTexts: tried } : stored;
    const signingKey = (key ??= await installationKey(config));
    const logo = await loadLogo(db, storage, settings);
    const design = emailDesign(settings, logo && { ...logo, src: logoSource(logo) });
    const { email: shopAddress, defaultLocale, dailyEmailsPerRecipient } = settings;
    return {
      dailyEmailsPerRecipient,
      keep: settings.sandbox
        ? (message, kind) => insertEmail(db, shopId, keptEmail(message, kind, db.atClockOf(shopId).now))
        : undefined,
      render: (kind, email) => {
        const shopName = oneLine(textIn(settings.name, email.locale, defaultLocale) ?? shopId);
        const context = {
          shopId,
          shopName,
          storefront: storefrontUrl(origin, settings),
          origin,
          to: email.to,
          locale: email.locale === defaultLocale ? undefined : email.locale,
          installationKey: signingKey,
        };
        return {
          ...renderEmail(kind, email, context, settings, design),
          from: { name: shopName, address: config.MAIL_FROM ?? shopAddress },
          replyTo: config.MAIL_FROM === undefined ? undefined : shopAddress,
          logo: logo && { cid, bytes: logo.png },
          host,
        };
      },
    };
  };
}
