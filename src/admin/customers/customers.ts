import { setCustomerGroup } from '../../people/customers/manage-routes.ts';
import { createCustomer, updateCustomer } from '../../people/customers/routes.ts';
import { setCustomerTags } from '../../people/customers/tags.ts';
import { html, type Markup } from '../../http/html.ts';
import type { Customer } from '../../people/customers/schema.ts';
import { ADDRESS, addressFields, typedAddress } from '../components/address-form.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { plainDay } from '../components/format.ts';
import { requireUnchanged, versionField, versionOf } from '../components/version.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { emailProblemNotice } from '../components/email-problem.ts';
import { blocksOf } from '../apps/frames.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { addressCard } from './address-card.ts';
import { figures, monthChart, orderTable, SHOWN_ORDERS } from './customer-cards.ts';
import { customerList } from './customer-list.ts';
import { customerStep, listStep, readCustomer, titleOf } from './customer-steps.ts';
import { notePages, noteCard } from './note-pages.ts';
import { fieldCard } from '../fields/value-pages.ts';
import { issueCard } from './open-issues.ts';
import { privacyPages } from './privacy.ts';
import { findCustomerSummary, findOrdersOf, type CustomerSummary } from './queries.ts';
import { segmentPages } from './segments.ts';
import { tagPages } from './tag-pages.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';

const DETAILS = declareForm(createCustomer, ({ customers: messages }) => ({
  customerNumber: { label: messages.number },
  internalNote: { kind: 'long text', label: messages.note, hint: messages.noteHint },
}));

const GROUP = declareForm(setCustomerGroup, ({ customers: messages }) => ({
  customerGroupId: {
    kind: 'choice',
    label: messages.group,
    hint: messages.groupHint,
    empty: messages.noGroup,
  },
}));

const TAGS = declareForm(setCustomerTags, ({ customers: messages }) => ({
  tags: { kind: 'tags', label: messages.tags, hint: messages.tagsHint },
}));

