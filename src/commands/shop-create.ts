import { displayName } from '../kernel/display-names.ts';
import { isPrivate, type Config } from '../config.ts';
import type { Transaction } from '../db/database.ts';
import { settingsFormat } from '../composition/settings-format.ts';
import { violatedConstraint } from '../db/failure.ts';
import { causeOfCommand } from '../host/log.ts';
import { createHostedShop } from '../host/shops.ts';
import { Refusal } from '../http/errors.ts';
import { readDemoAccess } from '../http/demo-access.ts';
import { currencyDigits, isCurrency } from '../kernel/money.ts';
import { isEmailAddress } from '../platform/email/address.ts';
import { openMediaStorage } from '../platform/media/open-storage.ts';
import { isShopFolder } from '../platform/media/storage.ts';
import { countryName, isCountry } from '../shops/countries/countries.ts';
import type { NewShop } from '../shops/shop/insert-shop.ts';
import { draftLanguage } from '../shops/legal/draft.ts';
import { legalDrafts } from '../shops/shop/legal-drafts.ts';
import { selectSettings } from '../shops/settings/settings.ts';
import { domainPolicy } from '../shops/shop/domain-policy.ts';
import { findSimilarShop } from '../shops/shop/queries.ts';
import type { Readiness, StepKey } from '../shops/shop/readiness.ts';
import { currencyOf, starterDeliveryPrice, localeOf } from '../shops/shop/starter-settings.ts';
import { reducedVat, standardVat, VAT_YEAR } from '../shops/taxes/vat-rates.ts';
import { isTerminal, openDialogue, type Dialogue } from './ask.ts';
import { print, similarShop, withDatabase, type CommandCall } from './command.ts';
import { applyLegalFiles, readLegalFolder } from './legal-files.ts';
import { CommandProblem } from './problem.ts';
import { readinessDeps, readinessOfShop, stepLines } from './shop-open.ts';
import { readSettings } from './shop-settings.ts';

type Answer = Exclude<keyof NewShop, 'shopId'>;

interface Question {
  field: Answer;
  option: string;
  text: string;
  /** The default for Enter, from the previous answers. */
  standard: (known: Partial<NewShop> & { shopId: string; isCountrySaid: boolean }) => string;
  /** The answer in stored form. Throws a CommandProblem. */
  read: (typed: string, known: Partial<NewShop>) => string;
}

const QUESTIONS: readonly Question[] = [
  {
    field: 'name',
    option: 'name',
    text: 'Name of the shop',
    standard: ({ shopId }) => shopId,
    read: (typed) => (typed.length <= 255 ? typed : refuse('The name has more than 255 characters.')),
  },
  {
    field: 'country',
    option: 'country',
    text: 'Country, as two letters',
    standard: () => 'DE',
    read: (typed) => {
      const code = typed.toUpperCase();
      return isCountry(code) ? code : refuse(`${typed} is no country code like DE, GB or US.`);
    },
  },
  {
    field: 'locale',
    option: 'language',
    text: 'Language',
    standard: ({ country, isCountrySaid }) => (isCountrySaid ? localeOf(country!) : 'en_GB'),
    read: (typed, { country }) => {
      const [, language, region = country!] = /^([A-Za-z]{2})(?:[_-]([A-Za-z]{2}))?$/.exec(typed) ?? [];
      return language !== undefined && isCountry(region.toUpperCase())
        ? `${language.toLowerCase()}_${region.toUpperCase()}`
        : refuse(`${typed} is no language like de or de_AT.`);
    },
  },
  {
    field: 'currency',
    option: 'currency',
    text: 'Currency',
    standard: ({ country }) => currencyOf(country!) ?? 'EUR',
    read: (typed) => {
      const code = typed.toUpperCase();
      return isCurrency(code) ? code : refuse(`${typed} is no currency code like EUR.`);
    },
  },
  {
    field: 'email',
    option: 'email',
    text: 'Email address of the shop',
    standard: ({ shopId }) => `shop@${shopId.toLowerCase()}.example`,
    read: (typed) =>
      isEmailAddress(typed) ? typed : refuse(`${typed} is no email address like hello@shop.example.`),
  },
];

function refuse(reason: string): never {
  throw new CommandProblem(reason);
}

