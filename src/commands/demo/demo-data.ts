import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import type { ProductFacts } from '../../catalogue/products/facts.ts';
import type { DemoCartToken } from '../../http/demo-tokens.ts';
import type { Localised } from '../../http/locale.ts';
import type { State } from '../../orders/schema.ts';
import type { AddressField } from '../../shops/countries/address.ts';
import { settingsFormat } from '../../composition/settings-format.ts';
import { parseSettingsFile, type SettingsFile } from '../../shops/settings/file.ts';

/*
 * The files of the demo shop. They are read when a demo shop is created, so that no other start waits for them, and
 * they are at the root, where the compiled program finds them as well.
 */

const FOLDER = new URL('../../../assets/demo/', import.meta.url);
const PICTURES = new URL('pictures/', FOLDER);

const read = new Map<string, Promise<unknown>>();

/** Parsed once: a process that creates many demo shops would spend most of its time on it. */
function readOnce(name: string, parser: (text: string) => unknown): Promise<unknown> {
  let file = read.get(name);
  if (!file) read.set(name, (file = readFile(new URL(name, FOLDER), 'utf8').then(parser)));
  return file;
}

const readYaml = (name: string) => readOnce(name, parse);

export interface DemoCategory {
  alias: string;
  name: Localised;
  /** null: the root, which every shop has. */
  parent: string | null;
  description?: Localised;
  visible?: false;
  visibleInNavigation?: false;
  specialOffer?: true;
}

export interface DemoProductType {
  alias: string;
  name: Localised;
  attributes: { key: string; name: Localised; values: { value: string; name: Localised }[] }[];
}

export interface DemoProduct {
  number: string;
  /** For a variation, with the values that it is chosen by. */
  master?: string;
  selection?: Readonly<Record<string, string>>;
  /** Alias of its type; absent: the default one. */
  type?: string;
  /** The first is the main one; variations have their master's. */
  categories?: string[];
  visible?: false;
  /** Absent: the master's. */
  price?: number;
  /** Earlier prices, each valid until this many days ago. */
  formerPrices?: { price: number; days: number }[];
  /** Key of the tax class; absent: the master's, else the standard one. */
  tax?: string;
  /** Absent: the stock is not tracked. */
  stock?: number;
  minStock?: number;
  weight?: number;
  groups?: { name: string; discount: number; tiers: { quantity: string; price: number }[] }[];
  /** Keys of the only shipping methods. */
  shipping?: string[];
  /** The number of days from now for which it is new. */
  newFor?: number;
  crossSelling?: string[];
  watchers?: number;
  /** Days ago. */
  changed?: { attributes?: number; stock?: number };
  /** Energy classes, and the best one of the scale. */
  energy?: { classes: string; best: string };
  hasDataSheet?: true;
  details?: ProductFacts;
}

export interface DemoCatalogue {
  /** Siblings are in the order in which they are shown. */
  categories: DemoCategory[];
  productTypes: DemoProductType[];
  products: DemoProduct[];
}

export async function readCatalogue(): Promise<DemoCatalogue> {
  return (await readYaml('catalogue.yaml')) as DemoCatalogue;
}

/** The settings, without the coupon campaigns: these name products, which must exist first. */
export async function readDemoSettings(): Promise<{
  settings: SettingsFile;
  couponCampaigns: NonNullable<SettingsFile['couponCampaigns']>;
}> {
  const file = await readOnce('settings.yaml', (text) => parseSettingsFile(text, settingsFormat));
  const { couponCampaigns = [], ...settings } = file as SettingsFile;
  return { settings, couponCampaigns };
}

export interface DemoPeople {
  customers: {
    number: string;
    note?: string;
    /** Name of the customer group. */
    group?: string;
    address: Partial<Record<AddressField, string>>;
  }[];
  /** `campaign` is the identifier of a newsletter. */
  subscribers: { campaign: string; name: string; subscribed: boolean }[];
}

export async function readPeople(): Promise<DemoPeople> {
  return (await readYaml('people.yaml')) as DemoPeople;
}

export interface DemoLegalPage {
  page: string;
  locale: string;
  content: Record<string, string>;
}

export async function readLegalPages(): Promise<DemoLegalPage[]> {
  return (await readYaml('legal-pages.yaml')) as DemoLegalPage[];
}

export interface DemoOrder {
  /** Number of the customer. */
  customer: string;
  /** In days. */
  age: number;
  /** Quantities by product number. */
  lines: Record<string, string>;
  locale?: string;
  currency?: string;
  coupon?: string;
  /** Keys of the methods; absent: the shop's first one. */
  shipping?: string;
  payment?: string;
  comment?: string;
  states?: State[];
  paid?: number;
  documents?: ('Invoice' | 'CreditNote')[];
  isEdited?: boolean;
  /** The requested return, by product number, and how many days ago. */
  returnRequest?: { age: number; lines: Record<string, string>; reason: string };
}

export interface DemoOrders {
  carts: {
    token: DemoCartToken;
    age: number;
    line?: { product: string; quantity: string };
    coupon?: string;
    address?: Record<string, string>;
  }[];
  orders: DemoOrder[];
}

export async function readOrders(): Promise<DemoOrders> {
  return (await readYaml('orders.yaml')) as DemoOrders;
}

/** A word in English and German. */
export interface Word {
  en: string;
  de: string;
}

/** The vocabulary for the names and texts of generated products. */
export interface Vocabulary {
  departments: (Word & { categories: (Word & { nouns: Word[] })[] })[];
  adjectives: Word[];
  materials: Word[];
  colours: Word[];
  sizes: Word[];
  makers: string[];
  models: string[];
  sentences: Word[];
}

/** In the file, words are pairs: `Lamp: Leuchte`. */
type WordPairs = Record<string, string>;

export async function readVocabulary(): Promise<Vocabulary> {
  const file = (await readYaml('generated-products.yaml')) as {
    departments: (Word & { categories: (Word & { nouns: WordPairs })[] })[];
    adjectives: WordPairs;
    materials: WordPairs;
    colours: WordPairs;
    sizes: WordPairs;
    makers: string[];
    models: string[];
    sentences: Word[];
  };
  return {
    ...file,
    departments: file.departments.map((department) => ({
      ...department,
      categories: department.categories.map((category) => ({ ...category, nouns: toWords(category.nouns) })),
    })),
    adjectives: toWords(file.adjectives),
    materials: toWords(file.materials),
    colours: toWords(file.colours),
    sizes: toWords(file.sizes),
  };
}

function toWords(pairs: WordPairs): Word[] {
  return Object.entries(pairs).map(([en, de]) => ({ en, de }));
}

/** A drawing as SVG, 800 x 600. The drawings hold no letters, because not every machine has fonts. */
export function readDrawing(name: string): Promise<string> {
  return readFile(new URL(`${name}.svg`, PICTURES), 'utf8');
}

/** The names of all drawings, such as `CB-100_1`. */
export async function findDrawings(): Promise<string[]> {
  const files = await readdir(PICTURES);
  return files.map((file) => path.basename(file, '.svg')).toSorted();
}
