import path from 'node:path';
import type { Queries, Transaction } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { recordEvents } from '../../platform/events/log.ts';
import { runInThread } from '../../platform/thread.ts';
import type { DomainPolicy } from '../shop/domain-policy.ts';
import { contentProblems } from './checks.ts';
import { settingsAsFile, settingsWith, type NewIdOf } from './conversion.ts';
import { refuseBeyondPlan } from './beyond-plan.ts';
import { settingsChanges } from './diff.ts';
import { PROOF_NEEDED } from './domains.ts';
import { amountKeys, createSettingsFormat, type SettingsFormat } from './format.ts';
import { firstProblems, formProblems, problemLine, SettingsProblem, type Problem } from './problem.ts';
import type { SectionName, SettingsFile } from './schema.ts';
import { sectionOf } from './section.ts';
import { selectSettings, type Settings } from './settings.ts';
import {
  countSubscribersByCampaign,
  lockShop,
  removedCampaigns,
  requestListingRebuild,
  writeSettings,
} from './writes.ts';

import { lineKey, readYaml, writeYaml, type YamlFile } from './yaml-file.ts';
import type { YamlTask } from './yaml-thread.ts';

export { SettingsProblem } from './problem.ts';
export type { SettingsFile } from './schema.ts';

/** The file without the sections of other modules. */
const PLAIN_FORMAT = createSettingsFormat([]);

/** Throws a SettingsProblem that names every problem with its line. */
export function parseSettingsFile(text: string, format = PLAIN_FORMAT): SettingsFile {
  return checkedFile(readYaml(text), format);
}

/** The same, without blocking other requests while a long file is read. */
export async function parseSettingsFileInThread(text: string, format: SettingsFormat): Promise<SettingsFile> {
  return checkedFile(await runInThread<ReturnType<typeof readYaml>>(YAML_THREAD, { read: text }), format);
}

const YAML_THREAD = new URL(`yaml-thread${path.extname(import.meta.url)}`, import.meta.url);

function checkedFile(read: ReturnType<typeof readYaml>, format: SettingsFormat): SettingsFile {
  if ('problems' in read) {
    throw new SettingsProblem(
      read.problems.map(({ line, text }) => (line === undefined ? text : `line ${line}: ${text}`)),
      read.problems.map((problem) => ({ path: [], ...problem })),
    );
  }
  const { value, lines } = read;
  if (value === null || value === undefined) {
    const text = 'The file is empty, expected sections such as locales, taxClasses, shippingMethods';
    throw new SettingsProblem([text], [{ path: [], text, rule: { name: 'emptyFile' } }]);
  }
  refuse(fileProblems(value, format), lines);
  const file = value as SettingsFile;
  linesOfFiles.set(file, lines);
  return file;
}

/** The lines of the files that were parsed, so that a refusal by their shop names its line too. */
const linesOfFiles = new WeakMap<SettingsFile, YamlFile['lines']>();

/** Problems of the form come first: a malformed file can't be checked further. */
function fileProblems(file: unknown, { schema, sections }: SettingsFormat, current?: Settings): Problem[] {
  const form = formProblems(file, schema);
  if (form.length > 0) return form;
  return firstProblems(contentProblems(file as SettingsFile, sections, current));
}

/** Throws when there are problems. */
function refuse(problems: readonly Problem[], lines: YamlFile['lines'] | undefined): void {
  if (problems.length === 0) return;
  const places = problems.map((problem) => ({ ...problem, line: lines && lineOf(problem, lines) }));
  throw new SettingsProblem(places.map(problemLine), places);
}

/** The line of the key or entry that the path leads to, as far as the file has it. */
function lineOf({ path: steps }: Problem, lines: YamlFile['lines']): number | undefined {
  let found: number | undefined;
  for (let depth = 1; depth <= steps.length; depth++) {
    const line = lines.get(lineKey(steps.slice(0, depth)));
    if (line === undefined) break;
    found = line;
  }
  return found;
}

export interface AppliedSettings {
  /** The changes, one line each; none means that nothing was written. */
  changes: string[];
  sections: ReadonlySet<SectionName>;
  /** The product lists are rebuilt in the background, because locales or currencies have changed. */
  rebuildsListing: boolean;
}

/**
 * Applies the file to the shop and lists the changes. A section that the file does not name stays as it is, one that
 * it names is replaced as a whole.
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
  refuse(fileProblems(file, format, current), linesOfFiles.get(file));

  const next = settingsWith(current, file, newIdOf);
  await refuseBeyondPlan(tx, current, next, domainPolicy);
  const { changes, sections } = await applyOwnSections(tx, current, next, domainPolicy);
  for (const section of format.sections) {
    const value = sectionOf(file, section);
    if (value === undefined || !section.apply) continue;
    // Checked against the shop with the file applied: a coupon campaign may name a delivery method of the same file.
    const applied = await section.apply(tx, next, value, newIdOf);
    refuse(applied.problems, linesOfFiles.get(file));
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

/** The lines of newsletters that are removed, with the number of subscribers removed with them. */
async function newsletterLosses(
  tx: Transaction,
  current: Settings,
  next: Settings,
): Promise<Map<string, string>> {
  const removed = removedCampaigns(current, next);
  if (removed.length === 0) return new Map();
  const ids = removed.map(({ campaignId }) => campaignId);
  const counts = await countSubscribersByCampaign(tx, current.shopId, ids);
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
  return { ...settingsAsFile(settings), ...Object.fromEntries(added) };
}

const unknownShop = (shopId: string) => new SettingsProblem([`There is no shop ${JSON.stringify(shopId)}`]);

/** The file as YAML, with amounts as people write money. */
export function settingsText(file: SettingsFile, format = PLAIN_FORMAT): string {
  return SCHEMA_LINE + writeYaml(file, amountKeys(format.schema), amountDigits(file));
}

/** The same, without blocking other requests while a long file is written. */
export async function settingsTextInThread(file: SettingsFile, format: SettingsFormat): Promise<string> {
  const task = { write: file, amountKeys: amountKeys(format.schema), digits: amountDigits(file) };
  return SCHEMA_LINE + (await runInThread<string>(YAML_THREAD, task satisfies YamlTask));
}

const SCHEMA_LINE = '# yaml-language-server: $schema=./schema/shop-settings.schema.json\n';

const amountDigits = ({ currencies }: SettingsFile) => (currencies ? currencyDigits(currencies.default) : 2);
