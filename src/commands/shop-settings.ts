import { countProducts } from '../catalogue/products/listing-page.ts';
import { finishRebuild } from '../catalogue/products/listing-rebuild.ts';
import type { Config } from '../config.ts';
import type { Database, Transaction } from '../db/database.ts';
import { readDemoAccess } from '../http/demo-access.ts';
import { settingsFormat } from '../composition/settings-format.ts';
import {
  applySettings,
  exportSettings,
  parseSettingsFile,
  SettingsProblem,
  settingsText,
  type SettingsFile,
} from '../shops/settings/file.ts';
import { changeSettings } from '../shops/settings/history.ts';
import { domainPolicy, type DomainPolicy } from '../shops/shop/domain-policy.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { applyLegalFiles, readLegalFolder, type LegalFile } from './legal-files.ts';
import { readinessDeps, readinessOfShop } from './shop-open.ts';
import { counted, print, recordCommand, withShop } from './command.ts';
import { printPendingDomains } from './domains.ts';
import { applyPageFiles, writePageFiles, readPageFolder, type StoredPageFile } from './page-files.ts';
import { CommandProblem } from './problem.ts';
import { startProgress } from './progress.ts';
import { readText } from './read-file.ts';

interface GivenFiles {
  file: SettingsFile;
  texts: readonly LegalFile[];
  pages: readonly StoredPageFile[];
}

/** `shop apply` */
export async function applyFile(
  config: Config,
  shopId: string,
  path: string,
  {
    isDryRun,
    legalFolder,
    pageFolder,
  }: { isDryRun: boolean; legalFolder: string | undefined; pageFolder: string | undefined },
): Promise<void> {
  const given: GivenFiles = {
    file: await readSettings(path),
    texts: legalFolder === undefined ? [] : await readLegalFolder(legalFolder),
    pages: pageFolder === undefined ? [] : await readPageFolder(pageFolder),
  };
  await withShop(config, shopId, async (db) => {
    const policy = domainPolicy(config, await readDemoAccess(db, config));
    if (isDryRun) return printPlan(shopId, await wouldChange(db, shopId, given, policy));
    const { changes, rebuildsListing } = await db.transaction((tx) => applyParsed(tx, shopId, given, policy));
    for (const change of changes) print(change);
    print(
      changes.length === 0
        ? 'Nothing to change.'
        : `${counted(changes.length, 'change')} applied to ${shopId}.`,
    );
    if (given.file.domains !== undefined) await printPendingDomains(db, config, shopId);
    if (rebuildsListing) await waitForLists(db, shopId);
    const { isOpen, ready } = await readinessOfShop(db, shopId, await readinessDeps(db, config));
    if (ready && !isOpen) print(`${shopId} is ready. Open it with: npx kontor shop open ${shopId}`);
  });
}

function printPlan(shopId: string, changes: readonly string[]): void {
  for (const change of changes) print(change);
  print(
    changes.length === 0
      ? 'Nothing to change.'
      : `Nothing was written. Without --dry-run, ${counted(changes.length, 'change')} would be applied to ${shopId}.`,
  );
}

/** Ends the transaction of a dry run. */
class Undone extends Error {
  override name = 'Undone';
}

/** Applies the file and rolls it back, so that everything is checked as in a real run. */
async function wouldChange(
  db: Database,
  shopId: string,
  given: GivenFiles,
  policy: DomainPolicy,
): Promise<string[]> {
  let changes: string[] = [];
  await db
    .transaction(async (tx) => {
      ({ changes } = await applySettings(tx, shopId, given.file, settingsFormat, undefined, policy));
      changes = [...changes, ...(await applyTexts(tx, shopId, given))];
      throw new Undone();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error;
    });
  return changes;
}

/** The texts come after the settings, which may add languages. */
async function applyTexts(tx: Transaction, shopId: string, { texts, pages }: GivenFiles): Promise<string[]> {
  const settings = await shopSettings(tx, shopId);
  return [...(await applyLegalFiles(tx, settings, texts)), ...(await applyPageFiles(tx, settings, pages))];
}

/** `shop export-settings` */
export async function printSettings(
  config: Config,
  shopId: string,
  pageFolder: string | undefined,
): Promise<void> {
  await withShop(config, shopId, async (db) => {
    if (pageFolder !== undefined) await writePageFiles(db, await shopSettings(db, shopId), pageFolder);
    process.stdout.write(settingsText(await exportSettings(db, shopId, settingsFormat), settingsFormat));
  });
}

async function applyParsed(tx: Transaction, shopId: string, given: GivenFiles, policy: DomainPolicy) {
  const applied = await changeSettings(tx, shopId, given.file, settingsFormat, 'kontor shop apply', policy);
  const changes = [...applied.changes, ...(await applyTexts(tx, shopId, given))];
  if (changes.length > 0) await recordCommand(tx, shopId, 'shop apply');
  return { ...applied, changes };
}

/** Products whose lists are rebuilt almost at once. */
const FEW_PRODUCTS = 1_000;

/** The shop stays open meanwhile; a service on the same database continues when this command is interrupted. */
async function waitForLists(db: Database, shopId: string): Promise<void> {
  const total = await countProducts(db, shopId);
  if (total < FEW_PRODUCTS) return finishRebuild(db, shopId, () => {});
  process.stderr.write(
    'The settings apply now. The order of lists and search results follows; a running service goes on with that if you interrupt this command.\n',
  );
  const progress = startProgress('products', total);
  await finishRebuild(db, shopId, progress.advance);
  progress.end();
}

export async function readSettings(path: string): Promise<SettingsFile> {
  const text = await readText(path);
  try {
    return parseSettingsFile(text, settingsFormat);
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    throw new CommandProblem(error.problems.map((problem) => `${path}: ${problem}`).join('\n'), {
      cause: error,
    });
  }
}
