import { dayOf } from '../../http/dates.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { amountText, plainDay } from '../components/format.ts';
import { changePercent, figureList, salesChart } from '../components/sales-figures.ts';
import { countWaiting } from '../orders/queries.ts';
import { HOME_SCRIPT, UPLOT, UPLOT_STYLESHEET } from '../layout/assets.ts';
import type { Providers } from '../../orders/payments/providers.ts';
import { loadReadiness } from '../../orders/readiness.ts';
import { nearLimits } from '../../platform/plans/limits.ts';
import { checklist } from '../opening/checklist.ts';
import { depsOf, previewCard } from '../opening/opening.ts';
import type { ShopPages } from '../pages.ts';
import { mailServerProblem } from '../settings/mail-server.ts';
import { taskCard } from '../automation/task-pages.ts';
import { planCard } from './plan-card.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { comparePeriods, PERIODS, type Comparison, type HomePeriod } from './periods.ts';
import {
  countProblems,
  findBestSellers,
  findDaySales,
  findRecentEvents,
  findShortProducts,
  MAX_COUNTED,
  MAX_SUMMED_LINES,
  type BestSeller,
  type ShortProduct,
} from './queries.ts';

const DAY = 86_400_000;

/** The merchant's morning page: open tasks, and sales figures. */
export function dashboardPages(pages: ShopPages, providers: Providers): void {
  pages.get('', 'member', async (visit, request) => {
    const period = PERIODS.find((days) => String(days) === request.query('days')) ?? 30;
    const [figures, tasks, ownTasks, near, readiness, mailServer] = await Promise.all([
      visit.may('orders_read') ? loadSales(visit, period) : undefined,
      loadTasks(visit),
      taskCard(visit),
      nearLimits(visit, visit.shopId),
      visit.may('settings_read')
        ? loadReadiness(visit.db, visit.settings, depsOf(visit, providers))
        : undefined,
      visit.may('settings_read') ? mailServerProblem(visit) : undefined,
    ]);
    // A shop that was open before there was a checklist sees what it lacks too.
    const open = readiness && (!visit.settings.isOpen || !readiness.ready) ? readiness : undefined;
    const isNew =
      !visit.settings.isOpen && readiness?.steps.some(({ key, done }) => key === 'testOrder' && !done);
    // A shop that was never open and has no order has no figures to show.
    const sales = isNew ? undefined : figures;
    return {
      title: visit.messages.home.title,
      menu: 'home',
      scripts: sales ? [UPLOT_STYLESHEET, UPLOT, HOME_SCRIPT] : [],
      main: html`${mailServer} ${planCard(visit, near)} ${open && checklist(visit, open)}
        ${open && !visit.settings.isOpen && previewCard(visit)}
        ${(!open || tasks.counts.length > 0) && taskList(visit, tasks)} ${ownTasks}
        ${sales && salesCard(visit, sales, period)}
        <div class="cards wide">
          ${sales && bestSellerCard(visit, sales)} ${shortStockCard(visit, tasks.short)}
        </div>`,
    };
  });
}

interface Sales {
  comparison: Comparison;
  best: readonly BestSeller[];
  /** The start of the period. */
  since: Date;
}

async function loadSales({ db, shopId, settings }: ShopVisit, period: HomePeriod): Promise<Sales> {
  const { now } = db;
  const currency = settings.defaultCurrency;
  const dayBefore = (days: number) => dayOf(now.getTime() - days * DAY);
  const since = new Date(now.getTime() - period * DAY);
  const [days, best] = await Promise.all([
    findDaySales(db, shopId, currency, { from: dayBefore(2 * period - 1), to: dayBefore(0) }),
    findBestSellers(db, shopId, currency, since),
  ]);
  return { comparison: comparePeriods(days, period, now), best, since };
}

interface Tasks {
  counts: readonly { name: TaskName; count: number; path: string }[];
  short: readonly ShortProduct[];
}

/** Open orders are counted in full. */
const COUNTED_IN_FULL: readonly TaskName[] = ['toShip', 'waitingForPayment', 'paymentFailed', 'toPay'];

