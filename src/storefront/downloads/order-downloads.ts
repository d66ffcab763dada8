import { Readable } from 'node:stream';
import { consentText, giveConsent } from '../../downloads/consent.ts';
import { purchasedFile, takeDownload } from '../../downloads/download.ts';
import { fileType } from '../../downloads/file-type.ts';
import type { DownloadLinks } from '../../downloads/links.ts';
import { readParts } from '../../downloads/part-file.ts';
import { loadPurchase, type PurchasedFile, type PurchasedItem } from '../../downloads/purchase.ts';
import type { DownloadFile } from '../../downloads/queries.ts';
import { dateText } from '../../http/dates.ts';
import { notFound, Refusal } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { emailAddressOf } from '../../orders/order-email.ts';
import type { OrderTokens } from '../../orders/order-link.ts';
import { decide, fileEtag } from '../../platform/media/conditions.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import {
  openOrderByToken,
  orderPageWith,
  backLink,
  describePart,
  type OpenedOrder,
} from '../order/customer-order.ts';
import type { Page } from '../page.ts';
import type { PageFile, Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';

const FORM = { perHour: 120, hasSecretPath: true };
/** Programs that resume a download ask for many ranges. */
const FILES_PER_HOUR = 2_000;

export interface DownloadDeps {
  tokens: OrderTokens;
  links: DownloadLinks;
  media: MediaStorage;
  /** The key of the installation, which opens licence keys. */
  key: Buffer;
}

/** The files and licence keys of an order, for people who have the link to its page. */
export function orderDownloads(pages: Pages, deps: DownloadDeps): void {
  const { tokens, links, media } = deps;

  pages.get('/order/:token/downloads', async (visit, request) =>
    downloadsPage(visit, await openOrderByToken(visit, request, tokens), deps),
  );

  // A form, because programs that open all links of an email use up no download.
  pages.post(
    '/order/:token/downloads',
    async (visit, request) => {
      const { db, shopId, locale } = visit;
      const opened = await openOrderByToken(visit, request, tokens);
      const [lineItemId, fileId] = [request.field('line').toUpperCase(), request.field('file').toUpperCase()];
      if (!isId(lineItemId) || !isId(fileId)) throw notFound();
      const { orderId } = opened.order;
      try {
        const grant = await db.transaction((tx) => takeDownload(tx, shopId, { orderId, lineItemId, fileId }));
        const link = links.link(shopId, grant, db.now);
        return new Redirect(shopPath(visit, `${opened.path}/downloads/${link}`));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const messages = messagesIn(locale).storefront.downloads;
        if (error.code === 'DOWNLOADS_USED_UP')
          return downloadsPage(visit, opened, deps, { problem: messages.usedUp });
        if (error.code === 'DOWNLOAD_ENDED')
          return downloadsPage(visit, opened, deps, { problem: messages.expired });
        throw error;
      }
    },
    FORM,
  );

  pages.post(
    '/order/:token/downloads/consent',
    async (visit, request) => {
      const { db, shopId, locale } = visit;
      const messages = messagesIn(locale).storefront.downloads;
      const opened = await openOrderByToken(visit, request, tokens);
      if (request.field('consent') === '')
        return downloadsPage(visit, opened, deps, { problem: messages.consentMissing });
      await db.transaction((tx) => giveConsent(tx, shopId, opened.order.orderId, locale));
      const isTold = emailAddressOf(opened.order) !== undefined;
      return new Redirect(shopPath(visit, `${opened.path}/downloads`), isTold ? messages.agreed : undefined);
    },
    FORM,
  );

  pages.file(
    '/order/:token/downloads/:link',
    async (visit, request) => {
      const { db, shopId } = visit;
      const opened = await openOrderByToken(visit, request, tokens);
      const { order, activity } = opened;
      const grant = links.grant(shopId, order.orderId, request.params['link']!, db.now);
      const items = grant ? await loadPurchase(db, shopId, { order, activity, key: undefined }) : [];
      const found = grant && purchasedFile(items, grant);
      if (!found || !found.item.areFilesOpen || found.file.version !== grant.version) throw notFound();
      return fileAnswer(found.file, shopId, media, request);
    },
    { perHour: FILES_PER_HOUR },
  );
}

const CONDITIONS = [
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
  'range',
];

/** Saved by the browser under its name, never shown, and never taken for a page of the shop. */
function fileAnswer(
  file: DownloadFile,
  shopId: string,
  media: MediaStorage,
  { header, isHead }: PageRequest,
): PageFile {
  const { name, bytes: size, storageKey, changedAt: modifiedAt } = file;
  const conditions = Object.fromEntries(CONDITIONS.map((one) => [one, header(one)]));
  const decision = decide(conditions, { size, modifiedAt });
  const range = decision.status === 206 ? decision.range : { start: 0, end: size - 1 };
  const isEmpty = decision.status === 304 || decision.status === 412 || decision.status === 416;
  const headers = {
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'content-disposition': `attachment; filename="${name.replaceAll(/[^\w .()+-]/g, '_')}"; filename*=UTF-8''${encoded(name)}`,
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    etag: fileEtag({ size, modifiedAt }),
    'last-modified': modifiedAt.toUTCString(),
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
    ...(!isEmpty && { 'content-length': range.end - range.start + 1 }),
    ...(decision.status === 206 && { 'content-range': `bytes ${range.start}-${range.end}/${size}` }),
    ...(decision.status === 416 && { 'content-range': `bytes */${size}` }),
  };
  const content = isEmpty || isHead ? Readable.from([]) : readParts(media, shopId, storageKey, range);
  return { status: decision.status, type: fileType(name), content, headers };
}

/** As RFC 8187 writes a name. */
const encoded = (name: string) =>
  encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

async function downloadsPage(
  visit: Visit,
  opened: OpenedOrder,
  { key }: DownloadDeps,
  { problem }: { problem?: string } = {},
): Promise<Page> {
  const { db, shopId, locale } = visit;
  const messages = messagesIn(locale).storefront.downloads;
  const { order, activity } = opened;
  const items = await loadPurchase(db, shopId, { order, activity, key });
  const title = messages.title({ number: order.orderNumber });
  return orderPageWith(opened, '/downloads', {
    title,
    ...(problem !== undefined && { status: 409 }),
    main: html`<h1>${title}</h1>
      ${problem !== undefined && html`<div class="notice" role="alert"><p class="error">${problem}</p></div>`}
      ${consentForm(visit, opened, items)} ${items.length === 0 && html`<p>${messages.empty}</p>`}
      ${items.map((item) => itemView(visit, opened, item))}
      <p>${backLink(visit, opened, messages.back)}</p>`,
  });
}

function itemView(visit: Visit, opened: OpenedOrder, item: PurchasedItem): Markup {
  const { locale } = visit;
  const messages = messagesIn(locale).storefront.downloads;
  const { line, delivery, isOpen, areFilesOpen, files } = item;
  const id = `item-${line.lineItemId}`;
  const isWaiting = delivery.beginsAt !== null || delivery.keysWaiting > 0;
  return html`<section class="todo" aria-labelledby="${id}">
    <h2 id="${id}">${describePart(visit, opened, line)}</h2>
    ${!isOpen && !isWaiting && html`<p>${messages.ended}</p>`} ${keysView(visit, item)}
    ${delivery.keysWaiting > 0 && html`<p>${messages.keysWaiting({ count: delivery.keysWaiting })}</p>`}
    ${delivery.beginsAt !== null && html`<p>${messages.consent}</p>`}
    ${isOpen && files.length > 0 && !areFilesOpen && html`<p>${messages.expired}</p>`}
    ${
      areFilesOpen &&
      files.length > 0 &&
      html`<ul class="lines">
        ${files.map((file) => fileView(visit, opened, item, file))}
      </ul>`
    }
    ${
      areFilesOpen &&
      files.length > 0 &&
      delivery.expiresAt &&
      html`<p><small>${messages.until({ day: dateText(delivery.expiresAt, locale) })}</small></p>`
    }
  </section>`;
}

function keysView({ locale }: Visit, { keys }: PurchasedItem): Markup | false {
  const messages = messagesIn(locale).storefront.downloads;
  const { language } = messagesIn(locale).storefront;
  const number = (index: number) => (index + 1).toLocaleString(language);
  return (
    keys.length > 0 &&
    html`<h3>${messages.keys}</h3>
      <ul class="parts">
        ${keys.map(
          ({ text, isRevoked, lastCharacters }, index) =>
            html`<li>
              ${
                isRevoked
                  ? lastCharacters === ''
                    ? messages.shortKeyRevoked
                    : messages.keyRevoked({ end: lastCharacters })
                  : text === undefined
                    ? messages.unreadable
                    : html`<span class="visually-hidden">${messages.key({ number: number(index) })}: </span
                        ><code>${text}</code>`
              }
            </li>`,
        )}
      </ul>`
  );
}

function fileView(
  visit: Visit,
  opened: OpenedOrder,
  { line, delivery: { maxDownloads } }: PurchasedItem,
  { file, downloads }: PurchasedFile,
): Markup {
  const { locale } = visit;
  const messages = messagesIn(locale).storefront.downloads;
  const { language } = messagesIn(locale).storefront;
  const used =
    maxDownloads === null
      ? downloads > 0 && messages.downloaded({ count: downloads })
      : messages.used({
          used: downloads.toLocaleString(language),
          max: maxDownloads.toLocaleString(language),
        });
  const details = [
    fileSize(file.bytes, language),
    messages.version({ number: String(file.version), day: dateText(file.changedAt, locale) }),
    used,
  ].filter(Boolean);
  const isUsedUp = maxDownloads !== null && downloads >= maxDownloads;
  return html`<li>
    <div class="what">
      <p>${file.name}</p>
      <p><small>${details.join(' · ')}</small></p>
      ${file.note !== null && html`<p><small>${file.note}</small></p>`}
      ${isUsedUp && html`<p><small>${messages.usedUp}</small></p>`}
    </div>
    ${
      !isUsedUp &&
      html`<form method="post" action="${shopPath(visit, `${opened.path}/downloads`)}">
        <input type="hidden" name="line" value="${line.lineItemId}" />
        <input type="hidden" name="file" value="${file.fileId}" />
        <button>
          <span aria-hidden="true">${messages.download}</span
          ><span class="visually-hidden">${messages.downloadOf({ name: file.name })}</span>
        </button>
      </form>`
    }
  </li>`;
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

function fileSize(bytes: number, language: string): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1_000)));
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit: UNITS[step],
    maximumFractionDigits: step < 2 ? 0 : 1,
  }).format(bytes / 1_000 ** step);
}

/** For orders without the consent, such as those of an app. */
function consentForm(visit: Visit, opened: OpenedOrder, items: readonly PurchasedItem[]): Markup | false {
  const { locale, settings } = visit;
  const { checkout, downloads: messages } = messagesIn(locale).storefront;
  const lines = items.flatMap(({ line, delivery }) => (delivery.beginsAt === null ? [] : [line]));
  return (
    lines.length > 0 &&
    html`<form method="post" action="${shopPath(visit, `${opened.path}/downloads/consent`)}" class="todo">
      <h2>${checkout.consents.title}</h2>
      <div class="field">
        <label
          ><input type="checkbox" name="consent" value="yes" required />
          <span>${consentText(lines, settings, locale)}</span></label
        >
      </div>
      <p><button>${messages.agree}</button></p>
    </form>`
  );
}
