import { HttpError, notFound, tooManyRequests } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type FormRequest } from '../../http/page-kit.ts';
import { findDomainsOfShop } from '../../shops/domains/queries.ts';
import { checkDkimKey, createDkimKey, dkimRecord, signableDomains } from '../../shops/email/dkim.ts';
import { deleteDkimKeys, findDkimKeys, type DkimKey } from '../../shops/email/dkim-queries.ts';
import { domainOfAddress } from '../../shops/email/shop.ts';
import { declaredButton, declareHidden, optionsOf, readFields } from '../components/declared-form.ts';
import { chip, momentText } from '../components/format.ts';
import { buttonForm } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { recordTable } from './domains.ts';
import { settingsBreadcrumbs } from './section-page.ts';

const PATH = '/settings/emails/signature';
/** Per shop and hour: each check queries name servers. */
const MAX_CHECKS = 30;
/** Per shop and hour: making a key takes a processor some tenths of a second. */
const MAX_NEW_KEYS = 5;

/** Which key is looked for; no label of a domain is longer. */
const KEY = declareHidden({ selector: 63 });

/** Signatures of the emails of a shop for its own domain (DKIM). */
export function emailSignaturePages(pages: ShopPages): void {
  pages.get(PATH, 'settings_read', (visit) => signaturePage(visit));

  pages.post(`${PATH}/create`, 'settings_write', async (visit, form) => {
    await requireWithin(visit, form, 'dkim-key', MAX_NEW_KEYS);
    const domain = domainOfAddress(visit.settings.email);
    if (!(await mayBeSigned(visit, domain))) {
      return back(visit, {
        text: visit.messages.settings.signature.notProved({ domain }),
        isProblem: true,
      });
    }
    await createDkimKey(visit.db, visit.key, visit.shopId, domain, (tx) =>
      recordAction(tx, visit, `${PATH}/create`, { domain }),
    );
    return back(visit, { text: visit.messages.settings.signature.created });
  });

  pages.post(
    `${PATH}/check`,
    'settings_write',
    async (visit, form) => {
      await requireWithin(visit, form, 'dkim-check', MAX_CHECKS);
      const messages = visit.messages.settings.signature;
      const found = await checkDkimKey(visit.db, {
        shopId: visit.shopId,
        selector: readFields(KEY, form, visit).selector,
        needsProof: visit.domainPolicy.needsProof,
      });
      if (found === undefined) throw notFound();
      return back(visit, { text: messages.records[found], isProblem: found !== 'found' });
    },
    optionsOf(KEY),
  );

  pages.post(`${PATH}/remove`, 'settings_write', async (visit) => {
    await visit.db.transaction(async (tx) => {
      await deleteDkimKeys(tx, visit.shopId);
      await recordAction(tx, visit, `${PATH}/remove`);
    });
    return back(visit, { text: visit.messages.settings.signature.removed });
  });
}

const back = (visit: ShopVisit, notice: { text: string; isProblem?: boolean }) =>
  new Redirect(adminPath(visit, PATH), notice);

async function requireWithin(visit: ShopVisit, form: FormRequest, name: string, limit: number) {
  if (await form.isWithinLimit(`${name}/${visit.shopId}`, limit)) return;
  const { headers } = tooManyRequests(limit, 3600);
  throw new HttpError(429, visit.messages.settings.domainView.tooOften, headers);
}

async function mayBeSigned({ db, shopId, domainPolicy }: ShopVisit, domain: string): Promise<boolean> {
  return signableDomains(await findDomainsOfShop(db, shopId), domainPolicy.needsProof).has(domain);
}

async function signaturePage(visit: ShopVisit) {
  const messages = visit.messages.settings.signature;
  const domain = domainOfAddress(visit.settings.email);
  const [keys, isProved] = await Promise.all([
    findDkimKeys(visit.db, visit.shopId),
    mayBeSigned(visit, domain),
  ]);
  const isSigning = keys.some((key) => key.seenAt !== null && key.domain === domain);
  const create = buttonForm({
    action: adminPath(visit, `${PATH}/create`),
    text: keys.length === 0 ? messages.create : messages.renew,
    ...(keys.length === 0 && { kind: 'main' }),
  });
  return {
    title: messages.title,
    menu: 'settings' as const,
    breadcrumbs: [
      ...settingsBreadcrumbs(visit),
      { href: adminPath(visit, '/settings/emails'), text: visit.messages.settings.pages.emails },
    ],
    main: html`<div class="stack">
      <section class="card">
        <h2>${domain}</h2>
        <p>${isSigning ? chip(messages.signing, 'good') : chip(messages.notSigning, 'neutral')}</p>
        <p class="quiet">${messages.about}</p>
        ${
          !isProved &&
          html`<p>
            ${messages.notProved({ domain })}
            <a href="${adminPath(visit, '/settings/domains')}">${visit.messages.settings.pages.domains}</a>
          </p>`
        }
        ${
          visit.may('settings_write') &&
          html`<div class="actions">
            ${isProved && create}
            ${
              keys.length > 0 &&
              buttonForm({
                action: adminPath(visit, `${PATH}/remove`),
                text: messages.remove,
                kind: 'danger',
                confirm: messages.removeQuestion,
              })
            }
          </div>`
        }
      </section>
      ${keys.map((key) => keyCard(visit, key, keys))}
    </div>`,
  };
}

function keyCard(visit: ShopVisit, key: DkimKey, keys: readonly DkimKey[]): Markup {
  const messages = visit.messages.settings.signature;
  const { selector, domain, seenAt, checkedAt, found } = key;
  const isSuccessor = seenAt === null && keys.length > 1;
  return html`<section class="card" data-selector="${selector}">
    <h2>
      ${selector}._domainkey.${domain}
      ${seenAt ? chip(messages.inUse, 'good') : chip(isSuccessor ? messages.successor : messages.waiting, 'neutral')}
    </h2>
    <p>${visit.messages.settings.domainView.allOf}</p>
    ${recordTable(visit, [dkimRecord(key)])}
    <p class="hint">${messages.longValue}</p>
    ${found && html`<p>${messages.records[found]}</p>`} ${isSuccessor && html`<p>${messages.keepOld}</p>`}
    <p class="quiet">
      ${
        checkedAt
          ? visit.messages.settings.domainView.lastCheck({ moment: momentText(checkedAt, visit.language) })
          : visit.messages.settings.domainView.notChecked
      }
    </p>
    ${
      visit.may('settings_write') &&
      declaredButton(
        KEY,
        visit,
        { selector },
        {
          action: adminPath(visit, `${PATH}/check`),
          text: visit.messages.settings.domainView.check,
          label: `${visit.messages.settings.domainView.check} (${selector})`,
          kind: 'main',
        },
      )
    }
  </section>`;
}

/** Of the settings of emails: whether they are signed for the domain of the shop. */
export async function signatureCard(visit: ShopVisit): Promise<Markup> {
  const messages = visit.messages.settings.signature;
  const domain = domainOfAddress(visit.settings.email);
  const keys = await findDkimKeys(visit.db, visit.shopId);
  const isSigning = keys.some((key) => key.seenAt !== null && key.domain === domain);
  return html`<section class="card">
    <h2>${messages.title}</h2>
    <p>
      ${domain}
      ${isSigning ? chip(messages.signing, 'good') : chip(keys.length > 0 ? messages.waiting : messages.notSigning, 'neutral')}
    </p>
    <p class="actions"><a class="button" href="${adminPath(visit, PATH)}">${messages.open}</a></p>
  </section>`;
}
