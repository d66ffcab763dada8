import { grouped } from '../../orders/documents/iban.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { findOrder } from '../../orders/queries.ts';
import { orderText } from '../../orders/render.ts';
import type { Order } from '../../orders/schema.ts';
import { goods, parties } from './review-step.ts';
import { orderCompleted } from '../scripts/events.ts';
import type { Pages } from '../pages.ts';
import { to, type Visit } from '../visit.ts';
import { spoken } from '../words.ts';

const confirmationWords = spoken({
  en: {
    title: 'Thank you for your order',
    number: (number: string) => `Your order has the number ${number}.`,
    mail: (address: string) => `A confirmation goes to ${address}.`,
    next: 'What happens next',
    transfer: (total: string, number: string) =>
      `Please transfer ${total} to this account and give ${number} as the reference. We send the goods when the payment has arrived.`,
    invoice: 'You receive an invoice.',
    provider: (name: string) => `You pay through ${name}.`,
    soon: 'We take care of your order and tell you when something happens.',
    bank: { name: 'Bank', holder: 'Account holder', iban: 'IBAN', bic: 'BIC', reference: 'Reference' },
    shop: 'Continue shopping',
  },
  de: {
    title: 'Vielen Dank für Ihre Bestellung',
    number: (number) => `Ihre Bestellung hat die Nummer ${number}.`,
    mail: (address) => `Eine Bestätigung geht an ${address}.`,
    next: 'Wie es weitergeht',
    transfer: (total, number) =>
      `Bitte überweisen Sie ${total} auf dieses Konto und geben Sie ${number} als Verwendungszweck an. Wir versenden die Ware, sobald die Zahlung eingegangen ist.`,
    invoice: 'Sie erhalten eine Rechnung.',
    provider: (name) => `Die Zahlung läuft über ${name}.`,
    soon: 'Wir kümmern uns um Ihre Bestellung und melden uns, sobald es etwas Neues gibt.',
    bank: { name: 'Bank', holder: 'Kontoinhaber', iban: 'IBAN', bic: 'BIC', reference: 'Verwendungszweck' },
    shop: 'Weiter einkaufen',
  },
  fr: {
    title: 'Merci pour votre commande',
    number: (number) => `Votre commande porte le numéro ${number}.`,
    mail: (address) => `Une confirmation est envoyée à ${address}.`,
    next: 'La suite',
    transfer: (total, number) =>
      `Veuillez virer ${total} sur ce compte en indiquant la référence ${number}. Nous expédions la marchandise dès réception du paiement.`,
    invoice: 'Vous recevrez une facture.',
    provider: (name) => `Le paiement s’effectue par ${name}.`,
    soon: 'Nous nous occupons de votre commande et vous tiendrons au courant.',
    bank: { name: 'Banque', holder: 'Titulaire', iban: 'IBAN', bic: 'BIC', reference: 'Référence' },
    shop: 'Continuer mes achats',
  },
});

/** The order that the visitor has just placed; nobody else's session names it. */
export function confirmation(pages: Pages): void {
  pages.get('/confirmation', async (visit) => {
    const { db, shopId, session, locale, settings, origin } = visit;
    if (session.order === undefined) throw notFound();
    const row = await findOrder(db, shopId, session.order);
    if (!row) throw notFound();
    const order = JSON.parse(orderText(row, { locale, origin, settings })) as Order;
    const words = confirmationWords(locale);
    const isNew = session.visitorEvents?.some(({ event }) => event === 'order:completed');
    return {
      title: words.title,
      path: '/confirmation',
      isPrivate: true,
      events: isNew && session.consent === 'all' ? [orderCompleted(order)] : [],
      main: html`<h1>${words.title}</h1>
        <p>${words.number(order.orderNumber)}</p>
        <p>${words.mail(order.billingAddress.emailAddress ?? '')}</p>
        <h2>${words.next}</h2>
        ${whatIsNext(visit, order)} ${parties(visit, order, { hasLinks: false })}
        ${goods(visit, order, row.content)}
        <p><a class="button" href="${to(visit, '')}">${words.shop}</a></p>`,
    };
  });
}

/** The key that every new shop has for a transfer before the goods are sent, and that of an invoice. */
const IN_ADVANCE = 'advance';
const BY_INVOICE = 'invoice';

function whatIsNext({ settings, locale }: Visit, order: Order): Markup {
  const words = confirmationWords(locale);
  const { paymentMethod } = order.paymentData ?? {};
  const { grandTotal } = order.lineItemContainer;
  const { bank, company } = settings.invoicing;
  const key = settings.paymentMethods.find(
    ({ paymentMethodId }) => paymentMethodId === paymentMethod?.id,
  )?.key;
  if (grandTotal.amount > 0 && key === IN_ADVANCE && bank) {
    const facts = [
      [words.bank.holder, company],
      [words.bank.name, bank.name],
      [words.bank.iban, grouped(bank.iban)],
      [words.bank.bic, bank.bic],
      [words.bank.reference, order.orderNumber],
    ].filter((fact): fact is [string, string] => fact[1] !== undefined);
    return html`<p>${words.transfer(grandTotal.formatted, order.orderNumber)}</p>
      <p>${facts.map(([name, text]) => html`${name}: <strong>${text}</strong><br />`)}</p>`;
  }
  const provider = paymentMethod?.providerName;
  return html`${grandTotal.amount > 0 && key === BY_INVOICE && html`<p>${words.invoice}</p>`}
    ${grandTotal.amount > 0 && provider && html`<p>${words.provider(provider)}</p>`}
    <p>${words.soon}</p>`;
}
