import { displayName } from '../../kernel/display-names.ts';
import { messagesIn, type Messages } from '../../kernel/messages.ts';
import { isDate } from '../../http/dates.ts';
import type { Localised } from '../../http/locale.ts';
import { currencyDigits, parseDecimal, toMinor } from '../../kernel/money.ts';
import type { CustomField, Settings } from '../../shops/settings/settings.ts';
import { joinPaths, readPaths } from './category-paths.ts';
import { isDay, MAX_BACKORDER_LIMIT } from './backorders.ts';
import { setFact, WITHDRAWAL_EXCLUSIONS, type BackorderTerms, type ProductSafety } from './facts.ts';
import {
  guaranteeText,
  isLegalFact,
  LEGAL_EXAMPLES,
  MAX_CLAIM_LENGTH,
  MAX_WEB_ADDRESS_LENGTH,
  readGuarantee,
  typedLegalFact,
  type SingleLegalFact,
} from './legal-facts.ts';
import { withPrice } from './prices.ts';
import {
  joinPictureTexts,
  MAX_PICTURES_LENGTH,
  readPictures,
  readPictureTexts,
} from './picture-addresses.ts';
import type { StoredProduct } from './queries.ts';
import { MAX_LENGTHS } from './request-fields.ts';
import { CellProblem, tooLong } from './row-problem.ts';
import { findUnit, WEIGHT_UNITS } from './units.ts';

/**
 * The columns of a product file, for export and import alike: how a product becomes a cell, and how a cell changes a
 * product. A cell holds the product's own data: neither inherited data of a variation, nor converted prices. So
 * importing a fresh export changes nothing.
 */
export interface CsvColumn {
  /** `Name/en` */
  key: string;
  title: (language: string) => string;
  cell: (product: FileProduct) => string;
  /** The maximum length of an applied cell. */
  maxLength: number;
  /** Throws a CellProblem. Only called with a cell within its length that differs from the product's value. */
  apply: (product: FileProduct, cell: string) => void;
  /**
   * Its cells are numbers: a negative one starts like a formula but is none, and a file may write them with a decimal
   * comma.
   */
  isNumber?: boolean;
  /** The custom fields that it reads and writes. */
  fields?: readonly CustomField[];
}

/** A product as a row of the file. */
export interface FileProduct extends StoredProduct {
  /** Alias of the product type. */
  class: string;
  masterNumber: string;
  /** As `category-paths.ts` writes them; '' where they were not requested, and for variations. */
  categories: string;
  /** Addresses of its pictures; '' where they were not requested. */
  images: string;
  /** Their descriptions, by locale. */
  imageTexts: readonly Localised[];
  /** The values of custom fields that the columns read, by the id of the field. */
  fields: Readonly<Record<string, unknown>>;
}

/** The maximum length of the paths of all categories of a product. */
const MAX_PATHS_LENGTH = 20_000;

/** The columns whose title is in the message catalogue; its `part` is the currency or the language of a column. */
type ColumnName = Exclude<keyof Messages['productFile'], 'language'>;

