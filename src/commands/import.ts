import { writeFile } from 'node:fs/promises';
import { FileProblem } from '../catalogue/products/file-problem.ts';
import { IMPORTED, importShop, type Imported, type ShopImport } from '../imports/import-shop.ts';
import type { ImportReport, ReportLine } from '../imports/run.ts';
import { ClientProblem, createClient } from '../imports/epages/client.ts';
import { epagesSource } from '../imports/epages/epages.ts';
import { EXPORT_NAMES, EXPORTS, exportSource, type ExportOptions } from '../imports/exports.ts';
import { withSourceFiles } from '../imports/source-files.ts';
import type { ImportSource } from '../imports/source.ts';
import { openMediaStorage } from '../platform/media/open-storage.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import {
  counted,
  print,
  printTable,
  recordCommand,
  withShop,
  type CommandCall,
  type Handlers,
} from './command.ts';
import { CommandProblem, UsageProblem } from './problem.ts';
import { startProgress } from './progress.ts';

const MAX_SHOWN = 100;

export const handlers = {
  import: async ({ config, arguments: [shopId, system, place], options }) => {
    const only = onlyOf(options['only']);
    const numbers = {
      nextOrderNumber: numberOf(options, 'next-order-number'),
      nextInvoiceNumber: numberOf(options, 'next-invoice-number'),
    };
    const isCheck = options['dry-run'] === true;
    await withShop(config, shopId!, async (db) => {
      const { defaultCurrency: currency, taxModel } = await shopSettings(db, shopId!);
      await withSource(system!, { place, options, currency, taxModel }, async (source) => {
        const progress = startProgress('records', 0);
        const report = await importShop({
          db,
          config,
          media: openMediaStorage(config),
          shopId: shopId!,
          source,
          only,
          isCheck,
          ...numbers,
          onProgress: (records) => progress.advance(records),
        } satisfies ShopImport);
        progress.end();
        if (!isCheck) {
          const object = { source: source.name, only: only.join(',') };
          await db.transaction((tx) => recordCommand(tx, shopId!, 'import', object));
        }
        const file = options['report'];
        if (typeof file === 'string')
          await writeFile(file, report.lines.map((line) => `${lineText(line)}\n`).join(''));
        printReport(report, source, isCheck, typeof file === 'string' ? file : undefined);
      });
    }).catch((error: unknown) => {
      if (error instanceof FileProblem || error instanceof ClientProblem)
        throw new CommandProblem(error.message);
      throw error;
    });
  },
} satisfies Handlers;

/** Opens what is imported, which is closed when `work` ends. */
async function withSource(
  system: string,
  {
    place,
    options,
    ...shop
  }: { place: string | undefined; options: CommandCall['options'] } & Omit<ExportOptions, 'now'>,
  work: (source: ImportSource) => Promise<void>,
): Promise<void> {
  if (system === 'epages') {
    const { url, token } = options;
    if (typeof url !== 'string' || typeof token !== 'string') {
      throw new UsageProblem('Name the shop: --url https://shop.example/rs/shops/MyShop --token TOKEN');
    }
    return work(epagesSource(createClient({ url, token })));
  }
  const known = EXPORTS.find((one) => one === system);
  if (!known) {
    throw new UsageProblem(
      `There is no import from ${JSON.stringify(system)}, only from ${[...EXPORTS, 'epages'].join(', ')}.`,
    );
  }
  if (place === undefined) throw new UsageProblem('Name the export: a file, a folder or a zip.');
  await withSourceFiles(place, async (files) => {
    const source = exportSource(known, files, { ...shop, now: new Date() });
    if (source.unknownFiles.length === files.length)
      throw new CommandProblem(`${place} holds no table of an export of ${EXPORT_NAMES[known]}.`);
    await work(source);
  });
}

function onlyOf(option: string | boolean | undefined): Imported[] {
  if (typeof option !== 'string') return [...IMPORTED];
  return option.split(',').map((name) => {
    const found = IMPORTED.find((kind) => kind === name.trim());
    if (!found) throw new UsageProblem(`--only takes ${IMPORTED.join(', ')}, not ${JSON.stringify(name)}.`);
    return found;
  });
}

function numberOf(options: CommandCall['options'], name: string): number | undefined {
  const text = options[name];
  if (typeof text !== 'string') return undefined;
  if (!/^[1-9]\d{0,11}$/.test(text)) throw new UsageProblem(`--${name} takes a number such as 5001.`);
  return Number(text);
}

const lineText = ({ kind, place: { file, line }, name, text }: ReportLine) =>
  `${file}${line === null ? '' : `, line ${line}`}: ${kind} ${name === '' ? '' : `${name} `}${text}`;

function printReport(
  report: ImportReport,
  source: ImportSource,
  isCheck: boolean,
  file: string | undefined,
): void {
  if (isCheck) print('Nothing was written. Without --dry-run it would be:');
  printTable(
    ['', 'NEW', 'CHANGED', 'UNCHANGED', 'KEPT', 'REFUSED'],
    [...report.counts].map(([kind, { created, changed, unchanged, kept, refused }]) => [
      kind,
      ...[created, changed, unchanged, kept, refused].map((count) => count.toLocaleString('en')),
    ]),
  );
  if (report.pictures > 0) print(`${counted(report.pictures, 'picture')} added.`);
  for (const name of source.unknownFiles)
    print(`${name} is none of the tables of an export, and was left out.`);
  const { lines, left } = report;
  if (lines.length === 0) return;
  print(
    `${counted(lines.length + left, 'thing')} to know${file === undefined ? '' : `, all of them in ${file}`}:`,
  );
  for (const line of lines.slice(0, MAX_SHOWN)) print(`  ${lineText(line)}`);
  if (lines.length > MAX_SHOWN)
    print(`  and ${lines.length + left - MAX_SHOWN} more (--report FILE lists them)`);
}