/** `shop create` */
export async function createFromAnswers(
  config: Config,
  shopId: string,
  options: CommandCall['options'],
): Promise<void> {
  refuseWrongId(shopId);
  const isClosed = options['closed'] === true;
  const dialogue = options['yes'] !== true && isTerminal() ? openDialogue() : undefined;
  let shop: NewShop;
  try {
    shop = await readAnswers(shopId, options, dialogue);
  } finally {
    dialogue?.close();
  }
  const given = await readGiven(options);
  // The file is applied last, so its name is the one that the logo and the drafts of legal texts should have.
  const { name = shop.name } = given.settings ?? {};
  shop.name = typeof name === 'string' ? name : (name[shop.locale] ?? shop.name);
  let opening: Awaited<ReturnType<typeof readinessOfShop>> | undefined;
  await withDatabase(config, async (db) => {
    const deps = await readinessDeps(db, config);
    const creation = {
      config,
      media: openMediaStorage(config),
      format: settingsFormat,
      policy: domainPolicy(config, await readDemoAccess(db, config)),
      readiness: deps,
    };
    await orExplained(shopId, () =>
      db.transaction((tx) =>
        createHostedShop(tx, creation, shop, causeOfCommand('shop create'), {
          settings: given.settings,
          complete: async () => {
            await applyLegalFiles(tx, (await selectSettings(tx, shopId))!, given.texts);
          },
          isSuspended: isClosed,
        }),
      ),
    );
    opening = await readinessOfShop(db, shopId, deps);
  });
  for (const line of summary(config, shop, { isSuspended: isClosed, ...opening! })) print(line);
}

/** The files that complete a shop, read before anything is created. */
async function readGiven({ settings, legal }: CommandCall['options']) {
  return {
    settings: typeof settings === 'string' ? await readSettings(settings) : undefined,
    texts: typeof legal === 'string' ? await readLegalFolder(legal) : [],
  };
}

/** Takes the options, else the typed answers, else the defaults. A wrong answer on the terminal is asked for again. */
export async function readAnswers(
  shopId: string,
  options: CommandCall['options'],
  dialogue: Dialogue | undefined,
): Promise<NewShop> {
  const known: Parameters<Question['standard']>[0] = { shopId, isCountrySaid: false };
  for (const question of QUESTIONS) {
    const standard = question.standard(known);
    const said = options[question.option];
    const typed =
      typeof said === 'string' ? said.trim() : await typedAnswer(question, standard, known, dialogue);
    known[question.field] = question.read(typed || standard, known);
    if (question.field === 'country' && typed !== '') known.isCountrySaid = true;
  }
  const { isCountrySaid: _said, ...shop } = known;
  return shop as NewShop;
}

/** '': nothing was typed. */
async function typedAnswer(
  { text, read }: Question,
  standard: string,
  known: Partial<NewShop>,
  dialogue: Dialogue | undefined,
): Promise<string> {
  if (!dialogue) return '';
  for (;;) {
    const typed = await dialogue.ask(`${text} [${standard}]: `);
    try {
      read(typed || standard, known);
      return typed;
    } catch (error) {
      if (!(error instanceof CommandProblem)) throw error;
      process.stderr.write(`${error.message}\n`);
    }
  }
}

/** Before the first question. */
function refuseWrongId(shopId: string): void {
  if (isShopFolder(shopId)) return;
  refuse(
    `${JSON.stringify(shopId)} cannot be the id of a shop: use 1 to 63 letters, digits, - or _, a letter or digit first.`,
  );
}

async function refuseSimilar(tx: Transaction, shopId: string): Promise<void> {
  const similar = await findSimilarShop(tx, shopId);
  if (similar !== undefined) throw new CommandProblem(similarShop(shopId, similar));
}