export function columnsOf(settings: Settings): CsvColumn[] {
  const { currencies, locales } = settings;
  const model = settings.taxModel.toLowerCase();
  const perCurrency = (name: ColumnName, make: (currency: string) => Effects) =>
    currencies.map((currency) => column(name, make(currency), `${currency}/${model}`));
  const perLanguage = (name: ColumnName, make: (locale: string) => Effects) =>
    locales.map((locale) => {
      const language = languageKey(locale, locales);
      return column(name, make(locale), language, languageName(locale, language));
    });
  return [
    column('Class', { cell: (product) => product.class, maxLength: MAX_LENGTHS.word, apply: setClass }),
    column('Alias', { cell: (product) => product.productNumber, apply: refuse }),
    ...perCurrency('ListPrices', (currency) => ({
      cell: ({ prices }) => amountText(prices?.[currency], currency),
      apply: (product, cell) => {
        product.prices = withPrice(product.prices, currency, amountOf(cell, currency)) ?? null;
      },
      isNumber: true,
    })),
    ...perCurrency('ManufacturerPrices', (currency) => currencyPrices('manufacturerPrices', currency)),
    column('RefUnit', reference('unit', settings)),
    column('RefAmount', reference('amount', settings)),
    column('RefContentAmount', reference('content', settings)),
    column('Manufacturer', line('manufacturer')),
    column('ManufacturerSKU', line('manufacturerProductNumber')),
    column('UPCEAN', line('productCode')),
    column('StockLevel', {
      cell: ({ stock }) => numberText(stock),
      apply: (product, cell) => {
        product.stock = cell === '' ? null : numberOf(cell, -1e9);
      },
      isNumber: true,
    }),
    column('DeliveryPeriod', line('deliveryPeriod')),
    column('WeightUnit', {
      cell: ({ facts }) => facts.deliveryWeight?.unit ?? '',
      apply: (product, cell) => {
        const unit = findUnit(cell, settings);
        if (cell !== '' && !(unit && WEIGHT_UNITS.includes(unit)))
          throw new CellProblem('weightUnit', `is ${cell}, which is no unit of weight`, {
            known: WEIGHT_UNITS.join(', '),
          });
        const { amount = 0 } = product.facts.deliveryWeight ?? {};
        setFact(product, 'deliveryWeight', unit && { amount, unit });
      },
    }),
    column('Weight', {
      cell: ({ facts }) => numberText(facts.deliveryWeight?.amount),
      apply: (product, cell) => {
        if (cell === '') return setFact(product, 'deliveryWeight', undefined);
        const { unit = 'gram' } = product.facts.deliveryWeight ?? {};
        setFact(product, 'deliveryWeight', { amount: numberOf(cell), unit });
      },
      isNumber: true,
    }),
    column('Length', size('length')),
    column('Height', size('height')),
    column('Width', size('width')),
    column('ShippingMethods', shippingMethods(settings)),
    ...perLanguage('Name', (locale) => text('name', locale, MAX_LENGTHS.name)),
    ...perLanguage('URI', (locale) => text('uri', locale, MAX_LENGTHS.line)),
    ...perLanguage('Description', (locale) => text('shortDescription', locale, MAX_LENGTHS.text)),
    ...perLanguage('Text', (locale) => text('description', locale, MAX_LENGTHS.text)),
    ...perLanguage('Keywords', keywords),
    ...perLanguage('MainCharacteristics', (locale) =>
      text('essentialFeatures', locale, MAX_LENGTHS.features),
    ),
    column('AvailabilityDate', moment('forSaleFrom')),
    column('ExpiryDate', moment('forSaleUntil')),
    column('IsBundleProduct', {
      cell: ({ facts }) => (facts.isBundle || facts.parts ? '1' : '0'),
      apply: (product, cell) => setFact(product, 'isBundle', flagOf(cell) === true ? true : undefined),
    }),
    column('SuperProduct', { cell: (product) => product.masterNumber, apply: refuse }),
  ];
}

/** Class or range, best class of the scale, and the address of the label, which is required. */
const ENERGY_LABEL =
  /^([A-G]\+{0,3}(?:,[A-G]\+{0,3})?) ([A-G]\+{0,3}) (https?:\/\/\S{1,1900}|\/media\/\S{1,1900})$/;

/** The columns of the facts that consumer law and customs want. */
const LEGAL_COLUMNS: readonly (readonly [key: string, fact: SingleLegalFact])[] = [
  ['Repairability', 'repairability'],
  ['SoftwareUpdates', 'softwareUpdates'],
  ['EPREL', 'eprelNumber'],
  ['HSCode', 'hsCode'],
  ['CountryOfOrigin', 'originCountry'],
  ['ProductPassport', 'productPassport'],
];
const GUARANTEE_EXAMPLE =
  '5 | Beacon | BK-17 | Beacon Ltd | Kai 4, 20457 Hamburg | https://beacon.example/guarantee';
