import { dayOf } from '../../http/dates.ts';
import type { CallOperation } from '../../http/internal-call.ts';
import { changeCouponCampaign, deleteCouponCampaign, makeCouponCodes } from '../../coupons/manage-routes.ts';
import { addCampaignCoupon, createCouponCampaign, getCouponCampaign } from '../../coupons/routes.ts';
import { Readable } from 'node:stream';
import { couponKey } from '../../coupons/campaign.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { isId } from '../../kernel/ids.ts';
import { barChart } from '../components/bars.ts';
import { shortDay } from '../components/format.ts';
import { readFields, showFields } from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { listView } from '../components/list.ts';
import { listState } from '../components/list-state.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { campaignColumns, discountText, campaignChip, usedText } from './campaign-columns.ts';
import { codesCard, CODES_OPTIONS, codesText, SHOWN_CODES, typedCodes } from './coupon-codes.ts';
import { CAMPAIGN_OPTIONS, campaignFields, COUPON_CODE, IDENTIFIER, typedCampaign } from './campaign-form.ts';
import {
  countCampaigns,
  findCampaignDays,
  findCode,
  findListedCampaign,
  findListedCampaigns,
  findSomeCodes,
} from './queries.ts';
import { marketingStep, marketingTabs } from './tabs.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';

const DAY = 86_400_000;
const SHOWN_DAYS = 30;

