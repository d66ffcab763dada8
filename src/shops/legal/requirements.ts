import { readJson } from '../../kernel/json-file.ts';
import { languageTag } from '../../http/locale.ts';
import { isInEu } from '../countries/countries.ts';
import type { Settings } from '../settings/settings.ts';
import { EU_LANGUAGES, sellsToEuConsumers } from './guarantee-notice.ts';
import type { PageName } from './schema.ts';

/** The duties that the table of facts knows. */
export const REQUIREMENT_KEYS = [
  'guaranteeNotice',
  'imprint',
  'withdrawalText',
  'batteries',
  'packaging',
  'electrical',
  'sorting',
  'repairability',
  'packagingRepresentative',
] as const;
export type RequirementKey = (typeof REQUIREMENT_KEYS)[number];

interface RequirementFact {
  /** `EU`: every member state. */
  country: string;
  key: RequirementKey;
  /** The kind of number in the settings that shows it to be done. */
  registration?: Settings['producerRegistrations'][number]['kind'];
  /** The law, with its article. */
  source: string;
  /** It concerns only shops that sell certain goods. */
  isOnlyForSome?: boolean;
  /** It concerns only sellers from other countries. */
  isOnlyFromAbroad?: boolean;
}

const FACTS = readJson(new URL('./requirements.json', import.meta.url)) as readonly RequirementFact[];

export interface LawFacts {
  settings: Pick<
    Settings,
    'country' | 'countries' | 'locales' | 'defaultLocale' | 'withdrawal' | 'producerRegistrations'
  >;
  legalTexts: readonly { page: PageName; locale: string; isDraft: boolean }[];
  /** The languages of the official notice on the legal guarantee that the operator has placed. */
  noticeLanguages: readonly string[];
}

export interface Requirement {
  key: RequirementKey;
  source: string;
  /** `check`: it concerns only some goods or cannot be seen from here, so the merchant must look. */
  state: 'done' | 'missing' | 'check';
  /** The given numbers. */
  found: string[];
  /** The missing languages of the notice. */
  missing: string[];
  /** The place in the admin where it is set. */
  path: string;
}

export interface CountryRequirements {
  country: string;
  requirements: Requirement[];
}

export interface LawOverview {
  countries: CountryRequirements[];
  /** Countries that the shop sells to and the table says nothing about. */
  unknown: string[];
}

/** The requirements of the countries where the shop sells, met and unmet. It is a list of facts, not advice. */
export function lawOverview(facts: LawFacts): LawOverview {
  const { settings } = facts;
  const sold = settings.countries.toSorted();
  const places = [...(sold.some(isInEu) ? ['EU'] : []), ...sold];
  const countries = places.flatMap((country) => {
    const requirements = FACTS.filter((fact) => fact.country === country && concerns(fact, facts)).map(
      (fact) => requirementOf(fact, facts),
    );
    return requirements.length === 0 ? [] : [{ country, requirements }];
  });
  const known = new Set(FACTS.map(({ country }) => country));
  return { countries, unknown: sold.filter((country) => !known.has(country)) };
}

function concerns({ key, isOnlyFromAbroad, country }: RequirementFact, { settings }: LawFacts): boolean {
  if (key === 'guaranteeNotice') return sellsToEuConsumers(settings);
  if (key === 'withdrawalText') return settings.withdrawal.days > 0;
  return !isOnlyFromAbroad || settings.country !== country;
}

function requirementOf(fact: RequirementFact, facts: LawFacts): Requirement {
  const { key, source } = fact;
  const base = { key, source, found: [], missing: [] };
  const { settings } = facts;
  if (key === 'guaranteeNotice') {
    const missing = missingNotices(facts);
    return { ...base, missing, state: missing.length === 0 ? 'done' : 'missing', path: '/settings/law' };
  }
  if (key === 'imprint') return { ...base, ...legalText('contact-information', facts) };
  if (key === 'withdrawalText') return { ...base, ...legalText('rights-of-withdrawal', facts) };
  const found = settings.producerRegistrations
    .filter(
      ({ country, kind }) =>
        kind === fact.registration && (fact.country === 'EU' || fact.country === country),
    )
    .map(({ number }) => number);
  const state = found.length > 0 ? 'done' : fact.isOnlyForSome ? 'check' : 'missing';
  const path = key === 'repairability' || key === 'sorting' ? '/products' : '/settings/law';
  return { ...base, found, state, path };
}

/** The languages of the shop that have an official notice which is not placed. */
function missingNotices({ settings, noticeLanguages }: LawFacts): string[] {
  const languages = new Set(settings.locales.map((locale) => languageTag(locale).slice(0, 2)));
  return [...languages].filter(
    (language) => EU_LANGUAGES.includes(language) && !noticeLanguages.includes(language),
  );
}

function legalText(page: PageName, { settings, legalTexts }: LawFacts): Pick<Requirement, 'state' | 'path'> {
  const isThere = legalTexts.some(
    (text) => text.page === page && text.locale === settings.defaultLocale && !text.isDraft,
  );
  return {
    state: isThere ? 'done' : 'missing',
    path: `/settings/legal/${page}?locale=${settings.defaultLocale}`,
  };
}