const CLAIM_EXAMPLE = 'Made of 80 % recycled steel | https://beacon.example/report';

const notSuchAs = (example: string) => new CellProblem('form', `is not such as ${example}`, { example });

/**
 * Columns that no patch can write and an export does not have: an import reads them where a file has them.
 * `EnergyLabel` is `B,D A https://...`, a party of the safety data `Name | postal address | email or website`.
 */
export function moreColumnsOf(settings: Settings): CsvColumn[] {
  const model = settings.taxModel.toLowerCase();
  const flag = (key: 'specialOffer' | 'isProductNumberVisible', standard: boolean): Effects => ({
    cell: ({ facts }) => ((facts[key] ?? standard) ? '1' : '0'),
    apply: (product, cell) => setFact(product, key, flagOf(cell)),
  });
  const effects: [key: string, effects: Effects][] = [
    [
      'Visible',
      {
        cell: ({ visible }) => (visible ? '1' : '0'),
        apply: (product, cell) => {
          product.visible = flagOf(cell) ?? product.visible;
        },
      },
    ],
    ['Backorder', backorder()],
    ['TaxClass', taxClass(settings)],
    [
      'MinStock',
      {
        cell: ({ minStock }) => numberText(minStock),
        apply: (product, cell) => {
          product.minStock = cell === '' ? null : numberOf(cell);
        },
        isNumber: true,
      },
    ],
    [
      'Categories',
      {
        cell: ({ categories }) => categories,
        maxLength: MAX_PATHS_LENGTH,
        apply: (product, cell) => {
          // A variation has its master's categories.
          if (product.kind === 'variation') return;
          const paths = joinPaths(readPaths(cell));
          // Category names are case-insensitive.
          if (paths.toLowerCase() !== product.categories.toLowerCase()) product.categories = paths;
        },
      },
    ],
    ...settings.locales.map((locale): [string, Effects] => [
      `PageTitle/${languageKey(locale, settings.locales)}`,
      text('title', locale, MAX_LENGTHS.line),
    ]),
    ['SpecialOffer', flag('specialOffer', false)],
    ['IsProductNumberVisible', flag('isProductNumberVisible', true)],
    [
      'Images',
      {
        // They are fetched when the rows are saved.
        cell: ({ images }) => images,
        maxLength: MAX_PICTURES_LENGTH,
        apply: (_product, cell) => void readPictures(cell),
      },
    ],
    ...pictureTextColumns(settings).map(({ key, locale }): [string, Effects] => [
      key,
      {
        // They are saved with the pictures.
        cell: ({ imageTexts }) => joinPictureTexts(imageTexts.map((texts) => texts[locale] ?? '')),
        maxLength: MAX_PICTURES_LENGTH,
        apply: (_product, cell) => {
          checkText(cell);
          if (readPictureTexts(cell).some((one) => one.length > MAX_LENGTHS.pictureText))
            throw tooLong(MAX_LENGTHS.pictureText);
        },
      },
    ]),
    ...settings.currencies.map((currency): [string, Effects] => [
      `EcoParticipationPrices/${currency}/${model}`,
      currencyPrices('ecoParticipationPrices', currency),
    ]),
    ...settings.currencies.map((currency): [string, Effects] => [
      `ShippingSurcharge/${currency}/${model}`,
      currencyPrices('shippingSurcharge', currency),
    ]),
    [
      'MaxOrder',
      {
        cell: ({ facts }) => numberText(facts.maxOrder),
        apply: (product, cell) =>
          setFact(product, 'maxOrder', cell === '' ? undefined : numberOf(cell, 0.000001)),
        isNumber: true,
      },
    ],
    [
      'WithdrawalExcluded',
      {
        cell: ({ facts }) => facts.withdrawalExcluded ?? '',
        apply: (product, cell) => {
          const exclusion = WITHDRAWAL_EXCLUSIONS.find((one) => one === cell);
          if (cell !== '' && !exclusion)
            throw new CellProblem(
              'exclusion',
              `is ${cell}, which is none of ${WITHDRAWAL_EXCLUSIONS.join(', ')}`,
              {
                known: WITHDRAWAL_EXCLUSIONS.join(', '),
              },
            );
          setFact(product, 'withdrawalExcluded', exclusion);
        },
      },
    ],
    ['SafetyManufacturer', safetyParty('manufacturer')],
    ['SafetyResponsiblePerson', safetyParty('responsiblePerson')],
    ...settings.locales.map((locale): [string, Effects] => [
      `SafetyText/${languageKey(locale, settings.locales)}`,
      safetyText(locale),
    ]),
    [
      'DurabilityGuarantee',
      {
        cell: ({ facts: { durabilityGuarantee } }) =>
          durabilityGuarantee ? guaranteeText(durabilityGuarantee) : '',
        maxLength: 4_000,
        apply: (product, cell) => {
          checkText(cell);
          const guarantee = readGuarantee(cell);
          if (cell !== '' && !guarantee) throw notSuchAs(GUARANTEE_EXAMPLE);
          setFact(product, 'durabilityGuarantee', guarantee);
        },
      },
    ],
    ...settings.locales.map((locale): [string, Effects] => [
      `EnvironmentalClaim/${languageKey(locale, settings.locales)}`,
      environmentalClaim(locale),
    ]),
    ...LEGAL_COLUMNS.map(([key, fact]): [string, Effects] => [
      key,
      {
        cell: ({ facts }) => facts[fact] ?? '',
        maxLength: MAX_WEB_ADDRESS_LENGTH,
        apply: (product, cell) => {
          const value = typedLegalFact(fact, cell);
          if (value !== '' && !isLegalFact(fact, value)) throw notSuchAs(LEGAL_EXAMPLES[fact]);
          setFact(product, fact, value === '' ? undefined : value);
        },
      },
    ]),
    [
      'EnergyLabel',
      {
        cell: ({ facts: { energyLabel: label } }) =>
          label ? `${label.classes} ${label.best} ${label.file}` : '',
        maxLength: 2_000,
        apply: (product, cell) => {
          const [, classes, best, file] = ENERGY_LABEL.exec(cell) ?? [];
          if (cell !== '' && !file)
            throw new CellProblem('energyLabel', 'is not such as B,D A https://shop.example/label.png');
          setFact(product, 'energyLabel', file ? { classes: classes!, best: best!, file } : undefined);
        },
      },
    ],
  ];
  return effects.map(([key, one]) => ({ key, title: () => key, maxLength: MAX_LENGTHS.line, ...one }));
}

