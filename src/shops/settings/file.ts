import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit, Document } from 'yaml';
import { carryOut, exportCampaigns, planCampaigns } from '../../carts/coupon-campaigns/settings-section.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { contentProblems } from './checks.ts';
import { changesBetween, documentOf, settingsWith, type Section } from './document.ts';
import { formProblems, problemLine, SettingsProblem, type Problem } from './problem.ts';
import type { SettingsFile } from './schema.ts';
import {
  countSubscribers,
  lockShop,
  removedCampaigns,
  requestListingRebuild,
  writeSettings,
} from './writes.ts';
import { selectSettings, type Settings } from './settings.ts';

export { SettingsProblem } from './problem.ts';
export { SettingsFile, settingsSchemaText } from './schema.ts';

/** Reads YAML, of which JSON is a part. Throws a SettingsProblem that names every problem with its line. */
export function parseSettingsFile(text: string): SettingsFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const syntax = [...document.errors, ...document.warnings];
  if (syntax.length > 0) {
    throw new SettingsProblem(
      syntax.map(({ code, pos, message }) => {
        const text = code === 'MULTIPLE_DOCS' ? 'A second document begins here, expected one' : message;
        return `line ${lines.linePos(pos[0]).line}: ${text}`;
      }),
    );
  }
  const value = plainValue(document);
  if (value === null || value === undefined) {
    throw new SettingsProblem([
      'The file is empty, expected sections such as locales, taxClasses, shippingMethods',
    ]);
  }
  const source = { document, lines };
  const form = formProblems(value);
  refuse(form.length > 0 ? form : contentProblems(value), source);
  sources.set(value, source);
  return value;
}

interface Source {
  document: Document;
  lines: LineCounter;
}

/** Of the files that were parsed, so that what their shop refuses is told with its line too. */
const sources = new WeakMap<SettingsFile, Source>();

/** Throws when there are problems. */
function refuse(problems: readonly Problem[], source: Source | undefined): void {
  if (problems.length === 0) return;
  throw new SettingsProblem(
    problems.map((problem) => problemLine(problem, source && lineOf(problem, source))),
  );
}

/** Aliases are resolved only here, and some of them have no anchor or multiply without end. */
function plainValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new SettingsProblem([(error as Error).message]);
  }
}

/** The line of the key or entry that the path leads to, as far as the file has it. */
function lineOf({ path }: Problem, { document, lines }: Source): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (!pair) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      offset = (node as { range?: [number] } | undefined)?.range?.[0] ?? offset;
    } else break;
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}

export interface AppliedSettings {
  /** What changed, one line each; none means that nothing was written. */
  changes: string[];
  sections: ReadonlySet<Section>;
  /** The lists of products are rebuilt in the background, because locales or currencies have changed. */
  rebuildsListing: boolean;
}

/**
 * Makes the shop what the file says and tells what changed. A section that the file does not name stays as it is,
 * one that it names is replaced as a whole.
 */
export async function applySettings(
  tx: Transaction,
  shopId: string,
  file: SettingsFile,
): Promise<AppliedSettings> {
  const current = (await lockShop(tx, shopId)) ? await selectSettings(tx, shopId) : undefined;
  if (!current) throw unknownShop(shopId);
  // The file may come from code, which the compiler checks less closely than the schema does.
  const form = formProblems(file);
  refuse(form.length > 0 ? form : contentProblems(file, current), sources.get(file));

  const next = settingsWith(current, file, () => newId(tx.now));
  const settings = await applyShopSettings(tx, current, next);
  const campaigns = file.couponCampaigns ? await applyCampaigns(tx, next, file) : [];
  const isListingOld = settings.sections.has('locales') || settings.sections.has('currencies');
  return {
    rebuildsListing: isListingOld && (await requestListingRebuild(tx, shopId)),
    changes: [...settings.changes, ...campaigns],
    sections: campaigns.length === 0 ? settings.sections : settings.sections.add('couponCampaigns'),
  };
}

/** What is kept in memory, and told to be new by its version. */
async function applyShopSettings(tx: Transaction, current: Settings, next: Settings) {
  const changes = changesBetween(current, next);
  const sections = new Set(changes.keys());
  if (sections.size === 0) return { changes: [], sections };
  const losses = await newsletterLosses(tx, current, next);
  // 7 EUR and 7 JPY read the same and are 700 and 7 in minor units.
  if (next.defaultCurrency !== current.defaultCurrency) {
    for (const section of ['shippingMethods', 'paymentMethods'] satisfies Section[]) sections.add(section);
  }
  await writeSettings(tx, current, next, sections);
  return { changes: [...changes.values()].flat().map((line) => losses.get(line) ?? line), sections };
}

/** In the shop as the file makes it: a campaign may name a method that comes with it. */
async function applyCampaigns(tx: Transaction, next: Settings, file: SettingsFile): Promise<string[]> {
  const plan = await planCampaigns(tx, next, file.couponCampaigns!);
  refuse(plan.problems, sources.get(file));
  if (plan.lines.length > 0) await carryOut(tx, next.shopId, plan);
  return plan.lines;
}

/** A newsletter takes its subscribers with it: the line says how many. */
async function newsletterLosses(
  tx: Transaction,
  current: Settings,
  next: Settings,
): Promise<Map<string, string>> {
  const removed = removedCampaigns(current, next);
  if (removed.length === 0) return new Map();
  const ids = removed.map(({ campaignId }) => campaignId);
  const counts = await countSubscribers(tx, current.shopId, ids);
  return new Map(
    removed.map(({ identifier, campaignId }) => {
      const count = counts.get(campaignId) ?? 0;
      const line = `- newsletters.${identifier}`;
      return [line, `${line} and its ${count} ${count === 1 ? 'subscriber' : 'subscribers'}`];
    }),
  );
}

/** The complete document: applied to the same shop it changes nothing. */
export async function exportSettings(db: Queries, shopId: string): Promise<SettingsFile> {
  const settings = await selectSettings(db, shopId);
  if (!settings) throw unknownShop(shopId);
  return { ...documentOf(settings), couponCampaigns: await exportCampaigns(db, settings) };
}

const unknownShop = (shopId: string) => new SettingsProblem([`There is no shop ${JSON.stringify(shopId)}`]);

const AMOUNTS = new Set([
  'price',
  'pricePerKg',
  'from',
  'freeFrom',
  'amount',
  'absolute',
  'minimumOrderValue',
]);

/** The file as YAML; `schema` is where an editor finds the schema, seen from the file. */
export function settingsText(file: SettingsFile, schema = './schema/shop-settings.schema.json'): string {
  const document = new Document(file);
  const digits = file.currencies ? currencyDigits(file.currencies.default) : 2;
  visit(document, {
    Pair: (_, { key, value }) => {
      const isAmount = isScalar<string>(key) && AMOUNTS.has(key.value);
      if (isAmount && isScalar(value) && typeof value.value === 'number') value.minFractionDigits = digits;
    },
  });
  return `# yaml-language-server: $schema=${schema}\n${document.toString({ lineWidth: 0 })}`;
}
