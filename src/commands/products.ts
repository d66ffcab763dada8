import { stat } from 'node:fs/promises';
import path from 'node:path';
import { knownColumns } from '../catalogue/products/csv-mapping.ts';
import { configuredOrigin } from '../http/links.ts';
import { productText } from '../catalogue/products/export.ts';
import { readPictureFile } from '../catalogue/products/fetch-picture.ts';
import { FileProblem } from '../catalogue/products/file-problem.ts';
import { importPictures } from '../catalogue/products/import-pictures.ts';
import { importProducts, openImport } from '../catalogue/products/import.ts';
import { openMediaStorage } from '../platform/media/open-storage.ts';
import { limitHeap } from '../platform/heap-limits.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { counted, print, recordCommand, withShop, type Handlers } from './command.ts';
import { CommandProblem } from './problem.ts';
import { writeText } from './output.ts';
import { startProgress } from './progress.ts';

const MAX_SHOWN = 50;

/** Spreadsheets recognise UTF-8 by this mark at the start of a file. */
async function* withMark(text: AsyncIterable<string>): AsyncGenerator<string> {
  yield '\u{feff}';
  yield* text;
}

export const handlers = {
  'products export': ({ config, arguments: [shopId], options }) =>
    withShop(config, shopId!, async (db) => {
      const settings = await shopSettings(db, shopId!);
      const language = settings.defaultLocale.slice(0, 2);
      const text = productText(db, settings, {
        columns: [...knownColumns(settings).values()],
        titleOf: ({ title }) => title(language),
        origin: configuredOrigin(config),
      });
      await writeText(options['output'] === undefined ? text : withMark(text), options['output']);
    }),
  'products import': ({ config, arguments: [shopId, file], options }) =>
    withShop(config, shopId!, async (db) => {
      const found = await stat(file!).catch(() => undefined);
      // It is read several times, which is only possible with a file.
      if (found && !found.isFile()) throw new CommandProblem(`${file} is no file.`);
      const isCheck = options['dry-run'] === true;
      let [pictures, described] = [0, 0];
      const progress = startProgress('rows', found?.size ?? 0);
      limitHeap();
      const run = async () => {
        const opened = await openImport(db, shopId!, file!);
        const done = await importProducts(db, {
          ...opened,
          shopId: shopId!,
          visible: options['invisible'] !== true,
          isCheck,
          onProgress: progress.advance,
        });
        const media = openMediaStorage(config);
        described = await importPictures({
          db,
          config,
          media,
          shopId: shopId!,
          ...opened,
          readFile: (name) => readPictureFile(path.dirname(file!), name),
          isCheck,
          onPicture: async (problem) => void (problem ? done.problems.push(problem) : pictures++),
        });
        return done;
      };
      const report = await run().catch((error: unknown) => {
        if (error instanceof FileProblem) throw new CommandProblem(error.message);
        throw error;
      });
      progress.end();
      const { created, changed, unchanged, problems, newCategories } = report;
      if (created + changed > 0 && !isCheck) {
        const counts = { created: String(created), changed: String(changed) };
        await db.transaction((tx) => recordCommand(tx, shopId!, 'products import', counts));
      }
      if (isCheck) print('Nothing was written. Without --dry-run it would be:');
      print(`${created} created, ${changed} changed, ${unchanged} unchanged, ${problems.length} refused.`);
      if (pictures > 0) print(`${counted(pictures, 'picture')} added.`);
      if (described > 0) print(`Other texts for the pictures of ${counted(described, 'product')}.`);
      if (newCategories.length > 0) print(`New categories: ${newCategories.join(', ')}.`);
      if (problems.length === 0) return;
      const shown = problems.slice(0, MAX_SHOWN).map(({ line, text }) => `line ${line}: ${text}`);
      if (problems.length > MAX_SHOWN) shown.push(`and ${problems.length - MAX_SHOWN} more`);
      throw new CommandProblem(
        `These rows of ${file} ${isCheck ? 'would not be' : 'were not'} taken:\n${shown.join('\n')}`,
      );
    }),
} satisfies Handlers;