/** The columns with the descriptions of a product's pictures. */
export function pictureTextColumns({
  locales,
}: Pick<Settings, 'locales'>): { key: string; locale: string }[] {
  return locales.map((locale) => ({ key: `ImageTexts/${languageKey(locale, locales)}`, locale }));
}

const YES = ['1', 'yes', 'y', 'true', 'ja', 'j', 'wahr', 'oui', 'o', 'vrai', 'x', 'active'];
const NO = ['0', 'no', 'n', 'false', 'nein', 'falsch', 'non', 'faux', 'draft'];

/** undefined: an empty cell. */
export function flagOf(cell: string): boolean | undefined {
  const word = cell.trim().toLowerCase();
  if (word === '') return undefined;
  if (!YES.includes(word) && !NO.includes(word)) throw new CellProblem('yesOrNo', 'is neither 0 nor 1');
  return YES.includes(word);
}

/** By its key in the settings file, by its name, or by its rate where only one class has that. */
function taxClass({ taxClasses, country }: Settings): Effects {
  const known = taxClasses.map(({ key, rates }) => `${key} (${(rates[country] ?? 0) / 100} %)`).join(', ');
  return {
    cell: ({ taxClassId }) => taxClasses.find((one) => one.taxClassId === taxClassId)?.key ?? '',
    apply: (product, cell) => {
      const word = cell.trim().toLowerCase();
      const rate = Math.round(Number(word.replace('%', '').replace(',', '.')) * 100);
      const named = taxClasses.filter(({ key, name }) =>
        [key, ...Object.values(name)].some((one) => one.toLowerCase() === word),
      );
      const rated = taxClasses.filter(({ rates }) => Object.values(rates).includes(rate));
      const [found, ...others] = named.length > 0 ? named : rated;
      if (word !== '' && (!found || others.length > 0)) {
        throw new CellProblem('taxClass', `is ${cell}, which is no tax class of the shop; it has ${known}`, {
          known,
        });
      }
      product.taxClassId = word === '' ? null : found!.taxClassId;
    },
  };
}

