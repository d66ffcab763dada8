import { orderFile, orderLineFile } from '../admin/orders/files.ts';
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
      'currency, what was paid and refunded, and when it was shipped or cancelled. With --lines, one line for each item of\n' +
      'each order: the columns of the order again, then number, name, quantity, unit, price, amount and VAT rate. Discounts,\n' +
      'deposits, delivery and payment are items too, and so is VAT on top of net prices: the amounts of an order add up to\n' +
      'its total. Every export is in the audit log.',
    example: 'orders export MyShop --lines --output orders.csv',
    options: {
      lines: { type: 'boolean', summary: 'One line for each item of each order.' },
      output: OUTPUT_OPTION,
    },
    run: ({ config, arguments: [shopId], options }) =>
      withShop(config, shopId!, async (db) => {
        const settings = await shopSettings(db, shopId!);
        const titles = words(settings.defaultLocale);
        await db.transaction((tx) => recordCommand(tx, shopId!, 'orders export'));
        const text =
          options['lines'] === true ? orderLineFile(db, settings, titles) : orderFile(db, shopId!, titles);
        await writeText(text, options['output']);
      }),
  },
];
