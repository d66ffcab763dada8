import type { AppAnswer, AppCalls } from '../apps/calls/calls.ts';
import type { Database } from '../db/database.ts';
import { Refusal } from '../http/errors.ts';
import { linePriceQuestionOf, taxQuestionOf } from '../pricing/content.ts';
import type { AppTerms as Terms } from '../pricing/input.ts';
import { linePriceDigest } from '../pricing/line-prices.ts';
import { taxDigest } from '../pricing/app-taxes.ts';
import { readTaxes, toTaxAnswers } from './app-taxes.ts';
import type { CartRow, PricedCart } from './cart.ts';
import { readLinePrices, toPriceAnswers } from './line-prices.ts';

/** A cart whose prices and taxes apps may give. */
type AskedCart = Pick<PricedCart, 'cart' | 'settings'>;

/** What apps have answered, as a cart stores it. */
export type StoredTerms = Pick<CartRow, 'linePrices' | 'appTaxes'>;

export interface AppTerms {
  /** Whether the cart knows what apps say of exactly this content. Without any app there is nothing to know. */
  areKnown(asked: AskedCart): Promise<boolean>;
  /** The same, and it is not older than the apps have said. */
  areCurrent(asked: AskedCart): Promise<boolean>;
  /** Asks the apps for what is not current. Call it outside of transactions and locks. */
  ask(asked: AskedCart, origin: string): Promise<StoredTerms>;
}

/** The prices and taxes that apps give for carts. */
export function createAppTerms(service: Database, calls: AppCalls): AppTerms {
  const isKnown = async (
    kind: 'linePrices' | 'taxes',
    terms: Terms<{ appId: string }> | null,
    digestNow: () => string | undefined,
    { settings }: AskedCart,
    since: Date | null,
  ): Promise<boolean> => {
    const apps = await calls.asked(service, settings, kind);
    if (apps.length === 0) return terms === null;
    const digest = digestNow();
    if (digest === undefined) return true;
    return (
      terms !== null &&
      terms.questionDigest === digest &&
      (since === null || new Date(terms.until) > since) &&
      terms.answers.every(({ appId }) => apps.some(({ app }) => app.appId === appId))
    );
  };
  const arePricesKnown = (asked: AskedCart, since: Date | null) => {
    const digestNow = () => {
      const question = linePriceQuestionOf(asked.cart, asked.settings, service.now);
      return question && linePriceDigest(question);
    };
    return isKnown('linePrices', asked.cart.linePrices, digestNow, asked, since);
  };
  const areTaxesKnown = (asked: AskedCart, since: Date | null) => {
    const digestNow = () => {
      const question = taxQuestionOf(asked.cart, asked.settings, service.now);
      return question && taxDigest(question);
    };
    return isKnown('taxes', asked.cart.appTaxes, digestNow, asked, since);
  };

  const askForPrices = async ({ cart, settings }: AskedCart, origin: string) => {
    const question = linePriceQuestionOf(cart, settings, service.now);
    if (!question) return null;
    const answers = await calls.ask(
      { ...settings, origin },
      { kind: 'linePrices', about: question, read: (answer) => readLinePrices(answer, question) },
    );
    return termsOf(answers, linePriceDigest(question), toPriceAnswers(answers));
  };

  const askForTaxes = async ({ cart, settings }: AskedCart, origin: string) => {
    const question = taxQuestionOf(cart, settings, service.now);
    if (!question) return null;
    const answers = await calls.ask(
      { ...settings, origin },
      { kind: 'taxes', about: question, read: (answer) => readTaxes(answer, question) },
    );
    return termsOf(answers, taxDigest(question), toTaxAnswers(answers, settings));
  };

  return {
    areKnown: async (asked) => (await arePricesKnown(asked, null)) && areTaxesKnown(asked, null),
    areCurrent: async (asked) => {
      const since = service.serviceNow;
      return (await arePricesKnown(asked, since)) && areTaxesKnown(asked, since);
    },

    async ask(asked, origin) {
      const since = service.serviceNow;
      const { cart, settings } = asked;
      const linePrices = (await arePricesKnown(asked, since))
        ? cart.linePrices
        : await askForPrices(asked, origin);
      // The question about taxes names the prices.
      const priced = { cart: { ...cart, linePrices }, settings };
      const appTaxes = (await areTaxesKnown(priced, since))
        ? cart.appTaxes
        : await askForTaxes(priced, origin);
      return { linePrices, appTaxes };
    },
  };
}

/** null: there is no app. */
function termsOf<Answer extends { appId: string }>(
  asked: readonly AppAnswer<unknown>[],
  questionDigest: string,
  answers: Answer[],
): Terms<Answer> | null {
  if (asked.length === 0) return null;
  const missing = asked.find(({ answer, call }) => answer === undefined && call.onFailure === 'refuse');
  return {
    questionDigest,
    until: new Date(Math.min(...asked.map(({ until }) => until))).toISOString(),
    answers,
    missing: missing?.app.name ?? null,
  };
}

/** Apps were not asked about exactly this cart, or too long ago: they have to be asked, outside of the transaction. */
export class AppTermsOutdated extends Error {
  override name = 'AppTermsOutdated';

  constructor() {
    super('apps have to be asked for the prices and taxes of this cart');
  }
}

/** Refuses a cart for which an app has to answer, and has not. */
export function requireAppTerms({ linePrices, appTaxes }: StoredTerms): void {
  const missing = linePrices?.missing ?? appTaxes?.missing ?? null;
  if (missing !== null) throw new Refusal('APP_NOT_ANSWERING', { app: missing });
}