const isCapped = (name: TaskName, count: number) => !COUNTED_IN_FULL.includes(name) && count >= MAX_COUNTED;

type TaskName =
  | 'newOrders'
  | 'toPay'
  | 'waitingForPayment'
  | 'paymentFailed'
  | 'toShip'
  | 'returns'
  | 'reviews'
  | 'reportedReviews'
  | 'lowStock'
  | 'emails'
  | 'webhooks'
  | 'carts';

async function loadTasks(visit: ShopVisit): Promise<Tasks> {
  const { db, shopId, settings } = visit;
  const [orders, problems, events] = await Promise.all([
    countWaiting(db, shopId),
    countProblems(db, shopId),
    findRecentEvents(db, shopId, new Date(db.now.getTime() - 30 * DAY)),
  ]);
  const idsOf = (isWanted: (type: string) => boolean) => [
    ...new Set(events.filter(({ type }) => isWanted(type)).map(({ resourceId }) => resourceId)),
  ];
  const short = visit.may('products_read')
    ? await findShortProducts(
        db,
        shopId,
        idsOf((type) => type.startsWith('STOCK_')),
        settings.lowStockLevel,
      )
    : [];
  const abandoned = idsOf((type) => type === 'CART_ABANDONED').length;
  const all = [
    { name: 'newOrders', count: problems.newOrders, path: '/orders?state=new', permission: 'orders_read' },
    { name: 'toShip', count: orders.toShip, path: '/orders?state=toShip', permission: 'orders_read' },
    {
      name: 'waitingForPayment',
      count: orders.waitingForPayment,
      path: '/orders?state=waitingForPayment',
      permission: 'orders_read',
    },
    {
      name: 'paymentFailed',
      count: orders.paymentFailed,
      path: '/orders?state=paymentFailed',
      permission: 'orders_read',
    },
    { name: 'toPay', count: orders.toPay, path: '/orders?state=toPay', permission: 'orders_read' },
    { name: 'returns', count: problems.returns, path: '/orders?state=returns', permission: 'orders_read' },
    { name: 'reviews', count: problems.reviews, path: '/reviews', permission: 'orders_read' },
    {
      name: 'reportedReviews',
      count: problems.reportedReviews,
      path: '/reviews?state=reported',
      permission: 'orders_read',
    },
    { name: 'lowStock', count: short.length, path: '/products?stock=low', permission: 'products_read' },
    { name: 'carts', count: abandoned, path: '/marketing/carts', permission: 'carts_read' },
    { name: 'emails', count: problems.emails, path: '/settings/emails', permission: 'settings_read' },
    { name: 'webhooks', count: problems.webhooks, path: '/apps/webhooks', permission: 'apps_read' },
  ] as const;
  return { counts: all.filter(({ count, permission }) => count > 0 && visit.may(permission)), short };
}

function taskList(visit: ShopVisit, { counts }: Tasks): Markup {
  const messages = visit.messages.home;
  if (counts.length === 0) return html`<p class="notice">${messages.nothingToDo}</p>`;
  return html`<section aria-labelledby="to-do">
    <h2 id="to-do" class="hidden">${messages.toDo}</h2>
    <ul class="tasks">
      ${counts.map(
        ({ name, count, path }) =>
          html`<li>
            <a class="card" href="${adminPath(visit, path)}">
              <span>${messages.tasks[name]}</span>
              <strong>${count.toLocaleString(visit.language)}${isCapped(name, count) && '+'}</strong>
            </a>
          </li>`,
      )}
    </ul>
  </section>`;
}