function summary(
  config: Config,
  shop: NewShop,
  opening: Readiness & { isOpen: boolean; isSuspended: boolean },
): string[] {
  const { shopId, name, country, locale, currency, email } = shop;
  const language = `${displayName(locale.slice(0, 2), 'language', 'en')} (${locale})`;
  const drafts = legalDrafts(shop).length;
  const isTranslated = draftLanguage(locale) === locale.slice(0, 2);
  const price = starterDeliveryPrice(currency);
  const isDone = (key: StepKey) => opening.steps.some((step) => step.key === key && step.done);
  return [
    `Shop ${shopId} is created: ${addressOf(config, shopId)}`,
    '',
    `  Name         ${name}, ${email}`,
    `  Language     ${language}, prices in ${currency}`,
    `  Taxes        ${taxText(country)}`,
    ...(opening.isOpen
      ? []
      : [
          `  Delivery     ${price === 0 ? 'parcel, free' : `parcel, ${price.toFixed(currencyDigits(currency))} ${currency}`} to ${countryName(country, 'en')}; the price is ours, set your own`,
        ]),
    ...(isDone('bankAccount')
      ? []
      : ['  Payment      in advance, by bank transfer; your bank account is still missing']),
    ...(isDone('legalTexts')
      ? []
      : [
          `  Legal texts  ${drafts} drafts${isTranslated ? '' : ' in English'}, not public: complete them and have them checked`,
        ]),
    `  State        ${stateText(shopId, opening)}`,
    '',
    ...(opening.ready ? [] : ['Before it opens:', ...stepLines(opening, config, shopId), '']),
    'Next:',
    ...(opening.ready
      ? []
      : [
          `  npx kontor shop apply ${shopId} FILE.yaml --legal FOLDER     seller, bank account, legal texts`,
          `  npx kontor shop open ${shopId}     when all required steps are done`,
        ]),
    `  npx kontor products import ${shopId} FILE.csv`,
    `  npx kontor user create ${email} --shop ${shopId}     for the admin, which has the same list`,
    `  npx kontor shop export-settings ${shopId}     everything else, as a file for shop apply`,
  ];
}

function stateText(
  shopId: string,
  { isOpen, isSuspended }: { isOpen: boolean; isSuspended: boolean },
): string {
  if (isSuspended) return `closed; open it with: npx kontor shop open ${shopId}`;
  return isOpen
    ? `open: everybody who can reach it can order; close it with: npx kontor shop close ${shopId}`
    : 'not open yet: visitors read that it opens soon';
}

function taxText(country: string): string {
  const standard = standardVat(country);
  const named = countryName(country, 'en');
  if (standard === undefined) {
    return `0 %: no rate is known here for ${named}; set yours in taxClasses`;
  }
  const percents = [standard, ...reducedVat(country)].map((rate) => `${rate / 100} %`);
  return `${percents.join(', ')} (${named}, ${VAT_YEAR})`;
}

/** The address of the shop's pages, as far as known without the service. */
function addressOf(config: Config, shopId: string): string {
  if (config.PUBLIC_URL !== undefined) return `${config.PUBLIC_URL.replace(/\/$/, '')}/shop/${shopId}`;
  return isPrivate(config)
    ? `http://${shopId.toLowerCase()}.localhost:${config.PORT}`
    : `http://localhost:${config.PORT}/shop/${shopId}`;
}

/** `shop create --demo` */
export async function createDemo(config: Config, shopId: string): Promise<void> {
  const [{ insertDemoShop }, { insertDemoCarts }, { insertDemoOrders }, { addDemoFiles }] = await Promise.all(
    [
      import('./demo/demo-shop.ts'),
      import('./demo/carts.ts'),
      import('./demo/orders.ts'),
      import('./demo/add-files.ts'),
    ],
  );
  refuseWrongId(shopId);
  const options = { shopId, knownTokens: false, rateLimit: config.RATE_LIMIT };
  await withDatabase(config, async (db) => {
    const token = await orExplained(shopId, () =>
      db.transaction(async (tx) => {
        await refuseSimilar(tx, shopId);
        const made = await insertDemoShop(tx, options);
        await insertDemoCarts(tx, shopId, options);
        await insertDemoOrders(tx, shopId, options);
        return made;
      }),
    );
    await addDemoFiles(db, config, shopId);
    print(`Shop ${shopId} created with demo data. Access token: ${token}`);
  });
}

async function orExplained<Result>(shopId: string, create: () => Promise<Result>): Promise<Result> {
  try {
    return await create();
  } catch (error) {
    const similar = error instanceof Refusal && error.code === 'SHOP_ID_SIMILAR' && error.values['shop'];
    if (typeof similar === 'string') throw new CommandProblem(similarShop(shopId, similar), { cause: error });
    if (violatedConstraint(error) !== 'shop_pkey') throw error;
    throw new CommandProblem(`There is a shop ${shopId} already.`, { cause: error });
  }
}