export function customerPages(pages: ShopPages): void {
  customerList(pages);
  privacyPages(pages);
  segmentPages(pages);
  tagPages(pages);
  notePages(pages);

  pages.form(
    '/customers/new',
    { read: 'customers_write', write: 'customers_write' },
    {
      show: async (visit, _request, draft) => {
        const messages = visit.messages.customers;
        const field = showFields(DETAILS, visit, { draft });
        return {
          title: messages.new,
          menu: 'customers',
          breadcrumbs: [listStep(visit)],
          main: html`<form method="post" class="card">
            ${problemOf(draft)} ${addressFields(visit, null, draft)}
            ${field('customerNumber', { hint: messages.numberHint })} ${field('internalNote')}
            <button class="main">${visit.messages.form.save}</button>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const { customerId } = await visit.call(createCustomer, {
          body: { ...readFields(DETAILS, form, visit), billingAddress: typedAddress(form) },
        });
        return new Redirect(adminPath(visit, `/customers/${customerId}`), visit.messages.customers.created);
      },
    },
    optionsOf(DETAILS, ADDRESS),
  );

  pages.form(
    '/customers/:customerId',
    { read: 'customers_read', write: 'customers_write' },
    {
      show: customerPage,
      save: async (visit, form) => {
        const customerId = form.params['customerId']!;
        const before = await readState(visit, customerId);
        requireUnchanged(form, before, visit.messages);
        const typed = readFields(DETAILS, form, visit);
        const group = readFields(GROUP, form, visit);
        const { tags } = readFields(TAGS, form, visit);
        await visit.inTransaction(async (call) => {
          if (group.customerGroupId !== before.customerGroupId) {
            await call(setCustomerGroup, { params: { customerId }, body: group });
          }
          if (tags.join() !== before.tags.join()) {
            await call(setCustomerTags, { params: { customerId }, body: { tags } });
          }
          await call(updateCustomer, {
            params: { customerId },
            body: [
              { op: 'add', path: '/customerNumber', value: typed.customerNumber ?? '' },
              typed.internalNote === null
                ? { op: 'remove', path: '/internalNote' }
                : { op: 'add', path: '/internalNote', value: typed.internalNote },
            ],
          });
        });
        const path = adminPath(visit, `/customers/${customerId}`);
        const { customerNumber, internalNote, customerGroupId } = before;
        return new Redirect(path, {
          text: visit.messages.form.saved,
          undo: {
            action: path,
            fields: {
              version: versionOf(await readState(visit, customerId)),
              customerNumber,
              internalNote: internalNote ?? '',
              customerGroupId: customerGroupId ?? '',
              tags: before.tags.join(', '),
            },
          },
        });
      },
    },
    optionsOf(DETAILS, GROUP, TAGS),
  );

  pages.form(
    '/customers/:customerId/address',
    { read: 'customers_read', write: 'customers_write' },
    {
      show: async (visit, request, draft) => {
        const customer = await readCustomer(visit, request.params['customerId']!);
        return {
          title: visit.messages.customers.address,
          menu: 'customers',
          breadcrumbs: [listStep(visit), customerStep(visit, customer)],
          main: html`<form method="post" class="card">
            ${problemOf(draft)} ${versionField(customer.billingAddress)}
            ${addressFields(visit, customer.billingAddress, draft)}
            ${visit.may('customers_write') && html`<button class="main">${visit.messages.form.save}</button>`}
          </form>`,
        };
      },
      save: async (visit, form) => {
        const { messages } = visit;
        const customerId = form.params['customerId']!;
        const before = await readCustomer(visit, customerId);
        requireUnchanged(form, before.billingAddress, messages);
        const address = typedAddress(form);
        const isEmpty = Object.values(address).every((value) => value === null);
        await visit.call(updateCustomer, {
          params: { customerId },
          body: [
            isEmpty
              ? { op: 'remove', path: '/billingAddress' }
              : { op: 'add', path: '/billingAddress', value: address },
          ],
        });
        const after = await readCustomer(visit, customerId);
        return new Redirect(adminPath(visit, `/customers/${customerId}`), {
          text: messages.form.saved,
          undo: {
            action: adminPath(visit, `/customers/${customerId}/address`),
            fields: {
              ...Object.fromEntries(
                Object.entries(before.billingAddress ?? {}).flatMap(([name, value]) =>
                  value === null ? [] : [[name, value]],
                ),
              ),
              version: versionOf(after.billingAddress),
            },
          },
        });
      },
    },
    optionsOf(ADDRESS),
  );
}

/** The data that the form of a customer shows and changes. */
async function readState(visit: ShopVisit, customerId: string) {
  const { customerNumber, internalNote } = await readCustomer(visit, customerId);
  const summary = await findCustomerSummary(visit.db, visit.shopId, customerId);
  return {
    customerNumber,
    internalNote,
    customerGroupId: summary?.customerGroupId ?? null,
    tags: summary?.tags ?? [],
  };
}

async function customerPage(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const { db, shopId, settings } = visit;
  const messages = visit.messages.customers;
  const customer = await readCustomer(visit, request.params['customerId']!);
  const { customerId } = customer;
  const summary = (await findCustomerSummary(db, shopId, customerId))!;
  const currency = summary.sums[0]?.currency ?? settings.defaultCurrency;
  const mayReadOrders = visit.may('orders_read');
  const [orders, chart] = mayReadOrders
    ? await Promise.all([
        findOrdersOf(db, shopId, customerId, SHOWN_ORDERS),
        summary.sums.length > 0 && monthChart(visit, customerId, currency),
      ])
    : [[], undefined];
  const {
    emailAddress = null,
    businessEmailAddress = null,
    privateEmailAddress = null,
  } = customer.billingAddress ?? {};
  const issues = await issueCard(visit, customerId, [
    emailAddress,
    businessEmailAddress,
    privateEmailAddress,
  ]);
  const blocks = blocksOf(visit, 'customer', [customerId]);
  return {
    title: titleOf(customer),
    menu: 'customers',
    breadcrumbs: [listStep(visit)],
    main: html`${issues} ${await emailProblemNotice(visit, emailAddress)}
      <div class="sides">
        <div class="stack">
          ${figures(visit, summary)}
          ${
            mayReadOrders &&
            html`<section class="card">
              <h2>${messages.orders}</h2>
              ${orderTable(visit, customer.customerNumber, orders, summary)}
            </section>`
          }
          ${
            chart &&
            html`<section class="card">
              <h2>${messages.overTime}</h2>
              ${chart}
            </section>`
          }
        </div>
        <div class="stack">
          <section class="card">
            <h2>${messages.address}</h2>
            ${addressCard(visit, customer.billingAddress)}
            ${
              visit.may('customers_write') &&
              html`<a class="button" href="${adminPath(visit, `/customers/${customerId}/address`)}"
                >${messages.editAddress}</a
              >`
            }
          </section>
          ${detailsForm(visit, customer, summary, draft)} ${await noteCard(visit, customerId)}
          ${await fieldCard(visit, 'customer', { customerId })} ${privacyCard(visit, customerId, summary)}
          ${blocks.markup}
        </div>
      </div>`,
    frames: blocks.frames,
    scripts: blocks.scripts,
  };
}

function detailsForm(
  visit: ShopVisit,
  { customerNumber, internalNote }: Customer,
  { customerGroupId, tags }: CustomerSummary,
  draft: Draft | undefined,
): Markup {
  const messages = visit.messages.customers;
  const mayWrite = visit.may('customers_write');
  const groups = visit.settings.customerGroups;
  const choices = groups.map((group) => ({ value: group.customerGroupId, text: group.name }));
  const shown = { draft, isDisabled: !mayWrite };
  const field = showFields(DETAILS, visit, { values: { customerNumber, internalNote }, ...shown });
  const tagField = showFields(TAGS, visit, { values: { tags }, ...shown });
  const groupField = showFields(GROUP, visit, { values: { customerGroupId }, ...shown });
  return html`<form method="post" class="card">
    <h2>${messages.details}</h2>
    ${problemOf(draft)} ${versionField({ customerNumber, internalNote, customerGroupId, tags })}
    ${tagField('tags')} ${field('internalNote')}
    ${choices.length > 0 && groupField('customerGroupId', { choices })}
    ${field('customerNumber', { isRequired: true })}
    ${mayWrite && html`<button class="main">${visit.messages.form.save}</button>`}
  </form>`;
}

function privacyCard(
  visit: ShopVisit,
  customerId: string,
  { accountSince, newsletters }: CustomerSummary,
): Markup {
  const messages = visit.messages.customers;
  const day = accountSince && plainDay(accountSince, visit.language);
  const path = `/customers/${customerId}`;
  return html`<section class="card">
    <h2>${messages.privacy}</h2>
    <dl class="pairs">
      <dt>${messages.account}</dt>
      <dd>${day === null ? messages.noAccount : messages.accountSince({ day })}</dd>
      <dt>${messages.newsletters}</dt>
      <dd>${newsletters.length === 0 ? messages.noNewsletters : newsletters.join(', ')}</dd>
    </dl>
    <p class="hint">
      ${messages.exportHint}
      <a href="${adminPath(visit, '/customers/privacy')}">${messages.requests.title}</a>
    </p>
    <div class="actions">
      ${
        visit.may('orders_read') &&
        html`<a class="button" href="${adminPath(visit, `${path}/export.json`)}">${messages.exportData}</a>`
      }
      ${
        visit.may('customers_write') &&
        visit.may('orders_write') &&
        html`<a class="button danger" href="${adminPath(visit, `${path}/erase`)}">${messages.erase}</a>`
      }
    </div>
  </section>`;
}
