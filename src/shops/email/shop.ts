import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { storefrontUrl } from '../../http/links.ts';
import { textIn } from '../../http/locale.ts';
import type { EmailMessage } from '../../platform/email/delivery.ts';
import { oneLine, type Design } from '../../platform/email/letter.ts';
import { brandOf, KONTOR, type Brand } from '../../platform/brand.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import type { EmailShop } from '../../platform/email/worker.ts';
import { installationKey } from '../../platform/sealing.ts';
import { findSettings, type MailTexts, type Settings } from '../settings/settings.ts';
import { emailDesign, loadLogo, type Logo } from './design.ts';
import { insertEmail } from '../sandbox/queries.ts';
import { keptEmail } from '../sandbox/kept-email.ts';
import { loadWay, type SendingWay } from './relay-queries.ts';
import { renderEmail } from './render.ts';

interface EmailShopDeps {
  db: Database;
  config: Config;
  /** Scheme and host of the links in emails. */
  origin: string;
  /** A page that is viewed in a browser has no attachments. */
  logo?: 'attached' | 'in the page';
}

/** A shop as the sender of emails: how they look, and what is on their envelope. */
export interface EmailSender {
  settings: Settings;
  design: Design;
  installationKey: Buffer;
  /** The base address of its pages. */
  storefront: string;
  /** In the language of the recipient. */
  shopName: (locale: string) => string;
  envelope: (
    locale: string,
    options?: { isOfService?: boolean | undefined },
  ) => Pick<EmailMessage, 'from' | 'replyTo' | 'logo' | 'host' | 'envelopeFrom' | 'relay' | 'dkim'>;
  /** Keeps an email of a sandbox instead of sending it; undefined: it is sent. */
  keep: EmailShop['keep'];
}

/** Loads the shops that send emails. undefined: there is no such shop. */
export function createSenderLoader({
  db,
  config,
  origin,
  logo: logoPlace = 'attached',
}: EmailShopDeps): (shopId: string) => Promise<EmailSender | undefined> {
  const host = new URL(origin).hostname;
  const storage = openMediaStorage(config);
  const cid = `logo@${host}`;
  const logoSource = ({ png }: Logo) =>
    logoPlace === 'attached' ? `cid:${cid}` : `data:image/png;base64,${png.toString('base64')}`;
  let key: Buffer | undefined;
  return async (shopId) => {
    const settings = await findSettings(db, shopId);
    if (!settings) return undefined;
    const signingKey = (key ??= await installationKey(config));
    const [logo, way] = await Promise.all([
      loadLogo(db, storage, settings),
      loadWay(db, async () => signingKey, shopId),
    ]);
    const { email: shopAddress, defaultLocale } = settings;
    const shopName = (locale: string) => oneLine(textIn(settings.name, locale, defaultLocale) ?? shopId);
    return {
      settings,
      design: emailDesign(settings, logo && { ...logo, src: logoSource(logo) }),
      installationKey: signingKey,
      storefront: storefrontUrl(origin, settings),
      shopName,
      envelope: (locale, { isOfService = false } = {}) => ({
        ...senderOf(isOfService ? NO_WAY : way, { name: shopName(locale), shopAddress, config }),
        logo: logo && { cid, bytes: logo.png },
        host,
      }),
      keep: settings.sandbox
        ? (message, kind) => insertEmail(db, shopId, keptEmail(message, kind, db.atClockOf(shopId).now))
        : undefined,
    };
  };
}

/** The name of the host stands above its emails, in its colours. */
function brandDesign(design: Design, { colours }: Brand): Design {
  return {
    ...design,
    ...(colours && { ...colours, link: colours.accent }),
    logo: undefined,
    showName: true,
  };
}

function brandEnvelope(envelope: ReturnType<EmailSender['envelope']>, { sender }: Brand) {
  const isFromHost = sender !== undefined;
  return { ...envelope, logo: undefined, ...(isFromHost && { from: sender, replyTo: undefined }) };
}

const NO_WAY: SendingWay = { relay: undefined, dkim: undefined };

/**
 * Whose address an email comes from. With a mail server of its own, a shop has entered it; with a signature for the domain
 * of its address, that address; else the installation's. Answers go to the address of the shop.
 */
function senderOf(
  { relay, dkim }: SendingWay,
  { name, shopAddress, config }: { name: string; shopAddress: string; config: Config },
): Pick<EmailMessage, 'from' | 'replyTo' | 'envelopeFrom' | 'relay' | 'dkim'> {
  const from = (address: string) => ({
    from: { name, address },
    replyTo: address === shopAddress ? undefined : shopAddress,
  });
  if (relay) return { ...from(relay.sender), relay };
  const { MAIL_FROM } = config;
  if (dkim && domainOfAddress(shopAddress) === dkim.domain) {
    const { domain: domainName, selector: keySelector, privateKey } = dkim;
    return {
      ...from(shopAddress),
      ...(MAIL_FROM !== undefined && { envelopeFrom: MAIL_FROM }),
      dkim: { domainName, keySelector, privateKey },
    };
  }
  return {
    from: { name, address: MAIL_FROM ?? shopAddress },
    replyTo: MAIL_FROM === undefined ? undefined : shopAddress,
  };
}

/** What follows the @. */
export const domainOfAddress = (address: string): string =>
  address.slice(address.lastIndexOf('@') + 1).toLowerCase();

/** Loads what the worker needs of the shops that send emails. `tried` are unsaved texts, for a preview. */
export function createEmailShopLoader(
  deps: EmailShopDeps,
): (shopId: string, tried?: MailTexts) => Promise<EmailShop | undefined> {
  const loadSender = createSenderLoader(deps);
  return async (shopId, tried) => {
    const sender = await loadSender(shopId);
    if (!sender) return undefined;
    const { design, installationKey: signingKey, storefront, shopName, envelope } = sender;
    const settings = tried ? { ...sender.settings, mailTexts: tried } : sender.settings;
    return {
      dailyEmailsPerRecipient: settings.dailyEmailsPerRecipient,
      keep: sender.keep,
      render: (kind, email) => {
        const context = {
          shopId,
          shopName: shopName(email.locale),
          storefront,
          origin: deps.origin,
          to: email.to,
          locale: email.locale === settings.defaultLocale ? undefined : email.locale,
          installationKey: signingKey,
        };
        const brand = brandOf(deps.config);
        const sent = envelope(email.locale, kind);
        // Emails that open the admin come from who runs it.
        if (!kind.isOfService || brand === KONTOR)
          return { ...renderEmail(kind, email, context, settings, design), ...sent };
        return {
          ...renderEmail(kind, email, context, settings, brandDesign(design, brand), brand.name),
          ...brandEnvelope(sent, brand),
        };
      },
    };
  };
}
