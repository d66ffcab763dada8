import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit, Document, type ErrorCode } from 'yaml';
import type { Queries, Transaction } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { recordEvents } from '../../platform/events/log.ts';
import type { DomainPolicy } from '../shop/domain-policy.ts';
import { contentProblems } from './checks.ts';
import { documentOf, settingsWith, type NewIdOf } from './conversion.ts';
import { settingsChanges } from './diff.ts';
import { PROOF_NEEDED } from './domains.ts';
import { amountKeys, createSettingsFormat, type SettingsFormat } from './format.ts';
import { formProblems, problemLine, SettingsProblem, type Problem } from './problem.ts';
import type { SectionName, SettingsFile } from './schema.ts';
import { sectionOf } from './section.ts';
import { selectSettings, type Settings } from './settings.ts';
import {
  countSubscribers,
  lockShop,
  removedCampaigns,
  requestListingRebuild,
  writeSettings,
} from './writes.ts';

export { SettingsProblem } from './problem.ts';
export type { SettingsFile } from './schema.ts';

/** The file without the sections of other modules. */
const PLAIN_FORMAT = createSettingsFormat([]);

/** Reads YAML, of which JSON is a part. Throws a SettingsProblem that names every problem with its line. */
export function parseSettingsFile(text: string, format = PLAIN_FORMAT): SettingsFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const syntax = [...document.errors, ...document.warnings];
  if (syntax.length > 0) {
    const problems = syntax.map(({ code, pos, message }): Problem => ({
      path: [],
      line: lines.linePos(pos[0]).line,
      text: code === 'MULTIPLE_DOCS' ? 'A second document begins here, expected one' : message,
      rule: { name: SYNTAX_RULES[code] ?? 'syntax' },
    }));
    throw new SettingsProblem(
      problems.map(({ line, text }) => `line ${line}: ${text}`),
      problems,
    );
  }
  const value = plainValue(document);
  if (value === null || value === undefined) {
    throw problemOfFile(
      'The file is empty, expected sections such as locales, taxClasses, shippingMethods',
      'emptyFile',
    );
  }
  const source = { document, lines };
  refuse(fileProblems(value, format), source);
  const file = value as SettingsFile;
  sources.set(file, source);
  return file;
}

/** The mistakes that people make. */
const SYNTAX_RULES: Partial<Record<ErrorCode, 'duplicateKey' | 'indentation' | 'secondDocument'>> = {
  BAD_INDENT: 'indentation',
  DUPLICATE_KEY: 'duplicateKey',
  MULTIPLE_DOCS: 'secondDocument',
  TAB_AS_INDENT: 'indentation',
};

const problemOfFile = (text: string, name: 'aliases' | 'emptyFile') =>
  new SettingsProblem([text], [{ path: [], text, rule: { name } }]);

interface Source {
  document: Document;
  lines: LineCounter;
}

/** The sources of the files that were parsed, so that what their shop refuses is named with its line too. */
const sources = new WeakMap<SettingsFile, Source>();

/** Problems of the form come first: a file that does not have it can't be checked further. */
function fileProblems(file: unknown, { validate, sections }: SettingsFormat, current?: Settings): Problem[] {
  const form = formProblems(file, validate);
  return form.length > 0 ? form : contentProblems(file as SettingsFile, sections, current);
}

/** Throws when there are problems. */
function refuse(problems: readonly Problem[], source: Source | undefined): void {
  if (problems.length === 0) return;
  const places = problems.map((problem) => ({ ...problem, line: source && lineOf(problem, source) }));
  throw new SettingsProblem(places.map(problemLine), places);
}

/** Aliases are resolved only here, and some of them have no anchor or multiply without end. */
function plainValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw problemOfFile((error as Error).message, 'aliases');
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
  sections: ReadonlySet<SectionName>;
  /** The lists of products are rebuilt in the background, because locales or currencies have changed. */
  rebuildsListing: boolean;
}

/**
 * Makes the shop what the file says and lists what changed. A section that the file does not name stays as it is,
 * one that it names is replaced as a whole.
 */
export async function applySettings(
  tx: Transaction,
  shopId: string,
  file: SettingsFile,
  format = PLAIN_FORMAT,
  newIdOf: NewIdOf = () => newId(tx.now),
  domainPolicy: DomainPolicy = PROOF_NEEDED,
): Promise<AppliedSettings> {
  const current = (await lockShop(tx, shopId)) ? await selectSettings(tx, shopId) : undefined;
  if (!current) throw unknownShop(shopId);
  // The file may come from code, which the compiler checks less closely than the schema does.
  refuse(fileProblems(file, format, current), sources.get(file));

  const next = settingsWith(current, file, newIdOf);
  const { changes, sections } = await applyOwnSections(tx, current, next, domainPolicy);
  for (const section of format.sections) {
    const value = sectionOf(file, section);
    if (value === undefined || !section.apply) continue;
    // In the shop as the file makes it: a coupon campaign may name a delivery method that comes with it.
    const applied = await section.apply(tx, next, value, newIdOf);
    refuse(applied.problems, sources.get(file));
    if (applied.changes.length > 0) sections.add(section.name as SectionName);
    changes.push(...applied.changes);
  }
  if (sections.size > 0) {
    recordEvents(tx, shopId, [
      { type: 'SETTINGS_CHANGED', resourceId: null, data: { changed: [...sections] } },
    ]);
  }
  const isListingOld = sections.has('locales') || sections.has('currencies');
  return { changes, sections, rebuildsListing: isListingOld && (await requestListingRebuild(tx, shopId)) };
}

/** Writes the settings themselves if they differ. */
async function applyOwnSections(
  tx: Transaction,
  current: Settings,
  next: Settings,
  domainPolicy: DomainPolicy,
) {
  const changes = settingsChanges(current, next);
  const sections = new Set(changes.keys());
  if (sections.size === 0) return { changes: [] as string[], sections };
  const losses = await newsletterLosses(tx, current, next);
  await writeSettings(tx, current, next, domainPolicy);
  return { changes: [...changes.values()].flat().map((line) => losses.get(line) ?? line), sections };
}

/** The lines of newsletters that are removed, with the number of subscribers that go with them. */
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
export async function exportSettings(
  db: Queries,
  shopId: string,
  format = PLAIN_FORMAT,
): Promise<SettingsFile> {
  const settings = await selectSettings(db, shopId);
  if (!settings) throw unknownShop(shopId);
  const added = await Promise.all(
    format.sections.map(async (section) => [section.name, await section.read(db, settings)] as const),
  );
  return { ...documentOf(settings), ...Object.fromEntries(added) };
}

const unknownShop = (shopId: string) => new SettingsProblem([`There is no shop ${JSON.stringify(shopId)}`]);

/** The file as YAML, with amounts as people write money. */
export function settingsText(file: SettingsFile, format = PLAIN_FORMAT): string {
  const document = new Document(file);
  const amounts = amountKeys(format.schema);
  const digits = file.currencies ? currencyDigits(file.currencies.default) : 2;
  visit(document, {
    Pair: (_, { key, value }) => {
      const isAmount = isScalar<string>(key) && amounts.has(key.value);
      if (isAmount && isScalar(value) && typeof value.value === 'number') value.minFractionDigits = digits;
    },
  });
  return `# yaml-language-server: $schema=./schema/shop-settings.schema.json\n${document.toString({ lineWidth: 0 })}`;
}