function safetyParty(key: 'manufacturer' | 'responsiblePerson'): Effects {
  return {
    cell: ({ facts }) => {
      const party = facts.safety?.[key];
      return party ? [party.name, party.address, party.contact].join(' | ') : '';
    },
    apply: (product, cell) => {
      const [name, address, contact, ...more] = cell.split('|').map((part) => part.trim());
      if (cell !== '' && (!name || !address || !contact || more.length > 0)) {
        throw new CellProblem(
          'party',
          'is not such as Beacon Ltd | Kai 4, 20457 Hamburg | safety@beacon.example',
        );
      }
      checkText(cell);
      const { [key]: _old, ...others } = product.facts.safety ?? {};
      setSafety(product, cell === '' ? others : { ...others, [key]: { name, address, contact } });
    },
  };
}

function safetyText(locale: string): Effects {
  return {
    cell: ({ facts }) => facts.safety?.text?.[locale] ?? '',
    maxLength: MAX_LENGTHS.features,
    apply: (product, cell) => {
      checkText(cell);
      const { text, ...others } = product.facts.safety ?? {};
      const { [locale]: _old, ...texts } = text ?? {};
      const next = cell === '' ? texts : { ...texts, [locale]: cell };
      setSafety(product, Object.keys(next).length > 0 ? { ...others, text: next } : others);
    },
  };
}

/** `claim | source`: a claim without a source is refused. */
function environmentalClaim(locale: string): Effects {
  return {
    cell: ({ facts }) => {
      const claim = facts.environmentalClaims?.[locale];
      return claim ? `${claim.claim} | ${claim.source}` : '';
    },
    maxLength: 2 * MAX_CLAIM_LENGTH,
    apply: (product, cell) => {
      checkText(cell);
      const [claim, source, ...more] = cell.split('|').map((part) => part.trim());
      if (cell !== '' && (!claim || !source || more.length > 0)) throw notSuchAs(CLAIM_EXAMPLE);
      const { [locale]: _old, ...others } = product.facts.environmentalClaims ?? {};
      const next = claim && source ? { ...others, [locale]: { claim, source } } : others;
      setFact(product, 'environmentalClaims', Object.keys(next).length > 0 ? next : undefined);
    },
  };
}

function setSafety(product: FileProduct, safety: ProductSafety): void {
  setFact(product, 'safety', Object.keys(safety).length > 0 ? safety : undefined);
}

function currencyPrices(
  key: 'manufacturerPrices' | 'ecoParticipationPrices' | 'shippingSurcharge',
  currency: string,
): Effects {
  return {
    cell: ({ facts }) => amountText(facts[key]?.[currency], currency),
    apply: (product, cell) =>
      setFact(product, key, withPrice(product.facts[key], currency, amountOf(cell, currency))),
    isNumber: true,
  };
}

function column(name: ColumnName, effects: Effects, part?: string, shownPart = part ?? ''): CsvColumn {
  return {
    key: part === undefined ? name : `${name}/${part}`,
    title: (language) => {
      const title = messagesIn(language).productFile[name];
      return typeof title === 'string' ? title : title({ part: shownPart });
    },
    maxLength: MAX_LENGTHS.line,
    ...effects,
  };
}