function salesCard(visit: ShopVisit, { comparison }: Sales, period: HomePeriod): Markup {
  const messages = visit.messages.home;
  const { current, before, today, days } = comparison;
  const money = (minor: number) => amountText(minor, visit);
  const numbers = [
    { title: messages.today, value: money(today.gross), note: messages.orders({ count: today.orders }) },
    {
      title: messages.revenue,
      value: money(current.gross),
      note: changeText(visit, current.gross, before.gross),
    },
    {
      title: messages.orderCount,
      value: current.orders.toLocaleString(visit.language),
      note: changeText(visit, current.orders, before.orders),
    },
    {
      title: messages.average,
      value: current.orders === 0 ? '–' : money(Math.round(current.gross / current.orders)),
      note: '',
    },
  ];
  return html`<section class="card" aria-labelledby="sales">
    <div class="title">
      <h2 id="sales">${messages.sales}</h2>
      <nav class="tabs" aria-label="${messages.period}">
        ${PERIODS.map(
          (choice) =>
            html`<a
              href="${adminPath(visit, '', { days: String(choice) })}"
              ${choice === period && html`aria-current="page"`}
              >${messages.days({ count: choice })}</a
            >`,
        )}
      </nav>
    </div>
    ${figureList(numbers)}
    ${salesChart(
      {
        label: messages.chart({ count: period }),
        labels: { current: messages.thisPeriod, before: messages.periodBefore },
        currency: visit.settings.defaultCurrency,
        points: days.map(({ day, gross, grossBefore }) => ({ day, gross, before: grossBefore })),
      },
      visit.language,
    )}
    <details>
      <summary>${messages.asTable}</summary>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">${messages.day}</th>
              <th scope="col" class="number">${messages.revenue}</th>
              <th scope="col" class="number">${messages.orderCount}</th>
              <th scope="col" class="number">${messages.periodBefore}</th>
            </tr>
          </thead>
          <tbody>
            ${days.toReversed().map(
              ({ day, gross, orders, grossBefore }) =>
                html`<tr>
                  <td>${day}</td>
                  <td class="number">${money(gross)}</td>
                  <td class="number">${orders}</td>
                  <td class="number">${money(grossBefore)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>
  </section>`;
}

/** The data that the script draws: amounts in whole units, because a chart shows no cents. */
function changeText({ messages, language }: ShopVisit, current: number, before: number): string {
  const percent = changePercent(current, before, language);
  return percent === undefined ? messages.home.noPeriodBefore : messages.home.change({ percent });
}

function bestSellerCard(visit: ShopVisit, { best, since }: Sales): Markup {
  const messages = visit.messages.home;
  const from = best[0]?.linesSince ?? since;
  return html`<section class="card" aria-labelledby="best">
    <h2 id="best">${messages.bestSellers}</h2>
    ${
      best.length === 0
        ? html`<p class="quiet">${messages.nothingSold}</p>`
        : html`<table>
            <tbody>
              ${best.map(
                ({ productId, productNumber, name, quantity, gross }) =>
                  html`<tr>
                    <td>
                      ${
                        productNumber === null
                          ? messages.deletedProduct
                          : html`<a href="${adminPath(visit, `/products/${productId}`)}"
                              >${nameOf(visit, name, productNumber)}</a
                            >`
                      }
                    </td>
                    <td class="number">${Number(quantity).toLocaleString(visit.language)} ×</td>
                    <td class="number">${amountText(Math.round(Number(gross)), visit)}</td>
                  </tr>`,
              )}
            </tbody>
          </table>`
    }
    ${
      from > since &&
      html`<p class="hint">
        ${messages.newestLines({
          lines: MAX_SUMMED_LINES.toLocaleString(visit.language),
          day: plainDay(from, visit.language),
        })}
      </p>`
    }
  </section>`;
}

function shortStockCard(visit: ShopVisit, short: readonly ShortProduct[]): Markup | false {
  if (short.length === 0) return false;
  return html`<section class="card" aria-labelledby="short">
    <h2 id="short">${visit.messages.home.shortStock}</h2>
    <table>
      <tbody>
        ${short.map(
          ({ productId, productNumber, name, stock }) =>
            html`<tr>
              <td>
                <a href="${adminPath(visit, `/products/${productId}`)}"
                  >${nameOf(visit, name, productNumber)}</a
                >
              </td>
              <td class="number">${Number(stock).toLocaleString(visit.language)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}

function nameOf(
  { locale, settings }: ShopVisit,
  name: Record<string, string> | null,
  number: string,
): string {
  return (name && textIn(name, locale, settings.defaultLocale)) ?? number;
}
