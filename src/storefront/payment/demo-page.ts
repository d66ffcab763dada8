import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { moneyText } from '../../http/price-text.ts';
import { findDemoPayment, moveDemoPayment, type DemoPayment } from '../../orders/payments/demo-provider.ts';
import type { Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import { Redirect } from '../../http/page-kit.ts';

/** Milliseconds after which money sent "later" arrives. */
const ON_ITS_WAY = 60_000;

const ANSWERS = ['yes', 'no', 'later', 'nothing'] as const;

/**
 * The payment page of the provider `demo`, on which the shopper decides what the bank does. Only where no other
 * machine calls.
 */
export function demoPayment(pages: Pages): void {
  pages.get('/demo-payment/:id', async (visit, { params }) => {
    const payment = await findPayment(visit, params['id']!);
    const { currency, amount, orderNumber, returnUrl, state } = payment;
    const messages = messagesIn(visit.locale).storefront.payment.demo;
    const price = moneyText(amount, currency, visit.locale);
    return {
      title: messages.title,
      path: `/demo-payment/${params['id']}`,
      isPrivate: true,
      main: html`<h1>${messages.title}</h1>
        <p>${messages.explanation}</p>
        <p>${messages.amount({ price, number: orderNumber })}</p>
        ${
          state === 'open'
            ? answerForms(visit, params['id']!)
            : html`<p>${messages.ended}</p>
                <p><a class="button" href="${returnUrl}">${messages.back}</a></p>`
        }`,
    };
  });

  pages.post('/demo-payment/:id', async (visit, { params, field }) => {
    const { db, shopId } = visit;
    const id = params['id']!;
    const { returnUrl, isCapturedByHand } = await findPayment(visit, id);
    const move = (to: DemoPayment['state'], paidAt: Date | null = null) =>
      moveDemoPayment(db, shopId, id, { from: ['open'], to, paidAt });
    const answer = field('answer');
    if (answer === 'yes') await move(isCapturedByHand ? 'authorized' : 'paid');
    if (answer === 'no') await move('failed');
    if (answer === 'later') await move('processing', new Date(db.now.getTime() + ON_ITS_WAY));
    return new Redirect(returnUrl);
  });
}

function answerForms(visit: Visit, id: string): Markup {
  const messages = messagesIn(visit.locale).storefront.payment.demo;
  return html`<form method="post" action="${shopPath(visit, `/demo-payment/${id}`)}">
    ${ANSWERS.map(
      (answer, index) =>
        html`<p>
          <button class="${index > 0 && 'quiet'}" name="answer" value="${answer}">
            ${messages.answers[answer]}
          </button>
        </p>`,
    )}
  </form>`;
}

async function findPayment({ db, shopId, payments, settings }: Visit, id: string): Promise<DemoPayment> {
  const isOffered = settings.sandbox !== null || payments.providers.demo.isAvailable !== false;
  const payment = isOffered ? await findDemoPayment(db, shopId, id) : undefined;
  if (!payment) throw notFound();
  return payment;
}