/** `en`, or `en_GB` where the shop has two kinds of English. */
function languageKey(locale: string, locales: readonly string[]): string {
  const language = locale.slice(0, 2);
  return locales.some((other) => other !== locale && other.startsWith(language)) ? locale : language;
}

/** The native name of a language: Deutsch. */
function languageName(locale: string, key: string): string {
  const tag = key.replace('_', '-');
  const name = displayName(tag, 'language', locale.replace('_', '-'));
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
}

/** By default a cell is one line of text. */
type Effects = Pick<CsvColumn, 'cell' | 'apply' | 'isNumber'> & { maxLength?: number };

function setClass(product: FileProduct, cell: string): void {
  // An empty one changes nothing.
  if (cell !== '') product.class = cell;
}

/** The identifying cell can't differ from its row. */
function refuse(): void {
  throw new CellProblem('otherProduct', 'names another product than the row');
}

function text(
  key: 'name' | 'uri' | 'shortDescription' | 'description' | 'essentialFeatures' | 'title',
  locale: string,
  maxLength: number,
): Effects {
  return {
    cell: ({ facts }) => facts[key]?.[locale] ?? '',
    maxLength,
    apply: (product, cell) => {
      checkText(cell);
      const { [locale]: _old, ...others } = product.facts[key] ?? {};
      const next = cell === '' ? others : { ...others, [locale]: cell };
      setFact(product, key, Object.keys(next).length > 0 ? next : undefined);
    },
  };
}

function line(key: 'manufacturer' | 'manufacturerProductNumber' | 'productCode' | 'deliveryPeriod'): Effects {
  return {
    cell: ({ facts }) => facts[key] ?? '',
    apply: (product, cell) => {
      checkText(cell);
      setFact(product, key, cell === '' ? undefined : cell);
    },
  };
}

/** A backslash escapes a comma inside a word. */
function keywords(locale: string): Effects {
  return {
    cell: ({ facts }) =>
      (facts.searchKeywords?.[locale] ?? []).map((word) => word.replaceAll(/[\\,]/g, '\\$&')).join(','),
    maxLength: MAX_LENGTHS.words * MAX_LENGTHS.word,
    apply: (product, cell) => {
      checkText(cell);
      const words = [...cell.matchAll(/(?:\\.|[^,\\])+/g)]
        .map(([word]) => word.replaceAll(/\\(.)/g, '$1').trim())
        .filter((word) => word !== '');
      if (words.length > MAX_LENGTHS.words)
        throw new CellProblem('words', `has more than ${MAX_LENGTHS.words} words`, {
          most: MAX_LENGTHS.words,
        });
      const { [locale]: _old, ...others } = product.facts.searchKeywords ?? {};
      const next = words.length === 0 ? others : { ...others, [locale]: [...new Set(words)] };
      setFact(product, 'searchKeywords', Object.keys(next).length > 0 ? next : undefined);
    },
  };
}

/** Three cells make one reference; the row is complete only with all three. */
function reference(key: 'unit' | 'amount' | 'content', settings: Settings): Effects {
  return {
    cell: ({ facts }) => (facts.reference ? String(facts.reference[key]) : ''),
    apply: (product, cell) => {
      if (cell === '') return setFact(product, 'reference', undefined);
      const old = product.facts.reference ?? { unit: 'piece', amount: 1, content: 1 };
      if (key !== 'unit') {
        setFact(product, 'reference', { ...old, [key]: numberOf(cell, 0.000001) });
        return;
      }
      const unit = findUnit(cell, settings);
      if (!unit) throw new CellProblem('unit', `is ${cell}, which is no unit`);
      setFact(product, 'reference', { ...old, unit });
    },
    isNumber: key !== 'unit',
  };
}

function size(key: 'length' | 'width' | 'height'): Effects {
  return {
    cell: ({ facts }) => numberText(facts[key]),
    apply: (product, cell) => setFact(product, key, cell === '' ? undefined : numberOf(cell)),
    isNumber: true,
  };
}

