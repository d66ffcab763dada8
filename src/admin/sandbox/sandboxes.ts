import { Type } from 'typebox';
import { conflict, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { findSandboxes, lockSandbox, MAX_SANDBOXES } from '../../shops/sandbox/queries.ts';
import { deleteShop, findShop, findSimilarShop } from '../../shops/shop/queries.ts';
import { declareForm, optionsOf, readChecked, showFields } from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import { refuseField } from '../components/validation.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { settingsBreadcrumbs } from '../settings/section-page.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { findCopy, insertCopy, type SandboxCopy } from './copy-queries.ts';

const MAX_NAME = 20;

const SANDBOX = declareForm(
  { body: Type.Object({ name: Type.String({ maxLength: MAX_NAME }), withCustomers: Type.Boolean() }) },
  ({ sandboxes: messages }) => ({
    name: { label: messages.name, isRequired: true },
    withCustomers: { kind: 'tick', label: messages.withCustomers, hint: messages.withCustomersHint },
  }),
);

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

/** An owner makes sandboxes of the shop, which are copied in the background, and deletes them. A sandbox has no such page. */
export function sandboxesPages(pages: ShopPages): void {
  pages.form(
    '/settings/sandboxes',
    { read: 'shop_write', write: 'shop_write' },
    { show: (visit, _request, draft) => sandboxesPage(visit, draft), save: makeSandbox },
    optionsOf(SANDBOX),
  );

  pages.post('/settings/sandboxes/:sandboxId/delete', 'shop_write', async (visit, form) => {
    requireShop(visit);
    const sandbox = form.params['sandboxId']!;
    await visit.db.transaction(async (tx) => {
      if ((await lockSandbox(tx, sandbox))?.of !== visit.shopId) throw notFound();
      await deleteShop(tx, sandbox);
      await recordAction(tx, visit, '/settings/sandboxes/:sandboxId/delete', { sandbox });
    });
    await openMediaStorage(visit.config).removeShop(sandbox);
    return new Redirect(
      adminPath(visit, '/settings/sandboxes'),
      visit.messages.sandbox.deleted({ shop: sandbox }),
    );
  });
}

function requireShop({ settings }: ShopVisit): void {
  if (settings.sandbox) throw notFound();
}

async function makeSandbox(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  requireShop(visit);
  const messages = visit.messages.sandboxes;
  const { name, withCustomers } = readChecked(SANDBOX, form, visit);
  if (!NAME.test(name)) throw refuseField('name', messages.wrongName);
  const sandbox = sandboxIdOf(visit.shopId, name);
  // The copy itself is refused by constraints; this says so at once.
  const isTaken = (await findShop(visit.db, sandbox)) ?? (await findSimilarShop(visit.db, sandbox));
  if (isTaken !== undefined) throw refuseField('name', messages.taken({ sandbox }), 409);
  if ((await findSandboxes(visit.db, visit.shopId)).length >= MAX_SANDBOXES) {
    throw conflict(messages.tooMany({ count: MAX_SANDBOXES }));
  }
  await visit.db.transaction(async (tx) => {
    const { userId, email } = visit.user;
    const isFirst = await insertCopy(tx, { shopId: visit.shopId, sandbox, withCustomers, userId, email });
    if (!isFirst) throw conflict(messages.isMade);
    await recordAction(tx, visit, '/settings/sandboxes', { sandbox });
  });
  return new Redirect(adminPath(visit, '/settings/sandboxes'), messages.begun({ sandbox }));
}

const MAX_SHOP_ID = 63;

/** Below the name of its shop, so that nobody takes the id that another shop would like. */
const sandboxIdOf = (shopId: string, name: string) =>
  `${shopId.slice(0, MAX_SHOP_ID - name.length - 1)}-${name}`;

async function sandboxesPage(visit: ShopVisit, draft?: Draft): Promise<AdminPage> {
  requireShop(visit);
  const messages = visit.messages.sandboxes;
  const [sandboxes, copy] = await Promise.all([
    findSandboxes(visit.db, visit.shopId),
    findCopy(visit.db, visit.shopId),
  ]);
  const isBeingMade = copy?.state === 'waiting';
  const path = adminPath(visit, '/settings/sandboxes');
  return {
    title: visit.messages.settings.pages.sandboxes,
    menu: 'settings',
    breadcrumbs: settingsBreadcrumbs(visit),
    main: html`<div
      id="sandboxes"
      class="stack narrow"
      ${
        isBeingMade &&
        html`hx-get="${path}" hx-trigger="every 1s" hx-select="#sandboxes" hx-target="this"
        hx-swap="outerHTML"`
      }
    >
      <p>${messages.about}</p>
      ${problemOf(draft)} ${copy && copyCard(visit, copy, path)}
      ${sandboxes.length > 0 && listOf(visit, sandboxes)}
      ${!isBeingMade && (sandboxes.length < MAX_SANDBOXES ? newSandbox(visit, draft) : full(visit))}
    </div>`,
  };
}

const FAILURES = {
  ID_TAKEN: 'taken',
  ID_SIMILAR: 'taken',
  TOO_MANY: 'tooMany',
  FILES_IN_THE_WAY: 'filesInTheWay',
} as const;

/** Its progress, or why it has failed. One that is done is in the list. */
function copyCard(visit: ShopVisit, copy: SandboxCopy, path: string): Markup | false {
  const messages = visit.messages.sandboxes;
  const { sandbox, state, errorCode, entries, entriesDone } = copy;
  if (state === 'done') return false;
  if (state === 'failed') {
    const reason = FAILURES[errorCode as keyof typeof FAILURES] ?? 'failed';
    return html`<p class="problem" role="alert">${messages[reason]({ sandbox, count: MAX_SANDBOXES })}</p>`;
  }
  const text =
    entries === null
      ? messages.waiting
      : messages.progress({
          done: Math.min(entriesDone, entries).toLocaleString(visit.language),
          all: entries.toLocaleString(visit.language),
        });
  return html`<section class="card" aria-labelledby="copy">
    <h2 id="copy">${messages.making({ sandbox })}</h2>
    <progress
      ${entries !== null && html`value="${Math.min(entriesDone, entries)}" max="${Math.max(entries, 1)}"`}
      aria-labelledby="copy"
    ></progress>
    <p class="quiet" role="status">${text}</p>
    <p class="without-script"><a class="button" href="${path}">${visit.messages.import.reload}</a></p>
  </section>`;
}

function listOf(visit: ShopVisit, sandboxes: Awaited<ReturnType<typeof findSandboxes>>): Markup {
  const messages = visit.messages.sandboxes;
  return html`<section class="card" aria-labelledby="list">
    <h2 id="list">${messages.list}</h2>
    <ul class="things">
      ${sandboxes.map(
        ({ shopId, createdAt }) =>
          html`<li>
            <div>
              <a href="/admin/shops/${shopId}">${shopId}</a>
              <p class="quiet">${messages.madeAt({ at: momentText(createdAt, visit.language) })}</p>
            </div>
            ${buttonForm({
              action: adminPath(visit, `/settings/sandboxes/${shopId}/delete`),
              text: messages.delete,
              label: messages.deleteOne({ sandbox: shopId }),
              kind: 'danger',
              confirm: visit.messages.sandbox.deleteQuestion({ shop: shopId }),
            })}
          </li>`,
      )}
    </ul>
  </section>`;
}

function newSandbox(visit: ShopVisit, draft: Draft | undefined): Markup {
  const messages = visit.messages.sandboxes;
  const field = showFields(SANDBOX, visit, { values: { name: 'sandbox' }, draft });
  return html`<form method="post" class="card">
    <h2>${messages.new}</h2>
    ${field('name', { hint: messages.nameHint({ id: sandboxIdOf(visit.shopId, messages.nameInHint) }) })}
    ${field('withCustomers')}
    <button class="main">${messages.make}</button>
  </form>`;
}

const full = (visit: ShopVisit): Markup =>
  html`<p class="quiet">${visit.messages.sandboxes.tooMany({ count: MAX_SANDBOXES })}</p>`;