export function coupons(pages: ShopPages): void {
  pages.get('/marketing', 'coupons_read', async (visit, request) => {
    const messages = visit.messages.coupons;
    const columns = campaignColumns(visit);
    const state = listState(request, columns);
    const [rows, results] = await Promise.all([
      findListedCampaigns(visit.db, visit.shopId, state),
      countCampaigns(visit.db, visit.shopId),
    ]);
    return {
      title: visit.messages.layout.menuEntries.marketing,
      menu: 'marketing',
      actions: visit.may('coupons_write')
        ? html`<a class="button main" href="${adminPath(visit, '/marketing/coupons/new')}"
            >${messages.new}</a
          >`
        : undefined,
      main: html`${marketingTabs(visit, 'coupons')}
      ${await listView(visit, request, {
        path: '/marketing',
        caption: visit.messages.marketing.tabs.coupons,
        columns,
        filters: [],
        rows,
        results,
        href: ({ campaignId }) => adminPath(visit, `/marketing/coupons/${campaignId}`),
        empty: messages.empty,
      })}`,
    };
  });

  pages.form(
    '/marketing/coupons/new',
    { read: 'coupons_write', write: 'coupons_write' },
    {
      show: async (visit, _request, draft) => {
        const messages = visit.messages.coupons;
        return {
          title: messages.new,
          menu: 'marketing',
          breadcrumbs: [marketingStep(visit)],
          main: html`<form method="post" class="card prose">
            ${problemOf(draft)} ${await campaignFields(visit, undefined, draft)}
            ${showFields(COUPON_CODE, visit, { draft })('code', { label: messages.firstCode, hint: messages.firstCodeHint })}
            ${showFields(IDENTIFIER, visit, { draft })('identifier')}
            <button class="main">${visit.messages.form.save}</button>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const { messages } = visit;
        const { code } = readFields(COUPON_CODE, form, visit);
        const campaign = await typedCampaign(visit, form);
        const { identifier } = readFields(IDENTIFIER, form, visit);
        const body = { ...campaign, identifier: identifier || identifierOf(campaign.name) };
        const { campaignId } = await visit.inTransaction(async (call) => {
          const made = await call(createCouponCampaign, { query: { locale: visit.locale }, body });
          if (code !== '') await addCode(call, made.campaignId, code);
          return made;
        });
        return new Redirect(adminPath(visit, `/marketing/coupons/${campaignId}`), messages.coupons.created);
      },
    },
    CAMPAIGN_OPTIONS,
  );

  pages.form(
    '/marketing/coupons/:campaignId',
    { read: 'coupons_read', write: 'coupons_write' },
    {
      show: campaignPage,
      save: async (visit, form) => {
        const { messages } = visit;
        const { campaign } = await loadCampaign(visit, form);
        requireUnchanged(form, campaign, messages);
        await visit.call(changeCouponCampaign, {
          params: { couponCampaignId: campaign.campaignId },
          query: { locale: visit.locale },
          body: await typedCampaign(visit, form),
        });
        return new Redirect(
          adminPath(visit, `/marketing/coupons/${campaign.campaignId}`),
          messages.form.saved,
        );
      },
    },
    CAMPAIGN_OPTIONS,
  );

  pages.form(
    '/marketing/coupons/:campaignId/codes',
    { read: 'coupons_write', write: 'coupons_write' },
    {
      show: (visit, request, draft) => campaignPage(visit, request, undefined, draft),
      save: async (visit, form) => {
        const { messages } = visit;
        const { campaignId } = await readCampaign(visit, form);
        const path = adminPath(visit, `/marketing/coupons/${campaignId}`);
        const { code } = readFields(COUPON_CODE, form, visit);
        if (code !== '') {
          await addCode(visit.call, campaignId, code);
          return new Redirect(path, messages.coupons.codeAdded({ code }));
        }
        const { codes } = await visit.call(makeCouponCodes, {
          params: { couponCampaignId: campaignId },
          body: typedCodes(visit, form),
        });
        return new Redirect(path, messages.coupons.generated({ count: codes.length }));
      },
    },
    CODES_OPTIONS,
  );

  pages.post('/marketing/coupons/:campaignId/delete', 'coupons_write', async (visit, form) => {
    const { campaignId, name } = await readCampaign(visit, form);
    await visit.call(deleteCouponCampaign, { params: { couponCampaignId: campaignId } });
    return new Redirect(adminPath(visit, '/marketing'), visit.messages.coupons.deleted({ name }));
  });

  pages.file('/marketing/coupons/:campaignId/codes.csv', 'coupons_read', async (visit, request) => {
    const { campaignId, identifier } = await readCampaign(visit, request);
    return {
      type: 'text/csv; charset=utf-8',
      fileName: `${identifier}.csv`,
      content: Readable.from(codesText(visit, campaignId), { objectMode: false, highWaterMark: 65_536 }),
    };
  });
}

function addCode(call: CallOperation, campaignId: string, code: string): Promise<unknown> {
  return call(addCampaignCoupon, { params: { couponCampaignId: campaignId }, body: { code } });
}

/** `Summer sale` becomes `summer_sale`. */
const identifierOf = (name: string) =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')
    .slice(0, 100);

const readCampaign = (visit: ShopVisit, { params }: Pick<PageRequest, 'params'>) => {
  const campaignId = params['campaignId']!;
  if (!isId(campaignId)) throw notFound();
  return visit.call(getCouponCampaign, { params: { couponCampaignId: campaignId } });
};

/** The operation responds in the default locale; the form shows the name in the reader's language, as lists do. */
async function loadCampaign(visit: ShopVisit, request: Pick<PageRequest, 'params'>) {
  const stored = await readCampaign(visit, request);
  const listed = await findListedCampaign(visit.db, visit.shopId, stored.campaignId);
  if (!listed) throw notFound();
  const name = textIn(listed.name, visit.locale, visit.settings.defaultLocale) ?? stored.name;
  return { listed, campaign: { ...stored, name } };
}

async function campaignPage(
  visit: ShopVisit,
  request: PageRequest,
  draft?: Draft,
  codeDraft?: Draft,
): Promise<AdminPage> {
  const { db, shopId } = visit;
  const messages = visit.messages.coupons;
  const { campaign, listed } = await loadCampaign(visit, request);
  const { campaignId } = campaign;
  const wanted = (request.query('code') ?? '').trim().slice(0, 100);
  const since = new Date(db.now.getTime() - (SHOWN_DAYS - 1) * DAY);
  const [days, codes] = await Promise.all([
    findCampaignDays(db, shopId, campaignId, since),
    wanted === ''
      ? findSomeCodes(db, shopId, campaignId, SHOWN_CODES)
      : findCode(db, shopId, campaignId, couponKey(wanted)),
  ]);
  const path = `/marketing/coupons/${campaignId}`;
  const mayWrite = visit.may('coupons_write');
  return {
    title: campaign.name,
    menu: 'marketing',
    breadcrumbs: [marketingStep(visit)],
    actions: mayWrite
      ? buttonForm({
          action: adminPath(visit, `${path}/delete`),
          text: messages.delete,
          kind: 'danger',
          confirm: messages.deleteSure,
        })
      : undefined,
    main: html`<div class="sides">
      <div class="stack">
        <dl class="card figures">
          <div>
            <dt>${messages.discount}</dt>
            <dd>${discountText(visit, listed)}</dd>
          </div>
          <div>
            <dt>${messages.state}</dt>
            <dd>${campaignChip(visit, listed)}</dd>
          </div>
          <div>
            <dt>${messages.used}</dt>
            <dd>${usedText(visit, listed)}</dd>
          </div>
        </dl>
        <section class="card">
          <h2>${messages.overTime}</h2>
          ${usesChart(visit, since, days)}
          <p class="hint">${messages.overTimeHint}</p>
        </section>
        ${codesCard(visit, path, { listed, codes, wanted, draft: codeDraft })}
      </div>
      <form method="post" action="${adminPath(visit, path)}" class="card">
        ${problemOf(draft)} ${versionField(campaign)} ${await campaignFields(visit, campaign, draft)}
        ${mayWrite && html`<button class="main">${visit.messages.form.save}</button>`}
      </form>
    </div>`,
  };
}

function usesChart(
  { messages, language }: ShopVisit,
  since: Date,
  days: readonly { day: string; orders: number }[],
): Markup {
  const ordersOf = new Map(days.map(({ day, orders }) => [day, orders]));
  return barChart(
    messages.coupons.overTime,
    Array.from({ length: SHOWN_DAYS }, (_, index) => {
      const day = new Date(since.getTime() + index * DAY);
      const value = ordersOf.get(dayOf(day)) ?? 0;
      return {
        label: shortDay(day, language),
        value,
        text: String(value),
      };
    }),
  );
}
