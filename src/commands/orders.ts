import { orderFile } from '../admin/orders/files.ts';
import { words } from '../admin/messages.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { recordCommand, withShop, type Command } from './command.ts';
import { OUTPUT_OPTION, writeText } from './output.ts';

export const orderCommands: Command[] = [
  {
    name: 'orders export',
    arguments: ['SHOP'],
    summary: 'Print the orders as CSV, newest first.',
    details:
      'One line for each order, with the titles in the language of the shop: number, day, customer, email, country, total,\n' +
      'currency, what was paid and refunded, and when it was shipped or cancelled. Every export is in the audit log.',
    example: 'orders export MyShop --output orders.csv',
    options: { output: OUTPUT_OPTION },
    run: ({ config, arguments: [shopId], options }) =>
      withShop(config, shopId!, async (db) => {
        const { defaultLocale } = await shopSettings(db, shopId!);
        await db.transaction((tx) => recordCommand(tx, shopId!, 'orders export'));
        await writeText(orderFile(db, shopId!, words(defaultLocale)), options['output']);
      }),
  },
];
