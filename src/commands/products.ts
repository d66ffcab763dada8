import { stat } from 'node:fs/promises';
import { FileProblem } from '../catalogue/products/csv-file.ts';
import { importPictures } from '../catalogue/products/import-pictures.ts';
import { importProducts, openImport } from '../catalogue/products/import.ts';
import { openMediaStorage } from '../platform/media/open-storage.ts';
import { CommandProblem, print, recordCommand, withShop, type Command } from './command.ts';
import { startProgress } from './progress.ts';

const MOST_SHOWN = 50;

export const productCommands: Command[] = [
  {
    name: 'products import',
    arguments: ['SHOP', 'FILE.csv'],
    summary: "Read products from a file like the export's.",
    details:
      'Rows with the number of a product change it, others are new. A column that the file does not have leaves its\n' +
      'attribute alone, an empty cell unsets it. Bad rows are reported with their line; all others are kept.\n' +
      'Cells are separated by semicolons, commas or tabs; decimals may have a comma. Columns are found by their usual\n' +
      'names too, such as SKU, Name, Price, Stock. Beside the columns of the export a file may have Visible, SpecialOffer\n' +
      'and IsProductNumberVisible (0 or 1), TaxClass, MinStock, Categories (such as Kitchen > Kettles | Sale),\n' +
      'Images (addresses), EcoParticipationPrices/EUR/gross and EnergyLabel (such as B,D A https://shop.example/label.png).',
    example: 'products import MyShop products.csv --dry-run',
    options: {
      'dry-run': { type: 'boolean', summary: 'Only say what would be imported.' },
      invisible: { type: 'boolean', summary: 'Do not show new products in the shop yet.' },
    },
    run: ({ config, arguments: [shopId, file], options }) =>
      withShop(config, shopId!, async (db) => {
        const { size } = await stat(file!).catch(() => ({ size: 0 }));
        const isCheck = options['dry-run'] === true;
        const progress = startProgress('rows', size);
        const run = async () => {
          const opened = await openImport(db, shopId!, file!);
          const done = await importProducts(db, {
            ...opened,
            shopId: shopId!,
            visible: options['invisible'] !== true,
            isCheck,
            onProgress: progress.advance,
          });
          if (isCheck) return done;
          const media = openMediaStorage(config);
          await importPictures({
            db,
            config,
            media,
            shopId: shopId!,
            ...opened,
            onPicture: async (problem) => void (problem && done.problems.push(problem)),
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
        if (newCategories.length > 0) print(`New categories: ${newCategories.join(', ')}.`);
        if (problems.length === 0) return;
        const shown = problems.slice(0, MOST_SHOWN).map(({ line, text }) => `line ${line}: ${text}`);
        if (problems.length > MOST_SHOWN) shown.push(`and ${problems.length - MOST_SHOWN} more`);
        throw new CommandProblem(
          `These rows of ${file} ${isCheck ? 'would not be' : 'were not'} taken:\n${shown.join('\n')}`,
        );
      }),
  },
];