/** By their keys in the settings file. */
function shippingMethods({ shippingMethods: methods }: Settings): Effects {
  return {
    cell: ({ facts }) =>
      methods
        .filter(({ shippingMethodId }) => facts.shippingMethodIds?.includes(shippingMethodId))
        .map(({ key }) => key)
        .join(','),
    maxLength: MAX_LENGTHS.features,
    apply: (product, cell) => {
      const ids = cell.split(',').flatMap((part) => {
        const key = part.trim();
        if (key === '') return [];
        const method = methods.find((one) => one.key === key);
        if (!method)
          throw new CellProblem('shippingMethod', `is ${key}, which is no shipping method of the shop`, {
            known: methods.map((one) => one.key).join(', '),
          });
        return [method.shippingMethodId];
      });
      setFact(product, 'shippingMethodIds', ids.length > 0 ? [...new Set(ids)] : undefined);
    },
  };
}

/** `preorder | 50 | 2027-03-01`: the kind, the limit, and the day, which a backorder need not have. */
function backorder(): Effects {
  const FORM = /^(backorder|preorder) *\| *(\d{1,6})(?: *\| *(20\d\d-\d\d-\d\d))?$/;
  return {
    cell: ({ facts: { parts, backorder: terms } }) =>
      terms && !parts ? [terms.kind, terms.limit, terms.expectedOn ?? []].flat().join(' | ') : '',
    apply: (product, cell) => {
      if (cell === '') return setFact(product, 'backorder', undefined);
      const [, kind, limit, expectedOn] = FORM.exec(cell.trim()) ?? [];
      const terms = { kind: kind as BackorderTerms['kind'], limit: Number(limit) };
      const isComplete = expectedOn === undefined ? kind === 'backorder' : isDay(expectedOn);
      if (!isComplete || terms.limit < 1 || terms.limit > MAX_BACKORDER_LIMIT)
        throw notSuchAs('preorder | 50 | 2027-03-01');
      setFact(product, 'backorder', { ...terms, ...(expectedOn !== undefined && { expectedOn }) });
    },
  };
}

function moment(key: 'forSaleFrom' | 'forSaleUntil'): Effects {
  return {
    cell: ({ facts }) => facts[key] ?? '',
    apply: (product, cell) => {
      if (cell === '') return setFact(product, key, undefined);
      const date = new Date(
        /^\d{4}-\d{2}-\d{2}$/.test(cell) || /(Z|[+-]\d{2}:?\d{2})$/.test(cell) ? cell : `${cell}Z`,
      );
      if (!isDate(cell.slice(0, 10)) || Number.isNaN(date.getTime())) {
        throw new CellProblem('date', `is ${cell}, which is no date such as 2026-11-15T08:30:00Z`);
      }
      setFact(product, key, `${date.toISOString().slice(0, 19)}Z`);
    },
  };
}

export function checkText(cell: string): void {
  if (cell.includes('\0') || !cell.isWellFormed())
    throw new CellProblem('unicode', 'holds text that is not valid Unicode');
}

function amountText(minor: number | undefined, currency: string): string {
  if (minor === undefined) return '';
  const digits = currencyDigits(currency);
  return (minor / 10 ** digits).toFixed(digits);
}

function amountOf(cell: string, currency: string): number | null {
  if (cell === '') return null;
  const minor = toMinor(cell, currency);
  if (minor === undefined || minor < 0 || minor > 1e13)
    throw new CellProblem('price', `is ${cell}, which is no price`);
  return minor;
}

function numberText(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : String(value);
}

function numberOf(cell: string, least = 0): number {
  const number = parseDecimal(cell) ? Number(Number(cell).toFixed(6)) : Number.NaN;
  if (!(number >= least && number <= 1e9)) {
    throw new CellProblem('number', `is ${cell}, which is no number from ${least} to 1000000000`, { least });
  }
  return number;
}
